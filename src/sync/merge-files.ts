import { isUtf8 } from 'node:buffer';
import { isDeepStrictEqual } from 'node:util';
import { maxLeadMs, parseCommitTime } from '../bot/clock.ts';
import { toInert } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { parseFilePath } from '../catalogue/page/layout.ts';
import type { PageData } from '../catalogue/page/page.ts';
import type { NewFile } from '../git/commit-files.ts';
import { type GitFile, parseRawDiff, rawDiffOptions } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { type FileTextVersions, mergeFile, type MergedFile, parseKeys, readPageData } from './key-merge.ts';

/** An edit that a merge set aside for another one. It stays in the history. */
export interface DroppedEdit {
  readonly path: string;
  /** A key of the front matter, `page` for the markdown, `file` for all of it. */
  readonly what: string;
  readonly of: 'ours' | 'theirs';
  readonly because:
    | 'people changed the same'
    | 'a later post changed the same'
    | 'the remote has changed the same';
}

/** Returns the log line for a change that was set aside. */
export function formatDroppedEdit({ path, what, of, because }: DroppedEdit): string {
  const whose = of === 'ours' ? 'from this clone' : 'from the remote';
  return `set aside ${JSON.stringify(what)} ${whose} in ${JSON.stringify(path)}, as ${because}; it stays in the history`;
}

/**
 * Returns a commit message: `<verb> the bot 312` or `<verb> 57 bots`, what was set aside, and a trailer for each bot.
 */
export function formatMergeMessage(
  verb: string,
  bots: readonly BotId[],
  droppedEdits: readonly DroppedEdit[],
): string {
  const lines = [`${verb} ${bots.length === 1 ? `the bot ${bots[0]}` : `${bots.length} bots`}`];
  const sections = new Map<string, Map<string, string[]>>();
  for (const { path, what, of, because } of droppedEdits) {
    const title = `Set aside${of === 'theirs' ? ' of the remote' : ''}, as ${because}:`;
    const section = sections.get(title) ?? new Map<string, string[]>();
    sections.set(title, section.set(path, [...(section.get(path) ?? []), quoteKey(what)]));
  }
  for (const [title, paths] of sections) {
    lines.push('', title);
    for (const [path, what] of paths)
      lines.push(`- ${toInert(JSON.stringify(path))}: ${toInert(what.join(', '))}`);
  }
  if (bots.length > 0) lines.push('', ...bots.map((id) => `Bot: ${id}`));
  return `${lines.join('\n')}\n`;
}

/** A key is user input: it may have line breaks or any length. */
function quoteKey(what: string): string {
  return /^[\w-]{1,40}$/.test(what) ? what : JSON.stringify(what).slice(0, 40);
}

/** Two sides of a branch that have diverged. */
export interface Sides {
  /** The last commit of theirs that is merged into ours. */
  readonly base: string;
  /** Commits of the service, or of a person in its clone, since then. */
  readonly ours: string;
  /** The remote's version: merged by people there, or pushed by other services. */
  readonly theirs: string;
}

/** A file that both sides changed; null if it does not exist. */
export interface FileVersions {
  /** The old path of the main page of a bot that one side moved. */
  readonly movedFrom?: string;
  readonly base: GitFile | null;
  readonly ours: GitFile | null;
  readonly theirs: GitFile | null;
}

/** The results for files that both sides changed. */
export interface MergedFiles {
  readonly files: Map<string, NewFile>;
  readonly droppedEdits: readonly DroppedEdit[];
}

/**
 * Merges files that both sides changed by key, as `mergeFile` does. If a file is not text on both sides, theirs stays.
 * @param theirFiles the files that theirs changed
 * @param sides decides a key that both changed by its last writer
 * @throws {GitError}
 */
export async function mergeFiles(
  repository: Repository,
  both: ReadonlyMap<string, FileVersions>,
  theirFiles: ReadonlyMap<string, GitFile | null>,
  sides: Sides,
): Promise<MergedFiles> {
  const files = new Map<string, NewFile>();
  const droppedEdits: DroppedEdit[] = [];
  const disputed: DisputedPage[] = [];
  const folders = findFolders([...both.keys()], theirFiles);
  for (const [path, versions] of both) {
    const { theirs } = versions;
    const changed = await readTexts(repository, path, versions);
    const merged = changed && mergeFile(changed.name, changed.texts);
    const file = merged && changed ? createNewFile(merged, changed) : theirs;
    if (file !== null || !folders.has(path)) files.set(path, file);
    const dropped = merged?.droppedKeys ?? ['file'];
    const bot = parseFilePath(path, repository.prefix)?.id;
    const paths = [path, versions.movedFrom ?? path];
    if (changed && bot && dropped.some(isKey)) disputed.push({ ...changed, bot, dropped, paths });
    for (const what of dropped)
      droppedEdits.push({ path, what, of: 'ours', because: 'the remote has changed the same' });
  }
  if (disputed.length === 0) return { files, droppedEdits };
  const decided = await mergeByWriters(repository, disputed, sides);
  const others = droppedEdits.filter(({ path }) => !decided.files.has(path));
  return {
    files: new Map([...files, ...decided.files]),
    droppedEdits: [...others, ...decided.droppedEdits],
  };
}

