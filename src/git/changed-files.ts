import type { RevisionRange } from './revision-range.ts';
import { runCommandLineGit } from './command-line-git.ts';

/** A file that is not as it was in a revision. Paths are relative to the folder asked about, with `/`. */
export interface ChangedFile {
  /** Where it is now, or where it was when it is gone. */
  readonly path: string;
  /** Where it was; null when it is new. */
  readonly previousPath: string | null;
  /** What it is now. */
  readonly kind: 'file' | 'symlink' | 'submodule' | 'gone';
  /** The Git blob id of its bytes as they were; null when it is new. */
  readonly previousBlob: string | null;
  /** The Git blob id of what it is now; null when it is gone, or lies in the working tree and Git does not know. */
  readonly blob: string | null;
}

/**
 * What differs below `folder` between what a range is compared with and the working tree, committed or not. Below
 * `watched`, a folder in it, files that Git does not know yet are told of too. A file counts as moved when four fifths
 * of it are the same.
 */
export async function changesInWorkTree(
  folder: string,
  { before }: RevisionRange,
  watched: string,
): Promise<ChangedFile[]> {
  const [diff, untracked] = await Promise.all([
    runCommandLineGit(folder, ['diff', ...diffOptions, before, '--']),
    runCommandLineGit(folder, ['ls-files', '--others', '-z', '--', watched]),
  ]);
  const files = parseRawDiff(diff);
  for (const path of untracked.split('\0')) {
    const known = files.get(path);
    // An untracked repository within ours is listed as a folder, with a slash at its end.
    const kind = path.endsWith('/') ? 'submodule' : 'file';
    if (path !== '') files.set(path, { ...added, path, ...known, kind });
  }
  return [...files.values()];
}

/** What differs below `folder` between two commits or trees. Neither the working tree nor the index is looked at. */
export async function changesInTrees(folder: string, before: string, after: string): Promise<ChangedFile[]> {
  const diff = await runCommandLineGit(folder, ['diff', ...diffOptions, before, after, '--']);
  return [...parseRawDiff(diff).values()];
}

const added = { previousPath: null, previousBlob: null, blob: null };

const diffOptions = [
  '--raw',
  '-z',
  '--no-abbrev',
  '--relative',
  '--no-ext-diff',
  '--no-textconv',
  '--ignore-submodules=none',
  '--find-renames=80%',
  '-l1000',
];

/** Takes `:100644 100644 <old> <new> R095\0old path\0new path\0…` apart; the last word on a path counts. */
function parseRawDiff(diff: string): Map<string, ChangedFile> {
  const changes = new Map<string, ChangedFile>();
  const fields = diff.split('\0').values();
  for (const head of fields) {
    const [, mode = '', before = '', after = '', status = ''] = head.split(' ');
    if (!head.startsWith(':')) continue;
    const first = fields.next().value ?? '';
    const path = /^[RC]/.test(status) ? (fields.next().value ?? '') : first;
    const isNew = status.startsWith('A') || status.startsWith('C');
    changes.set(path, {
      path,
      previousPath: isNew ? null : first,
      kind: kindOfMode(mode),
      previousBlob: isNew ? null : before,
      blob: /^0+$/.test(after) ? null : after,
    });
  }
  return changes;
}

/** What an entry of a Git tree with this mode is; 000000 is what Git writes where there is none. */
export function kindOfMode(mode: string): ChangedFile['kind'] {
  return kinds[mode] ?? 'file';
}

const kinds: Readonly<Record<string, ChangedFile['kind']>> = {
  '000000': 'gone',
  '120000': 'symlink',
  '160000': 'submodule',
};
