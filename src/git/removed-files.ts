import { readHead } from './refs.ts';
import type { Repository } from './repository.ts';

/** A file that a commit removed. */
export interface RemovedFile {
  /** Relative to the top of the repository. */
  readonly path: string;
  /** The time of the commit, in seconds since the epoch. */
  readonly time: number;
}

/**
 * Yields the files below a folder that commits removed, newest commit first, some commits at a time. Reads all of HEAD's history
 * up to a number of commits, at the lowest priority. A moved file counts as removed. A shallow clone has the removals of
 * its commits.
 * @param folder relative to the top of the repository
 * @param signal ends it
 * @throws {GitError} also when it is ended
 */
export async function* listRemovedFiles(
  repository: Repository,
  folder: string,
  signal: AbortSignal,
): AsyncGenerator<Iterable<RemovedFile>> {
  const head = await readHead(repository);
  if (head === null) return;
  const options = { background: true, signal };
  const output = await repository.run(['rev-list', `--max-count=${maxCommits}`, head], options);
  const commits = output.split('\n').slice(0, -1);
  for (let i = 0; i < commits.length; i += commitsAtOnce) {
    const input = `${commits.slice(i, i + commitsAtOnce).join('\n')}\n`;
    yield parseRemovals(await repository.run([...diffTree, '--', folder], { ...options, input }));
  }
}

/** Reading them takes a minute at most, of a catalogue of 100,000 bots. */
const maxCommits = 100_000;

/** Some tenths of a second, and the memory for what they removed. */
const commitsAtOnce = 1000;

/** Compares a merge with all of its parents: what it takes from one of them is a removal of that parent's history. */
const diffTree =
  '--literal-pathspecs diff-tree --stdin -r -c --no-renames --diff-filter=D --name-only -z --format=%ct'.split(
    ' ',
  );

/** Parses the time of each commit and the paths after it, as they are needed. A merge has an empty field between the two. */
function* parseRemovals(output: string): Generator<RemovedFile> {
  let time = 0;
  for (const [, field = ''] of output.matchAll(/\n?([^\0]*)\0/g)) {
    if (/^\d+$/.test(field)) time = Number(field);
    else if (field !== '') yield { path: field, time };
  }
}