/** Returns a path from the top of the repository relative to the catalogue's folder; unchanged for a file next to that. */
export function toCataloguePath({ prefix }: Pick<Repository, 'prefix'>, path: string): string {
  return path.startsWith(prefix) ? path.slice(prefix.length) : path;
}

/** A text that both sides changed. */
interface ChangedText {
  readonly path: string;
  /** The path, relative to the catalogue's folder. */
  readonly name: string;
  readonly texts: FileTextVersions;
  /** The file of theirs. */
  readonly file: GitFile;
}

interface DisputedPage extends ChangedText {
  readonly bot: BotId;
  /** The keys, and other parts, that both sides changed. */
  readonly dropped: readonly string[];
  /** The new and the old path. */
  readonly paths: readonly string[];
}

/** Merges pages again, with each key that both sides changed from the side whose writer wins. */
async function mergeByWriters(
  repository: Repository,
  pages: readonly DisputedPage[],
  { base, ours, theirs }: Sides,
): Promise<MergedFiles> {
  const names = new Map(pages.flatMap(({ path, paths }) => paths.map((name) => [name, path] as const)));
  const [ourHistory, theirHistory] = await Promise.all([
    readPageHistory(repository, ours, [theirs, base], names),
    readPageHistory(repository, theirs, [ours], names),
  ]);
  const files = new Map<string, NewFile>();
  const droppedEdits: DroppedEdit[] = [];
  for (const page of pages) {
    const { path, name, bot, texts } = page;
    const [our, their] = [texts.ours, texts.theirs].map((text) => parseKeys(path, text));
    const decisions: DroppedEdit[] = [];
    for (const what of page.dropped) {
      const find = async (history: PageHistory, data: PageData | undefined): Promise<KeyWriter | undefined> =>
        await findKeyWriter(repository, history, { path, bot, key: what, value: data?.[what] });
      const [mine, other, former] = isKey(what)
        ? await Promise.all([find(ourHistory, our), find(theirHistory, their), find(ourHistory, their)])
        : [];
      // A push that was not answered may have landed before people rewrote the branch. Then a commit of a person has an
      // earlier value of ours, which nobody has set there.
      const isOurs = other?.by === 'person' && former !== undefined;
      decisions.push({ path, what, ...chooseLoser(mine, isOurs ? undefined : other) });
    }
    const keep = new Set(decisions.flatMap(({ what, of }) => (of === 'theirs' ? what : [])));
    const merged = mergeFile(name, { ...texts, keep });
    // If ours and theirs together break a rule that each keeps, the first merge stays.
    if (merged.droppedKeys.includes('file')) continue;
    files.set(path, createNewFile(merged, page));
    droppedEdits.push(...decisions);
  }
  return { files, droppedEdits };
}

function chooseLoser(
  mine: KeyWriter | undefined,
  other: KeyWriter | undefined,
): Pick<DroppedEdit, 'of' | 'because'> {
  const of = rankWriter(mine) > rankWriter(other) ? 'theirs' : 'ours';
  const [winner, loser] = of === 'theirs' ? [mine, other] : [other, mine];
  if (winner?.by === 'post') return { of, because: 'a later post changed the same' };
  const isPeoples = winner?.by === 'person' && loser?.by !== 'person';
  return { of, because: isPeoples ? 'people changed the same' : 'the remote has changed the same' };
}

function rankWriter(writer: KeyWriter | undefined): number {
  if (writer === undefined) return Number.NEGATIVE_INFINITY;
  return writer.by === 'person' ? Number.POSITIVE_INFINITY : writer.at;
}

/** Returns whether a change that was set aside is of a key in the front matter. */
function isKey(what: string): boolean {
  return what !== 'page' && what !== 'file';
}

/** Returns those of the paths at which theirs has a folder. Either side may have changed a hundred thousand files. */
function findFolders(
  paths: readonly string[],
  theirFiles: ReadonlyMap<string, GitFile | null>,
): ReadonlySet<string> {
  const [wanted, lengths] = [new Set(paths), new Set(paths.map(({ length }) => length))];
  const folders = new Set<string>();
  for (const [path, file] of theirFiles) {
    if (file === null) continue;
    for (let end = path.indexOf('/'); end !== -1; end = path.indexOf('/', end + 1))
      if (lengths.has(end) && wanted.has(path.slice(0, end))) folders.add(path.slice(0, end));
  }
  return folders;
}

/** Reads the versions of a file; undefined if a side is not text, or both are the same. */
async function readTexts(
  repository: Repository,
  path: string,
  { base, ours, theirs }: FileVersions,
): Promise<ChangedText | undefined> {
  if (!isFile(ours) || !isFile(theirs) || ours.id === theirs.id) return undefined;
  const blobs = await repository.objects.read([ours, theirs, base].filter(isFile).map(({ id }) => id));
  const [our, their, former] = blobs.map((blob) =>
    blob && isUtf8(blob.content) ? blob.content.toString() : undefined,
  );
  if (our === undefined || their === undefined) return undefined;
  const name = toCataloguePath(repository, path);
  return { path, name, texts: { base: former ?? null, ours: our, theirs: their }, file: theirs };
}

