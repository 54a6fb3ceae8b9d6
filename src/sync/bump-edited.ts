import type { BotId } from '../bot/id.ts';
import { readCommittedPages } from '../catalogue/store/committed-pages.ts';
import { pathOf, parsePagePath } from '../catalogue/page/layout.ts';
import { editPage, type PageData, parsePage } from '../catalogue/page/page.ts';
import { validate } from '../catalogue/page/schema.ts';
import type { FileEdit } from '../git/commit/batch-plan.ts';
import { diffTrees, ignoreDiffLimit } from '../git/diff.ts';
import type { Repository } from '../git/repository.ts';
import { parseUpdatedBots, readPageData, serviceFormat } from './key-history.ts';

/** Raises `edited` of a bot, where it is before a time. */
export interface EditedBump extends FileEdit {
  readonly id: BotId;
  /** The bot's name, for the commit's message. */
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/**
 * Returns the edits that set `edited` of the bots that people changed between two tips of the remote's branch without
 * raising it, to the time of the last commit that changed the bot. Every replica makes the same edits.
 * @throws {GitError}
 */
export async function planBumpEdited(
  repository: Repository,
  from: string,
  to: string,
): Promise<EditedBump[]> {
  const times = new Map<BotId, number>();
  const decided = new Set<BotId>();
  for (const commit of await listCommitsOfPeople(repository, from, to)) {
    for (const [id, raised] of await findTouchedBots(repository, commit)) {
      if (decided.has(id)) continue;
      decided.add(id);
      if (!raised) times.set(id, commit.time);
    }
  }
  const changes = await Promise.all(
    [...times].map(async ([id, time]) => await planBumpForBot(repository, to, id, time)),
  );
  return changes.filter((change) => change !== undefined);
}

/** Returns a main page's text with `edited` raised; unchanged where the page is faulty. */
export function bumpEdited(text: string, { path, time }: EditedBump): string {
  const { page } = parsePage(path, Buffer.from(text));
  if (page === undefined || validate('main-page', page.data).length > 0) return text;
  return readEdited(page.data) >= time ? text : editPage(text, { edited: time });
}

interface Commit {
  readonly id: string;
  readonly parent: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
}

/** Returns the commits of people on the branch itself, newest first. */
async function listCommitsOfPeople(repository: Repository, from: string, to: string): Promise<Commit[]> {
  const args = ['log', '--first-parent', '--no-show-signature', '--no-color', '-z'];
  const format = `--format=%H%n%ct%n%P%n${serviceFormat}`;
  const commits = (await repository.run([...args, format, to, `^${from}`])).split('\0');
  return commits.flatMap((commit) => {
    const [id = '', time = '', parents = '', ...marks] = commit.split('\n');
    const [parent] = parents.split(' ');
    return parseUpdatedBots(marks).length > 0 || !parent ? [] : { id, parent, time: Number(time) * 1000 };
  });
}

/** Returns the bots of which a commit changed a file, each with whether it raised `edited` or lists the bot. */
async function findTouchedBots(repository: Repository, { id, parent }: Commit): Promise<Map<BotId, boolean>> {
  const bots = new Map<BotId, boolean>();
  // A change of too many files is no edit of a bot.
  const files = await diffTrees(repository, parent, id).catch(ignoreDiffLimit);
  for (const { path, before, after } of files ?? []) {
    const bot = parsePagePath(path, repository.prefix)?.id;
    if (bot === undefined) continue;
    const ids = [before, after].map((file) => (file?.mode.startsWith('100') ? file.id : undefined));
    const [old, now] = await Promise.all(ids.map(async (id) => await readPageData(repository, path, id)));
    const isNew = before === null && now !== undefined && 'authors' in now;
    const raised = old !== undefined && now !== undefined && readEdited(now) > readEdited(old);
    bots.set(bot, (bots.get(bot) ?? false) || isNew || raised);
  }
  return bots;
}

async function planBumpForBot(
  repository: Repository,
  tip: string,
  id: BotId,
  time: number,
): Promise<EditedBump | undefined> {
  for (const { place, blob } of await readCommittedPages(repository, tip, id)) {
    const path = pathOf(id, place.locale);
    const data = await readPageData(repository, path, blob);
    if (!data || !('authors' in data) || readEdited(data) >= time) continue;
    return { path, id, name: String(data['name']), time };
  }
  return undefined;
}

function readEdited(data: PageData): number {
  const { edited, created } = data;
  return typeof edited === 'number' ? edited : typeof created === 'number' ? created : 0;
}
