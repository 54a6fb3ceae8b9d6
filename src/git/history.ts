import { createReadStream, existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseCommitTime } from '../bot/clock.ts';
import { stateRef } from './refs.ts';
import { findBranch, type Repository } from './repository.ts';
import { withoutModulesFile } from './run-git.ts';

/** Returns whether a text is the id of a commit in the repository. @throws {GitError} */
export async function isCommit({ objects }: Repository, id: string): Promise<boolean> {
  return (await objects.readOne(`${id}^{commit}`)) !== undefined;
}

/**
 * Returns whether `ancestor`, a whole id, is `commit` or in its history. A range of `git rev-list` is not reliable: it
 * uses the times of commits, and has too many if the clock of a machine was behind.
 * @throws {GitError} if either is not a commit here
 */
export async function isAncestor(repository: Repository, ancestor: string, commit: string): Promise<boolean> {
  return commit === ancestor || (await mergeBase(repository, ancestor, commit)) === ancestor;
}

/** Counts the commits in the histories of `tips` that are in no history of `others`. @throws {GitError} */
export async function countCommits(
  repository: Repository,
  tips: readonly string[],
  others: readonly string[],
): Promise<number> {
  const excluded = others.map((commit) => `^${commit}`);
  return Number(await repository.run(['rev-list', '--count', ...tips, ...excluded]));
}

/** Returns the last common commit of two histories, or undefined. @throws {GitError} */
export async function mergeBase(repository: Repository, a: string, b: string): Promise<string | undefined> {
  const found = (await repository.run(['merge-base', a, b], { accepts: 1 })).trim();
  return found === '' ? undefined : found;
}

/**
 * Returns the time from which ages are counted when old things are deleted, in milliseconds since the epoch: now, but
 * at most a day after the newest commit of branch and state, so that a clock far ahead deletes nothing in use.
 * @throws {GitError}
 */
export async function readConfirmedTime(repository: Repository): Promise<number> {
  const newest = ['--sort=-committerdate', '--count=1', '--format=%(committerdate:unix)'];
  const refs = [findBranch(repository) ?? [], stateRef].flat();
  const seconds = await repository.run(['for-each-ref', ...newest, ...refs]);
  return seconds === '' ? Date.now() : Math.min(Date.now(), (Number(seconds) + secondsPerDay) * 1000);
}

const secondsPerDay = 86_400;

/** The changes of a commit of a branch. */
export interface BranchStep {
  /** The first parent; null for a root. */
  readonly from: string | null;
  readonly to: string;
  /** The time of the commit `to`; milliseconds since the epoch. */
  readonly time: number;
}

/** Returns the steps between two commits, oldest first; empty if `from` is not in the history of `to`. @throws {GitError} */
export async function listSteps(
  repository: Repository,
  from: string,
  to: string,
): Promise<readonly BranchStep[]> {
  if (from === to) return [];
  // Usually one commit: read without a process.
  const commit = (await repository.objects.readOne(to))?.content.toString() ?? '';
  const [, parent, seconds = ''] =
    /^(?:tree .*\n)parent (.*)\n(?:parent .*\n)*author .*\ncommitter .* (\d+) [+-]\d+\n/.exec(commit) ?? [];
  if (parent === from) return [{ from, to, time: parseCommitTime(seconds) }];
  if (!(await isCommit(repository, from)) || !(await isAncestor(repository, from, to))) return [];
  return await readSteps(repository, ['--first-parent', to, `^${from}`]);
}

/**
 * Yields the steps from a commit to the tip of a branch, each from a commit to the next one along first parents. A
 * commit that is not on that line, such as the tip of a machine before a merge, has one step to the tip. The steps
 * between the same two commits are always the same.
 * @param start must be a commit in the history of the tip
 * @throws {GitError}
 */
export async function* listStepsFrom(
  repository: Repository,
  start: string,
  tip: string,
): AsyncGenerator<BranchStep & { readonly from: string }> {
  for (let from = start; from !== tip;) {
    const range = ['--first-parent', tip, `^${from}`];
    const count = Number(await repository.run(['rev-list', '--count', ...range]));
    // The oldest ones, so that a long history is read piece by piece.
    const line = await readSteps(repository, [`--skip=${Math.max(0, count - maxRead)}`, ...range]);
    const next = line.findIndex((step) => step.from === from);
    const steps = next === -1 ? await readSteps(repository, ['--max-count=1', tip]) : line.slice(next);
    for (const { to, time } of steps) {
      yield { from, to, time };
      from = to;
    }
  }
}