function createNewFile({ text }: MergedFile, { texts, file }: ChangedText): NewFile {
  return text === texts.theirs ? file : { mode: file.mode, content: Buffer.from(text) };
}

/** Returns whether there is a regular file. */
export function isFile(file: GitFile | null): file is GitFile {
  return file !== null && file.mode.startsWith('100');
}

/**
 * The writer of a key's value: a person by a commit, or an owner by a post at a time in milliseconds since the epoch.
 */
export type KeyWriter = { readonly by: 'person' } | { readonly by: 'post'; readonly at: number };

interface PageCommit {
  /** The number of parents; 1 for a root, which Git compares with nothing. */
  readonly parents: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The bots that the commit names, if a service made it for owners. */
  readonly bots: readonly string[];
  /** The page, and the different ones of its parents. */
  readonly after: GitFile | null;
  readonly before: (GitFile | null)[];
}

/** Path → the commits that changed the page, by id, newest first. */
type PageHistory = ReadonlyMap<string, ReadonlyMap<string, PageCommit>>;

/**
 * Reads the commits of `tip` that none of `others` has and that changed one of these pages.
 * @param pages the paths of the pages, and those from which they were moved → their path
 * @throws {GitError}
 */
export async function readPageHistory(
  repository: Repository,
  tip: string,
  others: readonly string[],
  pages: ReadonlyMap<string, string>,
): Promise<PageHistory> {
  const input = [tip, ...others.map((other) => `^${other}`), '--', ...pages.keys(), ''].join('\n');
  return parseLog(await repository.run(logPages, { input }), pages);
}

/**
 * Returns who last set a key of a bot's page to a value. Undefined if no commit of this side did: then the value at its
 * tip is older than the divergence.
 * @throws {GitError}
 */
export async function findKeyWriter(
  repository: Repository,
  history: PageHistory,
  { path, bot, key, value }: { path: string; bot: string; key: string; value: unknown },
): Promise<KeyWriter | undefined> {
  for (const { parents, time, bots, after, before } of history.get(path)?.values() ?? []) {
    // A merge that has the file of one of its parents did not change it.
    if (before.length < parents) continue;
    const [page, ...others] = await Promise.all(
      [after, ...before].map(async (file) => await readPageData(repository, path, file?.id)),
    );
    if (page === undefined || !isDeepStrictEqual(page[key], value)) continue;
    if (others.some((data) => data !== undefined && isDeepStrictEqual(data[key], value))) continue;
    if (!bots.includes(bot)) return { by: 'person' };
    const { edited } = page;
    // A post raises `edited`, but not to its own time after a clock that was ahead, or with the values of a revert.
    const isPosted =
      typeof edited === 'number' &&
      edited <= time + maxLeadMs &&
      !others.some((data) => Number(data?.['edited']) >= edited);
    return { by: 'post', at: isPosted ? edited : time };
  }
  return undefined;
}

/**
 * The bots in the trailers of a commit of a service; empty for a commit of a person, with a command or without. A service
 * writes its commits with one identity and one time: a commit that a person has amended, picked or rebased has two, and is
 * that person's.
 */
function parseUpdatedBots([author, committer, bots = '', changedBy]: readonly string[]): readonly string[] {
  return author === committer && bots !== '' && changedBy === '' ? bots.split(',') : [];
}

const logOptions = '--stdin --topo-order --full-history --root --no-show-signature --no-color -m';

const logPages = [
  '--literal-pathspecs',
  'log',
  ...logOptions.split(' '),
  ...rawDiffOptions,
  // A page that was moved may be in another language, with few lines that stay.
  '--find-renames=1%',
  '--format=%H%n%P%n%ct%n%an <%ae> %at%n%cn <%ce> %ct%n%(trailers:key=Bot,valueonly,separator=%x2C)%n%(trailers:key=Changed-by,valueonly,separator=%x2C)',
];

/** Git prints a merge once for each parent that it differs from. */
function parseLog(text: string, pages: ReadonlyMap<string, string>): PageHistory {
  const commits = new Map<string, Map<string, PageCommit>>();
  for (const { header, path: name, previousPath, before, after } of parseRawDiff(text)) {
    const path = pages.get(name) ?? name;
    // The page of a bot that is removed looks like that of another one.
    const isSame = pages.get(previousPath) === path;
    const [id = '', parents = '', time = '', ...marks] = header.split('\n');
    const ofPath = commits.get(path) ?? new Map<string, PageCommit>();
    const commit = ofPath.get(id) ?? {
      parents: parents.split(' ').length,
      time: parseCommitTime(time),
      bots: parseUpdatedBots(marks),
      after,
      before: [],
    };
    commit.before.push(...(isSame ? before : [null]));
    commits.set(path, ofPath.set(id, commit));
  }
  return commits;
}
