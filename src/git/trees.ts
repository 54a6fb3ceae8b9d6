import { BotshelfError, isError } from '../lib/errors.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { parseTree, toKind, type TreeEntry } from './objects.ts';
import type { Repository } from './repository.ts';
import { withoutModulesFile } from './run-git.ts';

/** A file in a tree or the index. */
export interface GitFile {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule). */
  readonly mode: string;
  /** The blob, or the commit of a submodule. */
  readonly id: string;
}

/** A file and its new version; null if it is removed. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string;
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

/** Returns the id of the tree of a commit, or of a tree. @throws {BotshelfError} missing-object {GitError} */
export async function readTreeId({ objects }: Pick<Repository, 'objects'>, name: string): Promise<string> {
  const tree = await objects.readOne(`${name}^{tree}`);
  if (tree === undefined) throw new BotshelfError('missing-object', `${name} is no commit or tree here`);
  return tree.id;
}

/** Returns undefined for diff-too-large, for a caller that can do without the files. @throws any other error */
export function ignoreDiffLimit(error: unknown): undefined {
  if (!isError(error, 'diff-too-large')) throw error;
}

/**
 * Returns what differs between two commits or trees; a rename is a removal and a new file. Trees may share their folders, so
 * that a few small objects have ten million paths, which git would take minutes and gigabytes to compare. This ends at a
 * bound.
 * @param from null for the empty tree
 * @throws {BotshelfError} diff-too-large, missing-object
 * @throws {GitError}
 */
export async function diffTrees(
  repository: Pick<Repository, 'objects' | 'hash'>,
  from: string | null,
  to: string,
): Promise<FileChange[]> {
  const { objects, hash } = repository;
  const slice = new TimeSlice('service');
  const changes: FileChange[] = [];
  const pairs = [
    { folder: '', ids: [from && (await readTreeId(repository, from)), await readTreeId(repository, to)] },
  ];
  let weight = 0;
  for (let done = 0; done < pairs.length;) {
    const some = pairs.slice(done, done + foldersAtOnce);
    done += some.length;
    const ids = [...new Set(some.flatMap((pair) => pair.ids))].filter((id) => id !== null);
    const read = await objects.readTrees(ids);
    const trees = new Map(read.map((tree, i) => [ids[i], parseTree(tree, hash)]));
    for (const { folder, ids } of some) {
      if (slice.isOver) await slice.next();
      const [before = noEntries, after = noEntries] = ids.map((id) => trees.get(id ?? undefined));
      weight += (before.size + after.size) * entryWeight;
      for (const name of new Set([...before.keys(), ...after.keys()])) {
        const versions = [before.get(name), after.get(name)];
        const [was, now] = versions;
        if (was?.id === now?.id && was?.mode === now?.mode) continue;
        const [fileBefore = null, fileAfter = null] = versions.map(toFile);
        const path = folder + name;
        if (fileBefore ?? fileAfter) changes.push({ path, before: fileBefore, after: fileAfter });
        const folders = versions.map((entry) => (entry && isFolder(entry) ? entry.id : null));
        if (folders[0] !== folders[1]) pairs.push({ folder: `${path}/`, ids: folders });
        weight += path.length + pathWeight;
      }
      if (weight <= maxDiffWeight) continue;
      const what = from === null ? `${to} has` : `${from} and ${to} differ in`;
      const files = Math.round(maxDiffWeight / fileWeight / 1000) * 1000;
      throw new BotshelfError('diff-too-large', `${what} more than about ${files} files`);
    }
  }
  return changes.toSorted((a, b) => (a.path < b.path ? -1 : 1));
}

const noEntries: ReadonlyMap<string, TreeEntry> = new Map();

function isFolder({ mode }: TreeEntry): boolean {
  return toKind(mode) === 'folder';
}

