import { setTimeout as sleep } from 'node:timers/promises';
import type { BotId } from '../bot/id.ts';
import { listChangedBots } from '../catalogue/changes/change-index.ts';
import { botsFolder, parsePagePath, parsePlace } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/store/export.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { BranchConsumer, BranchAdvance } from '../git/branch-feed.ts';
import { readChangeLog, listFiles } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import type { Log } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { revokeTokens } from './tokens.ts';

export interface TokensOfRemovedBotsOptions {
  /** The temporary file for a history. */
  readonly logFile: string;
  readonly state: Pick<OpenCounts['state'], 'write'>;
  /** Whether the tokens of all machines are known. */
  readonly isStateKnown: () => boolean;
  readonly log: Log;
}

/**
 * Ends the token of each bot whose last page a commit of the branch removes, also one that was made while the service was
 * stopped and one after which the bot is back. A token that was issued after that commit stays. Reads commits only: files that
 * are missing or cannot be read, another branch that is checked out and a branch that was reset end nothing, nor does a commit
 * that moves the folder of the bots elsewhere.
 */
export class TokensOfRemovedBots implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not end the tokens of bots that were removed: ${message}; retrying`;
  readonly ended = 'the tokens of bots that were removed have ended';
  readonly #options: TokensOfRemovedBotsOptions;

  constructor(options: TokensOfRemovedBotsOptions) {
    this.#options = options;
  }

  /** @throws what Git and the state do */
  async handle(advance: BranchAdvance): Promise<void> {
    const { isStateKnown, state, log } = this.#options;
    const { repository, from, to, signal } = advance;
    while (!isStateKnown()) await sleep(pollMs, undefined, { signal, ref: false });
    const removed = await (from === undefined ? this.#listEverRemoved(advance) : listRemoved(advance));
    if (removed.size === 0) return;
    const ended = await state.write(async (committed) => {
      await committed.refresh();
      const ids: BotId[] = [];
      for (const [id, removedAt] of removed) {
        const { digest = null, at = 0 } = committed.state.token(id) ?? {};
        if (digest === null) continue;
        if (at < removedAt || (await readCommittedPages(repository, to, id)).length === 0) ids.push(id);
      }
      return await revokeTokens(committed, ids, 'the removal of all pages');
    });
    if (ended.length > 0)
      log.info({ bots: ended }, `${formatCount(ended.length, 'token')} ended, as the bots were removed`);
  }

  /** Returns all bots that a history ever removed, at no time, because it may have been rewritten. */
  async #listEverRemoved({ repository, to, signal }: BranchAdvance): Promise<ReadonlyMap<BotId, number>> {
    const removed = new Map<BotId, number>();
    if (await isMovedAway(repository, to)) return removed;
    const all = { from: undefined, to, folder: repository.prefix + botsFolder };
    for await (const { path, after } of readChangeLog(repository, all, this.#options.logFile, signal)) {
      const place = after === null ? parsePagePath(path, repository.prefix) : undefined;
      if (place) removed.set(place.id, 0);
    }
    return removed;
  }
}

/** Milliseconds between two looks whether the tokens are known. */
const pollMs = 200;

/** Returns the bots that commits removed, each with when that was, in milliseconds since the epoch. */
async function listRemoved({
  repository,
  steps,
  signal,
}: BranchAdvance): Promise<ReadonlyMap<BotId, number>> {
  const removed = new Map<BotId, number>();
  for (const { from, to, time } of steps) {
    signal.throwIfAborted();
    if (await isMovedAway(repository, to)) continue;
    const before =
      from && (await isMovedAway(repository, from)) ? await findBeforeMove(repository, from) : from;
    for await (const { id, what } of listChangedBots(repository, before, to))
      // Git's times are whole seconds: to the end of this one.
      if (what === 'removed') removed.set(id, time + 1000);
  }
  return removed;
}

/** Whether a commit has no folder of the bots, but pages of bots elsewhere. */
async function isMovedAway(repository: Repository, commit: string): Promise<boolean> {
  const { objects, prefix } = repository;
  if ((await objects.readOne(`${commit}:${prefix}${botsFolder}`)) !== undefined) return false;
  return (await listFiles(repository, commit)).some(({ path }) => {
    const [name = '', folder = ''] = path.split('/').toReversed();
    return 'id' in parsePlace(folder, name);
  });
}

/** Returns the last commit before one of a history that moved the folder of the bots away. */
async function findBeforeMove(repository: Repository, commit: string): Promise<string | null> {
  const args = ['rev-list', '--first-parent', '--parents', '--max-count=1', commit, '--'];
  const [, parent] = (await repository.run([...args, repository.prefix + botsFolder])).trim().split(' ');
  return parent ?? null;
}
