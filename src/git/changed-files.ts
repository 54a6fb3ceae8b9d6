import { parseRawDiff, rawDiffOptions, type GitFile } from './diff.ts';
import type { RevisionRange } from './revision-range.ts';
import { toKind } from './objects/tree.ts';
import type { Repository } from './repository.ts';
import { runCommandLineGit } from './process/command-line-git.ts';
import { withoutModulesFile } from './process/settings.ts';

/** A file that differs between two commits or trees. Paths are relative to the folder of the query, with `/`. */
export interface ChangedFile {
  /** Where it is now; where it was if it is gone. */
  readonly path: string;
  /** Where it was; null when it is new. */
  readonly previousPath: string | null;
  /** What it is now. */
  readonly kind: Exclude<ReturnType<typeof toKind>, 'folder'> | 'gone';
  /** The Git id of what it is now, of a submodule that of its commit; null when it is gone. */
  readonly blob: string | null;
}

/**
 * Returns what differs below `folder` between two commits or trees. A file counts as moved when four fifths of it are the same.
 * @throws {ListLimitError}
 */
export async function listTreeChanges(folder: string, before: string, after: string): Promise<ChangedFile[]> {
  const diff = await runLimited(folder, ['diff', ...diffOptions, before, after, '--']);
  return parseRawDiff(diff).map(({ path, previousPath, after, status }) => ({
    path,
    previousPath: /^[AC]/.test(status) ? null : previousPath,
    kind: toFileKind(after),
    blob: after?.id ?? null,
  }));
}

/**
 * Returns the files of a folder that differ from HEAD in the index or the work tree, new files too. Takes a second for
 * 150,000 files, at the lowest priority.
 * @param folder relative to the top of the repository
 * @param signal ends it
 * @throws {GitError}
 */
export async function listUncommittedFiles(
  repository: Repository,
  folder: string,
  signal: AbortSignal,
): Promise<string[]> {
  const output = await repository.run([...status, '--', folder], { background: true, signal });
  return output
    .split('\0')
    .slice(0, -1)
    .map((entry) => entry.slice('XY '.length));
}

const status = '--literal-pathspecs status --porcelain -z --untracked-files=all --no-renames'
  .split(' ')
  .concat(withoutModulesFile);

const diffOptions = [
  ...rawDiffOptions,
  '--relative',
  '--no-ext-diff',
  '--no-textconv',
  '--find-renames=80%',
  '-l1000',
];

function toFileKind(file: GitFile | null): ChangedFile['kind'] {
  const kind = file === null ? 'gone' : toKind(file.mode);
  return kind === 'folder' ? 'file' : kind;
}

/** A version of a file that a commit adds. */
export interface FileVersion extends ChangedFile {
  readonly commit: string;
  readonly blob: string;
}

/**
 * Returns the commits of a range, newest first, and the file versions that they add below `folder`, also those that a
 * later one removes. What a merge takes from a parent counts as that parent's.
 * @throws {ListLimitError}
 */
export async function readChangeHistory(
  folder: string,
  { base, head }: RevisionRange,
): Promise<{ readonly commits: readonly string[]; readonly versions: readonly FileVersion[] }> {
  const output = await runLimited(folder, ['rev-list', `${base}..${head}`, '--']);
  const commits = output.split('\n').slice(0, -1);
  if (commits.length === 0) return { commits, versions: [] };
  const input = commits.map((id) => `${id}\n`).join('');
  const diffs = await runLimited(folder, ['diff-tree', ...historyOptions], input);
  const versions = parseRawDiff(diffs).flatMap(({ header, path, after }) => {
    const kind = toFileKind(after);
    return after === null ? [] : { commit: header.trim(), path, previousPath: null, kind, blob: after.id };
  });
  return { commits, versions };
}

/** A list of files is longer than the limit. */
export class ListLimitError extends Error {
  constructor(limit: string) {
    super(`more than ${limit} are listed`);
    this.name = 'ListLimitError';
  }
}

/** Runs git and returns the list that it prints. @throws {ListLimitError} when that has more than `maxListBytes` */
export async function runLimited(folder: string, args: readonly string[], input?: string): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxListBytes) throw new ListLimitError(`${maxListBytes} bytes`);
    pieces.push(piece);
  };
  await runCommandLineGit(folder, args, { take, ...(input !== undefined && { input }) });
  return Buffer.concat(pieces).toString();
}

/** Bytes of a list of files, commits or file versions; each takes about 100. */
const maxListBytes = 8 * 1024 * 1024;

const historyOptions = [...rawDiffOptions, '--stdin', '-r', '-c', '--root', '--no-renames', '--relative'];
