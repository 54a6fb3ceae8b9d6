import { parseTree, toKind, type TreeEntry } from './objects/objects.ts';
import { withoutModulesFile } from './process/run-git.ts';
import type { Repository } from './repository.ts';

/** A file in a tree or the index. */
export interface GitFile {
  /** Octal, as Git writes it: 100644, 100755, 120000 (symbolic link), 160000 (submodule). */
  readonly mode: string;
  /** The blob, or the commit of a submodule. */
  readonly id: string;
}

/** A file, and what it becomes; null where there is none. */
export interface FileChange {
  /** From the top of the repository. */
  readonly path: string;
  readonly before: GitFile | null;
  readonly after: GitFile | null;
}

/** More files differ than are compared: their list would keep the service busy for seconds. */
export class DiffLimitError extends Error {
  constructor(from: string, to: string) {
    super(`${from} and ${to} differ in more than about 250,000 files`);
    this.name = 'DiffLimitError';
  }
}

/** Returns undefined for a DiffLimitError, for a caller that can do without the files. @throws any other error */
export function ignoreDiffLimit(error: unknown): undefined {
  if (!(error instanceof DiffLimitError)) throw error;
}

/**
 * Returns what differs between two commits or trees; a rename is a removal and a new file.
 * @throws {DiffLimitError}
 * @throws {GitError}
 */
export async function diffTrees(repository: Repository, from: string, to: string): Promise<FileChange[]> {
  const args = ['diff-tree', ...rawDiffOptions, '-r', '--no-renames', from, to];
  const output = await repository.run(args, { maxOutputBytes: maxDiffBytes });
  if (Buffer.byteLength(output) > maxDiffBytes) throw new DiffLimitError(from, to);
  return parseRawDiff(output).map(({ path, before: [before = null], after }) => ({ path, before, after }));
}

/** Each file takes about 135. */
const maxDiffBytes = 32 * 1024 * 1024;

/** The options of `git diff`, `diff-tree` and `log` for the output that `parseRawDiff` parses. */
export const rawDiffOptions: readonly string[] = ['--raw', '-z', '--no-abbrev', withoutModulesFile];

/** A file in that output. */
interface RawDiffEntry {
  /** The text before the files: of `log` its format, of `diff-tree --stdin` the commit. */
  readonly header: string;
  readonly path: string;
  /** Where it was; the same as `path` unless it was moved or copied. */
  readonly previousPath: string;
  /** What it was, null where there was none; one for each parent of a merge that is compared with all of them. */
  readonly before: readonly (GitFile | null)[];
  /** What it is now. Its id is zeros where the file is only in the work tree. */
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
    const [, colons, text = ''] = /^\n?(:+)(.*)$/.exec(field) ?? [];
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

/** A file or folder of a commit. */
interface ListedEntry extends TreeEntry {
  /** Relative to the root of the listing. */
  readonly path: string;
}

/** Lists all files of a commit or a tree, in Git's order. @throws {GitError} */
export async function listFiles(repository: Repository, commit: string): Promise<ListedEntry[]> {
  const lines = (await repository.run(['ls-tree', '-r', '-z', commit])).split('\0').slice(0, -1);
  return lines.map((line) => {
    const tab = line.indexOf('\t');
    const [mode = '', , id = ''] = line.slice(0, tab).split(' ');
    return { mode, id, path: line.slice(tab + 1) };
  });
}

/**
 * Returns what a commit has at these paths. It goes down level by level, so that git opens each folder once.
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
