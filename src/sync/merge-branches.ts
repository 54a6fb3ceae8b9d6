import type { BotId } from '../bot/id.ts';
import { placeAt } from '../catalogue/page/layout.ts';
import { mergePage, type MergedPage, type PageVersions } from '../catalogue/page/merge-page.ts';
import { parsePage } from '../catalogue/page/page.ts';
import { type GitFile, type FileChange, diffTrees } from '../git/file-change.ts';
import { treeOf } from '../git/history.ts';
import { type KeyWriter, KeyWriters } from './key-writers.ts';
import type { Repository } from '../git/repository.ts';
import { writeCommit, type NewFile } from '../git/commit/fast-import.ts';

/** Two sides of a branch that have parted. */
export interface Sides {
  /** The last commit of theirs that ours has taken in. */
  readonly base: string;
  /** What the service, or somebody at its clone, has committed since. */
  readonly ours: string;
  /** What the remote has now: what people merged there, and what other services pushed. */
  readonly theirs: string;
}

export interface Merged {
  readonly commit: string;
  readonly setAside: readonly SetAside[];
}

/** A change that gave way to another. It stays in the history. */
export interface SetAside {
  readonly path: string;
  /** A key of the front matter, `page` for the markdown, `file` for all of it. */
  readonly what: string;
  readonly of: 'ours' | 'theirs';
  readonly because:
    | 'people changed the same'
    | 'a later post changed the same'
    | 'the remote has changed the same';
}

/**
 * Makes a merge commit of both sides, theirs first. Pages that both changed are merged by meaning, whether Git saw a
 * conflict or not; of other files in conflict theirs stays. Of a key that both changed, what people committed wins over
 * a post, the later of two posts over the earlier, and theirs otherwise. The commit's message says what was set aside.
 * @throws {GitError}
 */
export async function mergeBranches(repository: Repository, sides: Sides): Promise<Merged> {
  const { base, ours, theirs } = sides;
  const [mine, reviewed] = await Promise.all([
    diffTrees(repository, base, ours),
    diffTrees(repository, base, theirs),
  ]);
  const { tree, conflicts } = await mergeTrees(repository, ours, theirs);
  const others = new Map(reviewed.map((file) => [file.path, file.after]));
  const both = new Map<string, Versions>(conflicts);
  for (const { path, before, after } of mine) {
    const other = others.get(path);
    if (other === undefined || isSame(other, after)) continue;
    if (conflicts.has(path) || isPage(repository, path)) both.set(path, { before, after, other });
  }
  const { files, setAside } = await settle(repository, both, others, sides);
  const message = messageOf('Merge the updates of', botsOf(repository, mine), setAside);
  const commit = await writeCommit(repository, { parents: [theirs, ours], tree, files, message });
  return { commit, setAside };
}

/**
 * Makes what ours changed since `base` once more on top of theirs, which has left `base` out of its history: one
 * commit, with theirs as its only parent; theirs itself where nothing of ours is missing there.
 * @throws {GitError}
 */
export async function replayOnto(repository: Repository, { base, ours, theirs }: Sides): Promise<Merged> {
  const [mine, reviewed] = await Promise.all([
    diffTrees(repository, base, ours),
    diffTrees(repository, base, theirs),
  ]);
  const others = new Map(reviewed.map((file) => [file.path, file.after]));
  const both = new Map<string, Versions>();
  const alone = new Map<string, NewFile>();
  for (const { path, before, after } of mine) {
    const other = others.get(path);
    if (other === undefined) alone.set(path, after);
    else if (!isSame(other, after)) both.set(path, { before, after, other });
  }
  const { files, setAside } = await settle(repository, both, others);
  const all = new Map([...alone, ...files]);
  const tree = await treeOf(repository, theirs);
  if (all.size === 0 || tree === undefined) return { commit: theirs, setAside };
  const message = messageOf(
    'Replay, on the rewritten branch, the updates of',
    botsOf(repository, mine),
    setAside,
  );
  const commit = await writeCommit(repository, { parents: [theirs], tree, files: all, message });
  return (await treeOf(repository, commit)) === tree ? { commit: theirs, setAside } : { commit, setAside };
}

/** A file that both sides changed: at the base, on our side, on theirs. */
interface Versions {
  readonly before: GitFile | null;
  readonly after: GitFile | null;
  readonly other: GitFile | null;
}

