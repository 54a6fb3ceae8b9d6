import { constants } from 'node:fs';
import { copyFile, mkdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../system-error.ts';
import { fsyncFiles } from './durable.ts';
import { GitExit } from './git-exit.ts';
import { withIndexLock } from './index-lock.ts';
import type { Repository } from './repository.ts';
import type { Unsettled } from './unsettled.ts';

/** An entry of Git's index that follows the tip. */
export interface FollowingEntry extends Unsettled {
  /** Null where the tip has no such file. */
  readonly target: { readonly id: string; readonly mode: string } | null;
  /** Makes our change in a text that a person has staged; undefined where that cannot be done. */
  edit(current: Buffer): Promise<Buffer | undefined>;
}

/**
 * Brings entries of Git's own index to the tip. What a person has staged stays staged, with our change made
 * in it too; entries that are gone or in conflict are left alone. The work is done on a copy, the index is
 * locked for the swap only. False when it was locked, or changed meanwhile: nothing was done, try later.
 * @param stamps - whose files' stamps it takes over; without them `git status` has to read these files again
 * @throws {GitExit} and system errors
 */
export async function followIndex(
  repository: Repository,
  entries: readonly FollowingEntry[],
  stamps: 'none' | 'changed' | 'all',
): Promise<boolean> {
  const index = join(repository.gitDir, 'index');
  const copy = join(repository.staging, 'index');
  await mkdir(repository.staging, { recursive: true });
  // Only a git of ours that was killed can have left it.
  await rm(`${copy}.lock`, { force: true });
  const seen = await markOf(index);
  if (seen === undefined) await rm(copy, { force: true });
  else await copyIndex(index, copy);
  const changed = await changedEntries(repository, entries, copy);
  if (changed.length === 0 && stamps !== 'all') return true;
  // What goes makes room for what comes: a file where a folder was.
  changed.sort((a, b) => Number(b.mode === gone) - Number(a.mode === gone));
  const input = changed.map(({ mode, id, path }) => `${mode} ${id}\t${path}\0`).join('');
  if (input !== '') await repository.run(['update-index', '-z', '--index-info'], { input, indexFile: copy });
  const there = changed.filter(({ mode }) => mode !== gone);
  if (stamps !== 'none') await refresh(repository, stamps === 'all' ? undefined : there, copy);
  await fsyncFiles([copy]);
  return await withIndexLock(repository, async () => {
    if ((await markOf(index)) !== seen) return false;
    await rename(copy, index);
    return true;
  });
}

/** The mode that takes an entry away. */
const gone = '0';

interface Entry {
  readonly path: string;
  readonly mode: string;
  readonly id: string;
}

async function changedEntries(
  repository: Repository,
  entries: readonly FollowingEntry[],
  indexFile: string,
): Promise<Entry[]> {
  const staged = await readStaged(repository, entries, indexFile);
  const conflicts = new Set(await listConflicts(repository, entries, staged, indexFile));
  const nothing = { mode: gone, id: '0'.repeat(repository.hash === 'sha1' ? 40 : 64) };
  const changed: Entry[] = [];
  for (const [i, entry] of entries.entries()) {
    const { path, target, known, after } = entry;
    const found = staged[i] ?? null;
    if (found === (target?.id ?? null) && entry.chmod === undefined) continue;
    if (
      found === null ? known.includes(null) && !conflicts.has(path) : known.includes(found) || found === after
    ) {
      changed.push({ path, ...(target ?? nothing) });
    } else if (found !== null && target && target.id === after) {
      const staged = await repository.objects.readOne(found);
      const text = staged && (await entry.edit(staged.content));
      if (text === undefined || staged?.content.equals(text)) continue;
      const id = (await repository.run(['hash-object', '-w', '--stdin'], { input: text })).trim();
      changed.push({ path, mode: target.mode, id });
    }
  }
  return changed;
}

/** The blob that the index has at each path, undefined where there is none or a conflict. */
async function readStaged(
  repository: Repository,
  entries: readonly Unsettled[],
  indexFile: string,
): Promise<(string | undefined)[]> {
  const input = entries.map(({ path }) => `:0:${path}\n`).join('');
  const answers = await repository.run(['cat-file', '--batch-check=%(objectname)'], { input, indexFile });
  return answers.split('\n').map((answer) => (/^[0-9a-f]+$/.test(answer) ? answer : undefined));
}

/** The paths that wait for a person to decide; asked for only where that may be why an entry is missing. */
async function listConflicts(
  repository: Repository,
  entries: readonly FollowingEntry[],
  staged: readonly unknown[],
  indexFile: string,
): Promise<string[]> {
  if (!entries.some(({ known }, i) => staged[i] === undefined && known.includes(null))) return [];
  const lines = (await repository.run(['ls-files', '--unmerged', '-z'], { indexFile })).split('\0');
  return lines.map((line) => line.slice(line.indexOf('\t') + 1));
}

/** Gives the entries the stamps of their files: all of them, or where they are few just these. */
async function refresh(
  repository: Repository,
  entries: readonly Entry[] | undefined,
  indexFile: string,
): Promise<void> {
  const some = ['--literal-pathspecs', 'add', '--refresh', '--pathspec-from-file=-', '--pathspec-file-nul'];
  if (entries?.length === 0) return;
  try {
    if (entries === undefined || entries.length > 200)
      await repository.run(['update-index', '-q', '--refresh'], { indexFile });
    else await repository.run(some, { input: entries.map(({ path }) => `${path}\0`).join(''), indexFile });
  } catch (error) {
    if (!(error instanceof GitExit)) throw error;
  }
}

async function markOf(index: string): Promise<string | undefined> {
  try {
    const { ino, size, mtimeNs, ctimeNs } = await stat(index, { bigint: true });
    return `${ino} ${size} ${mtimeNs} ${ctimeNs}`;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/**
 * The copy must not look younger than the index: git takes files that are as old as it, or younger, for
 * possibly changed, and would trust them otherwise.
 */
async function copyIndex(index: string, copy: string): Promise<void> {
  const { mtimeMs } = await stat(index);
  await copyFile(index, copy, constants.COPYFILE_FICLONE);
  const before = Math.floor(mtimeMs - 1) / 1000;
  await utimes(copy, before, before);
}
