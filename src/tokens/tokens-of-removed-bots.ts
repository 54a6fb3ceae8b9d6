import type { BotId } from '../bot/id.ts';
import { listChangedBots } from '../catalogue/changes/changed-bots.ts';
import { botsFolder, parsePagePath, parsePlace } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/store/committed-pages.ts';
import type { StateStore } from '../counts/state-store.ts';
import type { BranchConsumer, BranchAdvance } from '../git/branch-feed.ts';
import { readChangeLog } from '../git/change-log.ts';
import type { Repository } from '../git/repository.ts';
import { listFiles } from '../git/tree-listing.ts';
import { formatCount } from '../lib/counted.ts';
import type { Log } from '../lib/log.ts';
import { revokeTokens } from './token-changes.ts';

export interface TokensOfRemovedBotsOptions {
  /** The temporary file for a history. */
  readonly logFile: string;
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
export class TokensOfRemovedBots implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not end the tokens of bots that were removed: ${message}; retrying`;
  readonly ended = 'the tokens of bots that were removed have ended';
  readonly #options: TokensOfRemovedBotsOptions;
  /** The last commit that had the bots in their folder, while later ones have them elsewhere; else undefined. */
  #before: string | null | undefined;

  constructor(options: TokensOfRemovedBotsOptions) {
    this.#options = options;
  }

  /** @throws what Git and the state do, and while the tokens of other machines are not known */
  async handle({ repository, to: tip, steps, signal }: BranchAdvance): Promise<void> {
    this.#ensureStateKnown();
    let before = this.#before;
    const removed = new Map<BotId, number>();
    for (const { from, to, time } of steps) {
      signal.throwIfAborted();
      if (before === undefined) before = from;
      if (await isMovedAway(repository, to)) continue;
      for await (const { id, what } of listChangedBots(repository, before, to))
        // Git's times are whole seconds: to the end of this one.
        if (what === 'removed') removed.set(id, time + 1000);
      before = undefined;
    }
    await this.#end(repository, tip, removed);
    this.#before = before;
  }

  /**
   * A history that was rewritten ends nothing. Where nothing is known of an earlier one, the tokens end of the bots that were
   * ever removed and are not back. @throws as handle
   */
  async rewritten({ repository, from, to, signal }: BranchAdvance): Promise<void> {
    this.#ensureStateKnown();
    this.#before = undefined;
    if (from !== undefined || (await isMovedAway(repository, to))) return;
    const removed = new Map<BotId, number>();
    const all = { from: undefined, to, folder: repository.prefix + botsFolder };
    for await (const { path, after } of readChangeLog(repository, all, this.#options.logFile, signal)) {
      const place = after === null ? parsePagePath(path, repository.prefix) : undefined;
      if (place) removed.set(place.id, 0);
    }
    await this.#end(repository, to, removed);
  }

  #ensureStateKnown(): void {
    if (!this.#options.isStateKnown()) throw new Error('the tokens of all machines are not known yet');
  }

  async #end(repository: Repository, tip: string, removed: ReadonlyMap<BotId, number>): Promise<void> {
    const { state, log } = this.#options;
    if (removed.size === 0) return;
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