interface Settled {
  readonly files: Map<string, NewFile>;
  readonly setAside: readonly SetAside[];
}

/** @param sides where it is asked who wrote a key that both changed; theirs wins where it is not */
async function settle(
  repository: Repository,
  both: ReadonlyMap<string, Versions>,
  theirs: ReadonlyMap<string, GitFile | null>,
  sides?: Sides,
): Promise<Settled> {
  const files = new Map<string, NewFile>();
  const setAside: SetAside[] = [];
  const disputed: string[] = [];
  for (const [path, versions] of both) {
    const { after, other } = versions;
    const pages = await readVersions(repository, path, versions);
    const merged = pages && mergePage(path, pages);
    const written = merged && pages ? writtenPage(merged, pages, other) : other;
    if (written !== null || !isFolder(path, theirs)) files.set(path, written);
    const gaveWay = merged?.setAside ?? (after === null ? [] : ['file']);
    if (merged && gaveWay.some(isKey)) disputed.push(path);
    for (const what of gaveWay)
      setAside.push({ path, what, of: 'ours', because: 'the remote has changed the same' });
  }
  if (sides === undefined || disputed.length === 0) return { files, setAside };
  const decided = await decide(repository, both, disputed, sides);
  for (const { path, written } of decided) files.set(path, written);
  const paths = new Set(decided.map(({ path }) => path));
  const others = setAside.filter(({ path }) => !paths.has(path));
  return { files, setAside: [...others, ...decided.flatMap((page) => page.setAside)] };
}

interface DecidedPage {
  readonly path: string;
  readonly written: NewFile;
  readonly setAside: readonly SetAside[];
}

/** Merges these pages once more, now that it is known who wrote the keys that both sides changed. */
async function decide(
  repository: Repository,
  both: ReadonlyMap<string, Versions>,
  paths: readonly string[],
  { ours, theirs }: Sides,
): Promise<DecidedPage[]> {
  const [mine, others] = await Promise.all([
    KeyWriters.of(repository, ours, theirs, paths),
    KeyWriters.of(repository, theirs, ours, paths),
  ]);
  const decided: DecidedPage[] = [];
  for (const path of paths) {
    const versions = both.get(path);
    const bot = botOf(repository, path);
    const pages = versions && (await readVersions(repository, path, versions));
    if (versions === undefined || pages === undefined || bot === undefined) continue;
    const [our, their] = [pages.ours, pages.theirs].map(
      (text) => parsePage(path, Buffer.from(text)).page?.data,
    );
    const setAside: SetAside[] = [];
    for (const what of mergePage(path, pages).setAside) {
      const writers = await Promise.all([
        mine.writerOf(path, bot, what, our?.[what]),
        others.writerOf(path, bot, what, their?.[what]),
      ]);
      setAside.push({ path, what, ...(isKey(what) ? loserOf(...writers) : loserOf(undefined, undefined)) });
    }
    const keep = new Set(setAside.flatMap(({ what, of }) => (of === 'theirs' ? what : [])));
    const merged = mergePage(path, { ...pages, keep });
    // Ours and theirs together may break a rule that each keeps: then it stays as it was merged before.
    if (merged.setAside.includes('file')) continue;
    decided.push({ path, written: writtenPage(merged, pages, versions.other), setAside });
  }
  return decided;
}

function loserOf(
  mine: KeyWriter | undefined,
  other: KeyWriter | undefined,
): Pick<SetAside, 'of' | 'because'> {
  const of = rankOf(mine) > rankOf(other) ? 'theirs' : 'ours';
  const [winner, loser] = of === 'theirs' ? [mine, other] : [other, mine];
  if (winner?.by === 'post') return { of, because: 'a later post changed the same' };
  const isPeoples = winner?.by === 'person' && loser?.by !== 'person';
  return { of, because: isPeoples ? 'people changed the same' : 'the remote has changed the same' };
}

function rankOf(writer: KeyWriter | undefined): number {
  if (writer === undefined) return Number.NEGATIVE_INFINITY;
  return writer.by === 'person' ? Number.POSITIVE_INFINITY : writer.at;
}

