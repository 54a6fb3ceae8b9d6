import { createReadStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { withoutModulesFile } from './process/run-git.ts';
import type { Repository } from './repository.ts';

/** Returns whether a text is the id of a commit that is here. @throws {GitError} */
export async function isCommit({ objects }: Repository, id: string): Promise<boolean> {
  return (await objects.readOne(`${id}^{commit}`)) !== undefined;
}

/**
 * Returns whether `commit`, a whole id, is in the history of `tip`. A range of `git rev-list` would not tell: it goes by the
 * times of commits, and has too many where the clock of a machine was behind.
 * @throws {GitError} where either is no commit here
 */
export async function hasCommit(repository: Repository, tip: string, commit: string): Promise<boolean> {
  return tip === commit || (await mergeBase(repository, commit, tip)) === commit;
}

/** Returns how many commits the histories of `tips` have that those of `others` lack. @throws {GitError} */
export async function countCommits(
  repository: Repository,
  tips: readonly string[],
  others: readonly string[],
): Promise<number> {
  const excluded = others.map((commit) => `^${commit}`);
  return Number(await repository.run(['rev-list', '--count', ...tips, ...excluded]));
}

/** Returns the last commit that two histories share; undefined where they share none. @throws {GitError} */
export async function mergeBase(repository: Repository, a: string, b: string): Promise<string | undefined> {
  const found = (await repository.run(['merge-base', a, b], { accepts: 1 })).trim();
  return found === '' ? undefined : found;
}

/** Returns the id of the tree of a commit. @throws {GitError} */
export async function readTreeId(repository: Repository, commit: string): Promise<string | undefined> {
  return (await repository.objects.readOne(`${commit}^{tree}`))?.id;
}

/** A file that a commit changed. */
export interface LoggedChange {
  readonly commit: string;
  /** When the commit came into the history, in seconds since the epoch. */
  readonly time: number;
  /** Relative to the top of the repository. */
  readonly path: string;
  /** The blobs; null where there is no regular file. */
  readonly before: string | null;
  readonly after: string | null;
  /**
   * `branch`: of a commit along first parents. `merge`: what a merge among these brings to its first parent. `side`: of another
   * commit, or what a merge takes from no parent.
   */
  readonly line: 'branch' | 'merge' | 'side';
}

/** The commits that changed a folder, those that `to` has and `from` lacks; all of `to` where that is left out. */
export interface LoggedCommits {
  readonly from: string | undefined;
  readonly to: string;
  /** Relative to the top of the repository; must not be user input. */
  readonly folder: string;
}

/**
 * Yields the files below the folder that the commits changed, oldest commit first. A merge has those that it takes from no
 * parent as they are, compared with its first one, and then all files that it changes in that one. The files of the first
 * commits of a shallow clone are left out. Git runs at the lowest priority and writes to a file, which is read piece by piece.
 * @param file the temporary file
 * @param signal ends it
 * @throws {GitError} also when it is ended
 */
export async function* readChangeLog(
  repository: Repository,
  { from, to, folder }: LoggedCommits,
  file: string,
  signal: AbortSignal,
): AsyncGenerator<LoggedChange> {
  const options = { background: true, signal };
  const range = from === undefined ? [to] : [to, `^${from}`];
  const listCommits = async (...args: readonly string[]): Promise<string> =>
    await repository.run(['--literal-pathspecs', 'rev-list', ...args, ...range, '--', folder], options);
  const commits = (await listCommits('--topo-order', '--reverse')).trim();
  if (commits === '') return;
  const rows = (await listCommits('--first-parent', '--reverse', '--parents')).trim().split('\n');
  const branch = rows.map((row) => row.split(' '));
  const onBranch = new Map(branch.map((row) => [row[0], isMerge(row) ? 'merge' : 'branch'] as const));
  const root = existsSync(join(repository.commonDir, 'shallow')) ? [] : ['--root'];
  const args = [...diffTree, ...root, '--', folder];
  try {
    const input = `${listWithMerges(commits.split('\n'), branch).join('\n')}\n`;
    await repository.run(args, { ...options, input, outputFile: file });
    let [commit, time, lastTime] = ['', 0, 0];
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const [, colons, text = '', path = ''] = /^(:+)([^\t]+)\t(.*)$/.exec(line) ?? [];
      if (colons !== undefined) {
        const words = text.split(' ');
        const count = colons.length;
        const blobOf = (i: number): string | null =>
          words[i]?.startsWith('100') ? (words[count + 1 + i] ?? null) : null;
        const line = (count === 1 && onBranch.get(commit)) || 'side';
        yield { commit, time, path, before: blobOf(0), after: blobOf(count), line };
      } else if (line !== '') {
        [commit = ''] = line.split(' ');
        // The clock of another machine made the commit of a branch that was merged later: it may be any.
        time = Math.min(Number(line.slice(commit.length)), Date.now() / 1000);
        if (onBranch.has(commit)) lastTime = time;
        else time = Math.max(time, lastTime);
      }
    }
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Lists commits for `git diff-tree`, and between them the merges along first parents once more: `<merge> <first parent>`, which
 * Git compares alone, and remembers: so the merge itself comes first.
 * @param commits oldest first
 * @param branch the commits along first parents, oldest first, each with its parents
 */
function listWithMerges(commits: readonly string[], branch: readonly (readonly string[])[]): string[] {
  const places = new Map(branch.map(([commit], i) => [commit, i]));
  let next = 0;
  const takeMerges = (end: number): string[] => {
    const taken = branch.slice(next, end).filter(isMerge);
    next = end;
    return taken.map(([commit, parent]) => `${commit} ${parent}`);
  };
  const listed = commits.flatMap((commit) => {
    const place = places.get(commit);
    return place === undefined ? [commit] : [...takeMerges(place), commit, ...takeMerges(place + 1)];
  });
  return [...listed, ...takeMerges(branch.length)];
}

function isMerge([, , second]: readonly string[]): boolean {
  return second !== undefined;
}

const diffTree = '--literal-pathspecs diff-tree --stdin -r -c --raw --no-abbrev --no-renames'
  .split(' ')
  .concat(withoutModulesFile, '--format=%H %ct');
