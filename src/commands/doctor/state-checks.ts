import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { silentLog } from '../../lib/log.ts';
import { replaySegment, formatSegmentName, listSegmentNumbers } from '../../counts/journal-replay.ts';
import { createStateRef } from '../../counts/git-state-ref.ts';
import { readShard } from '../../counts/shards.ts';
import { ignoreMissing } from '../../lib/errors.ts';
import { type DoctorCheck, failure, fine, inClone, warning } from './results.ts';
import { formatCount } from '../../lib/counted.ts';

/** The counts in `var/journal` are whole, and do not wait there for long. */
export const checkJournal: DoctorCheck = async ({ config }) => {
  const folder = join(config.var, 'journal');
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  const set = names.filter((name) => name.endsWith('.damaged'));
  if (set.length > 0)
    return warning(
      `the journal has ${formatCount(set.length, 'damaged part')} set aside, such as ${set[0]}; the next posts of those bots replace what is lost`,
      `look at the disk, then rm ${join(folder, '*.damaged')}`,
    );
  let entries = 0;
  let oldest = Date.now();
  for (const number of await listSegmentNumbers(folder)) {
    // A running service removes a part once its counts are committed.
    const lines = await ignoreMissing(replaySegment(folder, number, () => entries++));
    const path = join(folder, formatSegmentName(number));
    if (lines !== undefined && lines.length > 0)
      return failure(
        `${path}:${lines[0]}: ${formatCount(lines.length, 'damaged line')}`,
        'look at the disk; the service skips them, and the next posts of those bots replace what is lost',
      );
    const part = await ignoreMissing(stat(path));
    if (part) oldest = Math.min(oldest, part.birthtimeMs, part.mtimeMs);
  }
  const minutes = Math.round((Date.now() - oldest) / 60_000);
  const waiting = `${formatCount(entries, 'count')} not committed yet`;
  if (entries > 0 && minutes > 10 + config.stateSeconds / 60)
    return warning(
      `${waiting}, the oldest for ${formatCount(minutes, 'minute')}`,
      'start the service, or see in its log why it cannot commit',
    );
  return fine(entries === 0 ? 'all counts are committed' : waiting);
};

/** The counts and tokens in Git can be read. */
export const checkState = inClone(async (_repository, { repositoryOpener }) => {
  const { commit, files } = await createStateRef(repositoryOpener, silentLog).read();
  if (commit === null) return fine('there are no counts and tokens yet');
  let bots = 0;
  const faults = [...files].flatMap(([path, text]) => readShard(path, text, () => bots++));
  const [first] = faults;
  return first === undefined
    ? fine(`refs/botshelf/state has ${formatCount(bots, 'bot')}`)
    : failure(
        `refs/botshelf/state has ${formatCount(faults.length, 'faulty line')}, the first is ${first.path}:${first.line} (${first.message})`,
        'git log -p refs/botshelf/state has the lines before; the next posts of those bots replace counts, their owners press Token again',
      );
});
