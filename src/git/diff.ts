import { withoutModulesFile } from './process/settings.ts';
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
export interface RawDiffEntry {
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
