import { parseRawDiff, rawDiffOptions } from './diff.ts';
import type { RevisionRange } from './revision-range.ts';
import type { GitFile } from './diff.ts';
import { toKind } from './objects/tree.ts';
import { runCommandLineGit } from './process/command-line-git.ts';

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
 */
export async function listWorkTreeChanges(
  folder: string,
  { before }: RevisionRange,
  watched: readonly string[],
): Promise<ChangedFile[]> {
  const [diff, untracked] = await Promise.all([
    runCommandLineGit(folder, ['diff', ...diffOptions, before, '--']),
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

/** Returns what differs below `folder` between two commits or trees. Work tree and index are not read. */
export async function listTreeChanges(folder: string, before: string, after: string): Promise<ChangedFile[]> {
  const diff = await runCommandLineGit(folder, ['diff', ...diffOptions, before, after, '--']);
  return [...parseDiff(diff).values()];
}

const added = { previousPath: null, previousBlob: null, blob: null };

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
export function toFileKind(file: GitFile | null): ChangedFile['kind'] {
  const kind = file === null ? 'gone' : toKind(file.mode);
  return kind === 'folder' ? 'file' : kind;
}
