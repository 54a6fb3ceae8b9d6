import type { BotId } from '../bot/id.ts';
import { placeOf, splitPath } from '../catalogue/layout.ts';
import { mergePage } from '../catalogue/merge-page.ts';
import { type GitFile, type FileChange, diffTrees } from './commit/file-change.ts';
import { treeOf } from './history.ts';
import type { Repository } from './repository.ts';
import { writeCommit, type CommitFile } from './commit/fast-import.ts';

/** Two sides of a branch that have parted. */
export interface Sides {
  /** The last commit of theirs that ours has taken in. */
  readonly base: string;
  /** What the service, or somebody at its clone, has committed since. */
  readonly ours: string;
  /** What the remote has now: it was reviewed. */
  readonly theirs: string;
}

export interface Merged {
  readonly commit: string;
  /** Path → what of ours gave way there: keys, `page`, or `file` for all of it. */
  readonly setAside: ReadonlyMap<string, readonly string[]>;
}

/**
 * Makes a merge commit of both sides, theirs first. Pages that both changed are merged by meaning, whether Git saw a
 * conflict or not; of other files in conflict theirs stays. The commit's message says what was set aside.
 * @throws {GitExit}
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
  const { files, setAside } = await settle(repository, both, others);
  const message = messageOf('Merge the updates of', botsOf(repository, mine), setAside);
  const commit = await writeCommit(repository, { parents: [theirs, ours], tree, files, message });
  return { commit, setAside };
}

/**
 * Makes what ours changed since `base` once more on top of theirs, which has left `base` out of its history: one
 * commit, with theirs as its only parent; theirs itself where nothing of ours is missing there.
 * @throws {GitExit}
 */
export async function replayOnto(repository: Repository, { base, ours, theirs }: Sides): Promise<Merged> {
  const [mine, reviewed] = await Promise.all([
    diffTrees(repository, base, ours),
    diffTrees(repository, base, theirs),
  ]);
  const others = new Map(reviewed.map((file) => [file.path, file.after]));
  const both = new Map<string, Versions>();
  const alone = new Map<string, CommitFile>();
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
  readonly files: Map<string, CommitFile>;
  readonly setAside: Map<string, readonly string[]>;
}

async function settle(
  repository: Repository,
  both: ReadonlyMap<string, Versions>,
  theirs: ReadonlyMap<string, GitFile | null>,
): Promise<Settled> {
  const files = new Map<string, CommitFile>();
  const setAside = new Map<string, readonly string[]>();
  for (const [path, versions] of both) {
    const { after, other } = versions;
    const merged = await mergeAsPage(repository, path, versions);
    const written = merged?.written ?? other;
    if (written !== null || !isFolder(path, theirs)) files.set(path, written);
    const gaveWay = merged?.setAside ?? (after === null ? [] : ['file']);
    if (gaveWay.length > 0) setAside.set(path, gaveWay);
  }
  return { files, setAside };
}

/** Whether theirs has made a folder of what was a file. */
function isFolder(path: string, theirs: ReadonlyMap<string, GitFile | null>): boolean {
  return [...theirs].some(([other, file]) => file !== null && other.startsWith(`${path}/`));
}

/** Undefined for what is no page on both sides. */
async function mergeAsPage(
  repository: Repository,
  path: string,
  { before, after, other }: Versions,
): Promise<{ written: CommitFile; setAside: readonly string[] } | undefined> {
  if (!isPage(repository, path) || !isFile(after) || !isFile(other)) return undefined;
  const ids = isFile(before) ? [after.id, other.id, before.id] : [after.id, other.id];
  const [ours, theirs, base] = await repository.objects.read(ids);
  if (ours === undefined || theirs === undefined) return undefined;
  const { text, setAside } = mergePage(path, {
    base: base?.content.toString() ?? null,
    ours: ours.content.toString(),
    theirs: theirs.content.toString(),
  });
  const isTheirs = text === theirs.content.toString();
  return { written: isTheirs ? other : { mode: other.mode, content: Buffer.from(text) }, setAside };
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
  const [tree = '', ...entries] = (await repository.run([...mergeTree, ours, theirs], { answers: 1 })).split(
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
  const split = path.startsWith(prefix) ? splitPath(path.slice(prefix.length)) : undefined;
  const place = split && placeOf(split.folder, split.name);
  return place && 'id' in place ? place.id : undefined;
}

function botsOf(repository: Repository, files: readonly FileChange[]): BotId[] {
  return [...new Set(files.flatMap(({ path }) => botOf(repository, path) ?? []))];
}

function messageOf(
  verb: string,
  bots: readonly BotId[],
  setAside: ReadonlyMap<string, readonly string[]>,
): string {
  const lines = [`${verb} ${bots.length === 1 ? `the bot ${bots[0]}` : `${bots.length} bots`}`];
  if (setAside.size > 0) {
    lines.push('', 'Set aside, as the remote has changed the same:');
    for (const [path, what] of setAside)
      lines.push(`- ${JSON.stringify(path)}: ${what.map(shown).join(', ')}`);
  }
  if (bots.length > 0) lines.push('', ...bots.map((id) => `Bot: ${id}`));
  return `${lines.join('\n')}\n`;
}

function shown(what: string): string {
  return /^[\w-]{1,40}$/.test(what) ? what : JSON.stringify(what).slice(0, 40);
}
