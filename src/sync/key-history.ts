import { isDeepStrictEqual } from 'node:util';
import { maxLeadMs, parseCommitTime } from '../bot/clock.ts';
import { type GitFile, parseRawDiff, rawDiffOptions } from '../git/trees.ts';
import type { Repository } from '../git/repository.ts';
import { readPageData } from './key-merge.ts';

/**
 * The writer of a key's value: a person by a commit, or an owner by a post at a time in milliseconds since the epoch.
 */
export type KeyWriter = { readonly by: 'person' } | { readonly by: 'post'; readonly at: number };

interface PageCommit {
  /** The number of parents; 1 for a root, which Git compares with nothing. */
  readonly parents: number;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The bots that the commit names, if a service made it for owners. */
  readonly bots: readonly string[];
  /** The page, and the different ones of its parents. */
  readonly after: GitFile | null;
  readonly before: (GitFile | null)[];
}

/** Path → the commits that changed the page, by id, newest first. */
export type PageHistory = ReadonlyMap<string, ReadonlyMap<string, PageCommit>>;

/**
 * Reads the commits of `tip` that none of `others` has and that changed one of these pages.
 * @param pages the paths of the pages, and those from which they were moved → their path
 * @throws {GitError}
 */
export async function readPageHistory(
  repository: Repository,
  tip: string,
  others: readonly string[],
  pages: ReadonlyMap<string, string>,
): Promise<PageHistory> {
  const input = [tip, ...others.map((other) => `^${other}`), '--', ...pages.keys(), ''].join('\n');
  return parseLog(await repository.run(log, { input }), pages);
}

/**
 * Returns who last set a key of a bot's page to a value. Undefined if no commit of this side did: then the value at its
 * tip is older than the divergence.
 * @throws {GitError}
 */
export async function findKeyWriter(
  repository: Repository,
  history: PageHistory,
  { path, bot, key, value }: { path: string; bot: string; key: string; value: unknown },
): Promise<KeyWriter | undefined> {
  for (const { parents, time, bots, after, before } of history.get(path)?.values() ?? []) {
    // A merge that has the file of one of its parents did not change it.
    if (before.length < parents) continue;
    const [page, ...others] = await Promise.all(
      [after, ...before].map(async (file) => await readPageData(repository, path, file?.id)),
    );
    if (page === undefined || !isDeepStrictEqual(page[key], value)) continue;
    if (others.some((data) => data !== undefined && isDeepStrictEqual(data[key], value))) continue;
    if (!bots.includes(bot)) return { by: 'person' };
    const { edited } = page;
    // A post raises `edited`, but not to its own time after a clock that was ahead, or with the values of a revert.
    const isPosted =
      typeof edited === 'number' &&
      edited <= time + maxLeadMs &&
      !others.some((data) => Number(data?.['edited']) >= edited);
    return { by: 'post', at: isPosted ? edited : time };
  }
  return undefined;
}

/**
 * The bots in the trailers of a commit of a service; empty for a commit of a person, with a command or without. A service
 * writes its commits with one identity and one time: a commit that a person has amended, picked or rebased has two, and is
 * that person's.
 */
function parseUpdatedBots([author, committer, bots = '', changedBy]: readonly string[]): readonly string[] {
  return author === committer && bots !== '' && changedBy === '' ? bots.split(',') : [];
}

const logOptions = '--stdin --topo-order --full-history --root --no-show-signature --no-color -m';

const log = [
  '--literal-pathspecs',
  'log',
  ...logOptions.split(' '),
  ...rawDiffOptions,
  // A page that was moved may be in another language, with few lines that stay.
  '--find-renames=1%',
  '--format=%H%n%P%n%ct%n%an <%ae> %at%n%cn <%ce> %ct%n%(trailers:key=Bot,valueonly,separator=%x2C)%n%(trailers:key=Changed-by,valueonly,separator=%x2C)',
];

/** Git prints a merge once for each parent that it differs from. */
function parseLog(text: string, pages: ReadonlyMap<string, string>): PageHistory {
  const commits = new Map<string, Map<string, PageCommit>>();
  for (const { header, path: name, previousPath, before, after } of parseRawDiff(text)) {
    const path = pages.get(name) ?? name;
    // The page of a bot that is removed looks like that of another one.
    const isSame = pages.get(previousPath) === path;
    const [id = '', parents = '', time = '', ...marks] = header.split('\n');
    const ofPath = commits.get(path) ?? new Map<string, PageCommit>();
    const commit = ofPath.get(id) ?? {
      parents: parents.split(' ').length,
      time: parseCommitTime(time),
      bots: parseUpdatedBots(marks),
      after,
      before: [],
    };
    commit.before.push(...(isSame ? before : [null]));
    commits.set(path, ofPath.set(id, commit));
  }
  return commits;
}