/**
 * Reads the commits that a merge brings to its first parent, oldest first.
 * @param known left out with its history
 * @throws {GitError}
 */
export async function listMergedSteps(
  repository: Repository,
  merge: string,
  known: string | undefined,
): Promise<readonly BranchStep[]> {
  const left = known === undefined ? [] : [`^${known}`];
  return await readSteps(repository, [`${merge}^@`, `^${merge}^1`, ...left]);
}

/** Reads commits, oldest first. */
async function readSteps(repository: Repository, args: readonly string[]): Promise<BranchStep[]> {
  const output = await repository.run(['rev-list', '--reverse', '--parents', '--timestamp', ...args]);
  return output.split('\n').flatMap((text) => {
    const [seconds = '', to, from = null] = text.split(' ');
    return to === undefined ? [] : [{ from, to, time: parseCommitTime(seconds) }];
  });
}

/** Commits that are read together. */
const maxRead = 1000;

/** A file that a commit changed. */
export interface LoggedChange {
  readonly commit: string;
  /** The commit's own time; milliseconds since the epoch. */
  readonly time: number;
  /** Relative to the top of the repository. */
  readonly path: string;
  /** The blobs; null if there is no regular file. */
  readonly before: string | null;
  readonly after: string | null;
  /**
   * `branch`: by a commit on the first-parent line. `merge`: brought by a merge on that line. `side`: by any other commit,
   * or a merge's own resolution.
   */
  readonly line: 'branch' | 'merge' | 'side';
}

/** The commits that changed a folder, in `to` but not in `from`; all of `to` if `from` is left out. */
export interface LoggedCommits {
  readonly from: string | undefined;
  readonly to: string;
  /** Relative to the top of the repository; must not be user input. */
  readonly folder: string;
}

/**
 * Yields the files below the folder that the commits changed, oldest commit first. A merge yields the files in
 * which it differs from every parent (`side`). One along first parents then also yields all files that differ from its
 * first parent (`merge`). The files
 * of the first commits of a shallow clone are left out. Git runs at the lowest priority and writes to a file, which is
 * read piece by piece.
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
  // Without --full-history, Git leaves out a side of a merge that the result takes nothing from, unless a range
  // excludes the other side: then the commits would differ between clones.
  const commits = (await listCommits('--topo-order', '--full-history', '--reverse')).trim();
  if (commits === '') return;
  const rows = (await listCommits('--first-parent', '--reverse', '--parents')).trim().split('\n');
  const branch = rows.map((row) => row.split(' '));
  const onBranch = new Map(branch.map((row) => [row[0], isMerge(row) ? 'merge' : 'branch'] as const));
  const root = existsSync(join(repository.commonDir, 'shallow')) ? [] : ['--root'];
  const args = [...diffTree, ...root, '--', folder];
  try {
    const input = `${listWithMerges(commits.split('\n'), branch).join('\n')}\n`;
    await repository.run(args, { ...options, input, outputFile: file });
    let [commit, time] = ['', 0];
    for await (const line of createInterface({ input: createReadStream(file) })) {
      const [, colons, text = '', path = ''] = /^(:+)([^:\t][^\t]*)\t(.*)$/.exec(line) ?? [];
      if (colons !== undefined) {
        const words = text.split(' ');
        const count = colons.length;
        const blobOf = (i: number): string | null =>
          words[i]?.startsWith('100') ? (words[count + 1 + i] ?? null) : null;
        const line = (count === 1 && onBranch.get(commit)) || 'side';
        yield { commit, time, path, before: blobOf(0), after: blobOf(count), line };
      } else if (line !== '') {
        [commit = ''] = line.split(' ');
        time = parseCommitTime(line.slice(commit.length));
      }
    }
  } finally {
    await rm(file, { force: true });
  }
}

/**
 * Returns the input of `git diff-tree`: the commits, and each merge along first parents a second time as
 * `<merge> <first parent>`, so that Git compares just these two. Git remembers that parent, so the merge alone comes first.
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