/** Whether what was set aside is a key of the front matter. */
function isKey(what: string): boolean {
  return what !== 'page' && what !== 'file';
}

/** Whether theirs has made a folder of what was a file. */
function isFolder(path: string, theirs: ReadonlyMap<string, GitFile | null>): boolean {
  return [...theirs].some(([other, file]) => file !== null && other.startsWith(`${path}/`));
}

/** Undefined for what is no page on both sides. */
async function readVersions(
  repository: Repository,
  path: string,
  { before, after, other }: Versions,
): Promise<PageVersions | undefined> {
  if (!isPage(repository, path) || !isFile(after) || !isFile(other)) return undefined;
  const ids = isFile(before) ? [after.id, other.id, before.id] : [after.id, other.id];
  const [ours, theirs, base] = await repository.objects.read(ids);
  if (ours === undefined || theirs === undefined) return undefined;
  return {
    base: base?.content.toString() ?? null,
    ours: ours.content.toString(),
    theirs: theirs.content.toString(),
  };
}

function writtenPage({ text }: MergedPage, { theirs }: PageVersions, other: GitFile | null): NewFile {
  return text === theirs ? other : { mode: other?.mode ?? '100644', content: Buffer.from(text) };
}

function isFile(file: GitFile | null): file is GitFile {
  return file !== null && file.mode.startsWith('100');
}

function isSame(a: GitFile | null, b: GitFile | null): boolean {
  return a?.id === b?.id && a?.mode === b?.mode;
}

/** Merges without a checkout. Gives the tree, with the conflicts in it, and what each of those is about. */
async function mergeTrees(
  repository: Repository,
  ours: string,
  theirs: string,
): Promise<{ tree: string; conflicts: Map<string, Versions> }> {
  const [tree = '', ...entries] = (await repository.run([...mergeTree, ours, theirs], { accepts: 1 })).split(
    '\0',
  );
  const conflicts = new Map<string, Versions>();
  for (const entry of entries) {
    const [, mode, id, stage, path] = /^(\d+) ([0-9a-f]+) ([123])\t(.+)$/s.exec(entry) ?? [];
    if (mode === undefined || id === undefined || stage === undefined || path === undefined) continue;
    const side = ({ 1: 'before', 2: 'after', 3: 'other' } as const)[stage as '1' | '2' | '3'];
    const known = conflicts.get(path) ?? { before: null, after: null, other: null };
    conflicts.set(path, { ...known, [side]: { mode, id } });
  }
  return { tree, conflicts };
}

const mergeTree = [
  '-c',
  'merge.directoryRenames=false',
  '-c',
  'merge.renameLimit=1000',
  'merge-tree',
  '--write-tree',
  '-z',
  '--no-messages',
];

function isPage(repository: Pick<Repository, 'prefix'>, path: string): boolean {
  return botOf(repository, path) !== undefined;
}

/** The bot whose page is at a path from the top of the repository. */
export function botOf({ prefix }: Pick<Repository, 'prefix'>, path: string): BotId | undefined {
  return placeAt(path, prefix)?.id;
}

function botsOf(repository: Repository, files: readonly FileChange[]): BotId[] {
  return [...new Set(files.flatMap(({ path }) => botOf(repository, path) ?? []))];
}

function messageOf(verb: string, bots: readonly BotId[], setAside: readonly SetAside[]): string {
  const lines = [`${verb} ${bots.length === 1 ? `the bot ${bots[0]}` : `${bots.length} bots`}`];
  const sections = new Map<string, Map<string, string[]>>();
  for (const { path, what, of, because } of setAside) {
    const title = `Set aside${of === 'theirs' ? ' of the remote' : ''}, as ${because}:`;
    const section = sections.get(title) ?? new Map<string, string[]>();
    sections.set(title, section.set(path, [...(section.get(path) ?? []), shown(what)]));
  }
  for (const [title, paths] of sections) {
    lines.push('', title);
    for (const [path, what] of paths) lines.push(`- ${JSON.stringify(path)}: ${what.join(', ')}`);
  }
  if (bots.length > 0) lines.push('', ...bots.map((id) => `Bot: ${id}`));
  return `${lines.join('\n')}\n`;
}

function shown(what: string): string {
  return /^[\w-]{1,40}$/.test(what) ? what : JSON.stringify(what).slice(0, 40);
}
