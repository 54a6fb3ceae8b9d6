import { parseRawDiff, rawDiffOptions, type GitFile } from './diff.ts';
import type { RevisionRange } from './revision-range.ts';
import { toKind } from './objects/tree.ts';
import type { Repository } from './repository.ts';
import { runCommandLineGit } from './process/command-line-git.ts';
import { withoutModulesFile } from './process/settings.ts';

/** A file that differs from a revision. Paths are relative to the folder of the query, with `/`. */
export interface ChangedFile {
  /** Where it is now; where it was if it is gone. */
  readonly path: string;
  /** Where it was; null when it is new. */
  readonly previousPath: string | null;
  /** What it is now. */
  readonly kind: Exclude<ReturnType<typeof toKind>, 'folder'> | 'gone';
  /** The Git blob id of its bytes as they were; null when it is new. */
  readonly previousBlob: string | null;
  /** The Git blob id of what it is now; null when it is gone, or is only in the work tree. */
  readonly blob: string | null;
}

/**
 * Returns what differs below `folder` between what a range is compared with and the work tree, committed or not; below
 * `watched`, files and folders in it, also files that are not tracked. A file counts as moved when four fifths of it are the
 * same.
 * @throws {OutputLimitError}
 */
export async function listWorkTreeChanges(
  folder: string,
  { before }: RevisionRange,
  watched: readonly string[],
): Promise<ChangedFile[]> {
  const [diff, untracked] = await Promise.all([
    runLimited(folder, ['diff', ...diffOptions, before, '--'], maxDiffBytes),
    runCommandLineGit(folder, ['ls-files', '--others', '-z', '--', ...watched]),
  ]);
  const files = parseDiff(diff);
  for (const path of untracked.split('\0')) {
    const known = files.get(path);
    // An untracked repository within ours is listed as a folder, with a slash at its end.
    const kind = path.endsWith('/') ? 'submodule' : 'file';
    if (path !== '') files.set(path, { ...added, path, ...known, kind });
  }
  return [...files.values()];
}

/**
 * Returns what differs below `folder` between two commits or trees. Work tree and index are not read.
 * @throws {OutputLimitError}
 */
export async function listTreeChanges(folder: string, before: string, after: string): Promise<ChangedFile[]> {
  const diff = await runLimited(folder, ['diff', ...diffOptions, before, after, '--'], maxDiffBytes);
  return [...parseDiff(diff).values()];
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

const added = { previousPath: null, previousBlob: null, blob: null };

/** Bytes of the list of changed files; each takes about 135. */
const maxDiffBytes = 8 * 1024 * 1024;

const diffOptions = [
  ...rawDiffOptions,
  '--relative',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--find-renames=80%',
  '-l1000',
];

/** Returns the changed files by path; the last entry of a path counts. */
function parseDiff(diff: string): Map<string, ChangedFile> {
  return new Map(
    parseRawDiff(diff).map(({ path, previousPath, before, after, status }) => {
      const isNew = /^[AC]/.test(status);
      const file: ChangedFile = {
        path,
        previousPath: isNew ? null : previousPath,
        kind: toFileKind(after),
        previousBlob: isNew ? null : (before[0]?.id ?? null),
        blob: after === null || /^0+$/.test(after.id) ? null : after.id,
      };
      return [path, file];
    }),
  );
}

/** Returns the kind of a file of a Git tree or of the work tree. */
function toFileKind(file: GitFile | null): ChangedFile['kind'] {
  const kind = file === null ? 'gone' : toKind(file.mode);
  return kind === 'folder' ? 'file' : kind;
}

/** A version of a file that a commit adds. */
export interface FileVersion extends Pick<ChangedFile, 'path' | 'kind'> {
  readonly commit: string;
  /** The id of its object; for a submodule that of a commit, which need not be here. */
  readonly blob: string;
}

/**
 * Returns the commits of a range, newest first, and the file versions that they add below `folder`, also those that a
 * later one removes. What a merge takes from a parent counts as that parent's.
 * @throws {OutputLimitError} when git prints more than `maxBytes` bytes
 */
export async function readChangeHistory(
  folder: string,
  { base, head }: RevisionRange,
  maxBytes: number,
): Promise<{ readonly commits: readonly string[]; readonly versions: readonly FileVersion[] }> {
  const output = await runLimited(folder, ['rev-list', `${base}..${head}`, '--'], maxBytes);
  const commits = output.split('\n').slice(0, -1);
  if (commits.length === 0) return { commits, versions: [] };
  const input = commits.map((id) => `${id}\n`).join('');
  const diffs = await runLimited(folder, ['diff-tree', ...historyOptions], maxBytes, input);
  const versions = parseRawDiff(diffs).flatMap(({ header, path, after }) => {
    const kind = toFileKind(after);
    return after === null ? [] : { commit: header.trim(), path, kind, blob: after.id };
  });
  return { commits, versions };
}

/** Git printed more than the limit. */
export class OutputLimitError extends Error {
  constructor(maxBytes: number) {
    super(`git printed more than ${maxBytes} bytes`);
    this.name = 'OutputLimitError';
  }
}

async function runLimited(
  folder: string,
  args: readonly string[],
  maxBytes: number,
  input?: string,
): Promise<string> {
  const pieces: Buffer[] = [];
  let length = 0;
  const take = (piece: Buffer): void => {
    length += piece.length;
    if (length > maxBytes) throw new OutputLimitError(maxBytes);
    pieces.push(piece);
  };
  await runCommandLineGit(folder, args, { take, ...(input !== undefined && { input }) });
  return Buffer.concat(pieces).toString();
}

const historyOptions = [...rawDiffOptions, '--stdin', '-r', '-c', '--root', '--no-renames', '--relative'];