/** Returns a file with one of the modes that Git has for files today. */
function toFile(entry: TreeEntry | undefined): GitFile | null {
  if (entry === undefined || isFolder(entry)) return null;
  const { mode, id } = entry;
  return { id, mode: mode.replace(/^100[0246]../, '100644').replace(/^100[1357]../, '100755') };
}

/** The approximate bytes of a comparison: for each entry that is read, and for each that differs, besides its path. */
const entryWeight = 6;
const pathWeight = 100;
const fileWeight = 134;
const maxDiffWeight = 32 * 1024 * 1024;

/** Folders whose trees are read together. */
const foldersAtOnce = 100;

/** The options of `git diff`, `diff-tree` and `log` for the output that `parseRawDiff` parses. */
export const rawDiffOptions: readonly string[] = ['--raw', '-z', '--no-abbrev', withoutModulesFile];

/** A file in that output. */
interface RawDiffEntry {
  /** The text before the files: of `log` its format, of `diff-tree --stdin` the commit. */
  readonly header: string;
  readonly path: string;
  /** The path before; the same as `path` unless the file was moved or copied. */
  readonly previousPath: string;
  /** The old version, null for a new file; one for each parent of a merge that is compared with all of them. */
  readonly before: readonly (GitFile | null)[];
  /** The new version. Its id is zeros if the file is only in the work tree. */
  readonly after: GitFile | null;
  /** As git writes it, such as M, A or R095. */
  readonly status: string;
}

/**
 * Parses `<header>\0:<modes> <ids> <status>\0<path>\0…`; a move or a copy has two paths, a merge more modes and ids.
 */
export function parseRawDiff(output: string): RawDiffEntry[] {
  const entries: RawDiffEntry[] = [];
  let header = '';
  const fields = output.split('\0').values();
  for (const field of fields) {
    const [, colons, text = ''] = /^\n?(:+)([^:].*)$/.exec(field) ?? [];
    if (colons === undefined) {
      header = field;
      continue;
    }
    const words = text.split(' ');
    const count = colons.length + 1;
    const files = words
      .slice(0, count)
      .map((mode, i) => (mode === '000000' ? null : { mode, id: words[count + i] ?? '' }));
    const status = words[2 * count] ?? '';
    const previousPath = fields.next().value ?? '';
    const path = /^[RC]/.test(status) ? (fields.next().value ?? '') : previousPath;
    entries.push({
      header,
      path,
      previousPath,
      before: files.slice(0, -1),
      after: files.at(-1) ?? null,
      status,
    });
  }
  return entries;
}

/**
 * Returns the entries of a commit at these paths. It goes down level by level, so that git opens each folder once.
 * @param commit null for the empty history
 * @throws {GitError}
 */
export async function findTreeEntries(
  { objects, hash }: Repository,
  commit: string | null,
  paths: readonly string[],
): Promise<Map<string, TreeEntry>> {
  let folders = new Map<string, { id: string; paths: readonly string[] }>(
    commit === null ? [] : [['', { id: `${commit}^{tree}`, paths }]],
  );
  const entries = new Map<string, TreeEntry>();
  while (folders.size > 0) {
    const read = await objects.readTrees([...folders.values()].map(({ id }) => id));
    const below = new Map<string, { id: string; paths: string[] }>();
    for (const [i, [folder, inside]] of [...folders].entries()) {
      const nameIn = (path: string): string => path.slice(folder.length).split('/', 1)[0] ?? '';
      const found = parseTree(read[i] ?? Buffer.alloc(0), hash, new Set(inside.paths.map(nameIn)));
      for (const path of inside.paths) {
        const slash = path.indexOf('/', folder.length);
        const entry = found.get(nameIn(path));
        if (entry === undefined) continue;
        if (slash === -1) entries.set(path, entry);
        else if (toKind(entry.mode) === 'folder') {
          const next = path.slice(0, slash + 1);
          below.set(next, below.get(next) ?? { id: entry.id, paths: [] });
          below.get(next)?.paths.push(path);
        }
      }
    }
    folders = below;
  }
  return entries;
}
