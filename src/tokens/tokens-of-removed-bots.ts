import { readFile } from 'node:fs/promises';
import type { BotId } from '../bot/id.ts';
import { listChangedBots } from '../catalogue/changes/changed-bots.ts';
import { botsFolder, parsePagePath, parsePlace } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/store/committed-pages.ts';
import type { StateStore } from '../counts/state-store.ts';
import { BranchFollower } from '../git/branch-follower.ts';
import { listBranchSteps } from '../git/branch-steps.ts';
import { readChangeLog } from '../git/change-log.ts';
import { hasCommit, isCommit } from '../git/history.ts';
import { readRef } from '../git/refs.ts';
import { findBranch, type Repository, type RepositoryOpener } from '../git/repository.ts';
import { listFiles } from '../git/tree-listing.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import { formatCount } from '../lib/counted.ts';
import type { Log } from '../lib/log.ts';
import { revokeTokens } from './token-changes.ts';

export interface TokensOfRemovedBotsOptions {
  /** The file that keeps the branch, and its commit up to which tokens have ended. */
  readonly file: string;
  readonly repositoryOpener: RepositoryOpener;
  readonly state: Pick<StateStore, 'write'>;
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
export class TokensOfRemovedBots extends BranchFollower {
  readonly #options: TokensOfRemovedBotsOptions;
  #branch: string | undefined;
  #done: string | undefined;
  /** The branch, and its commit that has the bots elsewhere. */
  #moved: string | undefined;

  constructor(options: TokensOfRemovedBotsOptions) {
    super({
      ...options,
      failed: (message) => `could not end the tokens of bots that were removed: ${message}; retrying`,
      ended: 'the tokens of bots that were removed have ended',
    });
    this.#options = options;
  }

  /** Looks at the branch once. @throws what Git and the state do; then the next look does all of it */
  override async look(): Promise<void> {
    const { file, repositoryOpener, isStateKnown, state, log } = this.#options;
    if (!isStateKnown()) return;
    const repository = await repositoryOpener.open();
    this.#branch ??= findBranch(repository);
    const tip = this.#branch === undefined ? null : await readRef(repository, this.#branch);
    const now = `${this.#branch} ${tip}`;
    if (tip === null || now === this.#done || now === this.#moved) return;
    if (await isMovedAway(repository, tip)) return void (this.#moved = now);
    // A power loss may have emptied it.
    this.#done ??= (await readFile(file, 'utf8').catch(() => undefined)) || undefined;
    const removed = await this.#listRemoved(repository, tip);
    const ended = await state.write(async (committed) => {
      await committed.refresh();
      const ids: BotId[] = [];
      for (const [id, removedAt] of removed) {
        const { digest = null, at = 0 } = committed.state.token(id) ?? {};
        if (digest === null) continue;
        if (at < removedAt || (await readCommittedPages(repository, tip, id)).length === 0) ids.push(id);
      }
      return await revokeTokens(committed, ids, 'the removal of all pages');
    });
    if (ended.length > 0)
      log.info({ bots: ended }, `${formatCount(ended.length, 'token')} ended, as the bots were removed`);
    await writeAtomically(file, now, { fsync: 'content' });
    this.#done = now;
  }

  /**
   * Returns the bots that were removed since the last look, each with when that was, in milliseconds since the epoch. Without a
   * look before, those that were ever removed, at no time, as a history may have been rewritten; nothing on a new branch.
   */
  async #listRemoved(repository: Repository, tip: string): Promise<ReadonlyMap<BotId, number>> {
    const removed = new Map<BotId, number>();
    if (this.#done === undefined) {
      const { prefix } = repository;
      const all = { from: undefined, to: tip, folder: prefix + botsFolder };
      const log = `${this.#options.file}.log`;
      for await (const { path, after } of readChangeLog(repository, all, log, this.signal)) {
        const place = after === null ? parsePagePath(path, prefix) : undefined;
        if (place) removed.set(place.id, 0);
      }
      return removed;
    }
    let [branch, from = ''] = this.#done.split(' ');
    if (branch !== this.#branch || !(await isCommit(repository, from))) return removed;
    if (!(await hasCommit(repository, tip, from))) return removed;
    for await (const { to, time } of listBranchSteps(repository, from, tip)) {
      this.signal.throwIfAborted();
      if (await isMovedAway(repository, to)) continue;
      for await (const { id, what } of listChangedBots(repository, from, to))
        // Git's times are whole seconds: to the end of this one.
        if (what === 'removed') removed.set(id, time + 1000);
      from = to;
    }
    return removed;
  }
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
