import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailableError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import type { Token } from '../bot/token.ts';
import type { Log } from '../log.ts';
import { messageOf } from '../system-error.ts';
import type { Holding, StateStore, TokenStanding } from './state-store.ts';

/** The state on the shared Git server; see sync/sync.ts. */
export interface RemoteState {
  /** Whether it was ever fetched into this clone. */
  readonly stateFetched: boolean;
  /** Merges it into ours. @throws {Error} whose message says why it cannot be reached */
  fetchState(): Promise<void>;
  /** Pushes ours, merged with it. @throws {Error} as fetchState */
  pushState(): Promise<void>;
}

/** What became of a change, and whether other machines can know: they cannot while the remote is out of reach. */
export interface Shared<T> {
  readonly done: T;
  readonly shared: boolean;
}

/**
 * The tokens of a service that may be one of several: the remote's state is fetched before a token is issued, ended
 * or refused as unknown, and pushed right after a change.
 */
export class SharedTokens {
  readonly #state: Pick<StateStore, 'holds' | 'tokenStanding' | 'issueToken' | 'revokeToken'>;
  readonly #remote: RemoteState | null;
  readonly #log: Log;
  #fetching: Promise<void> = Promise.resolve();
  #nextFetch: Promise<void> | undefined;
  #fetchBegan = Number.NEGATIVE_INFINITY;
  #waiting = 0;

  constructor(state: StateStore, remote: RemoteState | null, log: Log) {
    this.#state = state;
    this.#remote = remote;
    this.#log = log;
  }

  /** @throws {WritesUnavailableError} when the state ref cannot be read */
  async tokenStanding(id: BotId): Promise<TokenStanding> {
    return await this.#state.tokenStanding(id);
  }

  /**
   * Whether `token` is the one that a bot has to show. One that is not known here may be known elsewhere: then the
   * answer waits until the remote's state was fetched, or could not be.
   * @throws {WritesUnavailableError} when the state ref cannot be read, or the tokens of all bots are not here yet
   */
  async holds(id: BotId, token: Token): Promise<Holding> {
    const holding = await this.#state.holds(id, token);
    if (holding !== 'no' || this.#remote === null) return holding;
    await this.#waitForFetch(this.#remote);
    const now = await this.#state.holds(id, token);
    if (now === 'no' && !this.#remote.stateFetched) throw notFetchedYet();
    return now;
  }

  /**
   * Gives a bot a new token, which ends the one it had.
   * @throws {WritesUnavailableError} when it cannot be committed, or the tokens of all bots are not here yet
   */
  async issueToken(id: BotId): Promise<Shared<Token>> {
    return await share(this.#remote, this.#log, async () => await this.#state.issueToken(id));
  }

  /**
   * Ends a bot's token. Returns whether it had one.
   * @throws {WritesUnavailableError} as issueToken
   */
  async revokeToken(id: BotId): Promise<Shared<boolean>> {
    return await share(this.#remote, this.#log, async () => await this.#state.revokeToken(id));
  }

  /** Resolves when a fetch that began after the call is over, or takes too long. All who wait share one. */
  async #waitForFetch(remote: RemoteState): Promise<void> {
    if (this.#waiting >= mostWaiting)
      throw new WritesUnavailableError('too many tokens are being looked up: try again', { retryAfter: 10 });
    this.#waiting++;
    try {
      this.#nextFetch ??= this.#fetchInTime(remote);
      await within(longestCheck, this.#nextFetch);
    } finally {
      this.#waiting--;
    }
  }

  async #fetchInTime(remote: RemoteState): Promise<void> {
    await this.#fetching;
    await sleep(Math.max(0, this.#fetchBegan + fetchEvery - performance.now()), undefined, { ref: false });
    this.#nextFetch = undefined;
    this.#fetchBegan = performance.now();
    this.#fetching = remote.fetchState().catch((error: unknown) => {
      this.#log.debug({ because: messageOf(error) }, 'a token was looked up without the remote');
    });
    await this.#fetching;
  }
}

/**
 * Changes a token between a fetch of the remote's state and a push of ours. Neither is waited for long: without the
 * remote it is changed all the same, but not before this clone has ever seen the generations of the tokens.
 * @throws {WritesUnavailableError} in that case
 * @throws what `change` does
 */
export async function share<T>(
  remote: RemoteState | null,
  log: Log,
  change: () => Promise<T>,
): Promise<Shared<T>> {
  if (remote === null) return { done: await change(), shared: true };
  const notFetched = await failureOf(remote.fetchState());
  if (!remote.stateFetched) throw notFetchedYet();
  const done = await change();
  const notShared = notFetched ?? (await failureOf(remote.pushState()));
  if (notShared !== undefined)
    log.warn(
      { because: notShared },
      'a token was changed here only: the remote cannot be reached, and gets it later',
    );
  return { done, shared: notShared === undefined };
}

/** Why the remote could not be reached in time; undefined when it was. */
async function failureOf(work: Promise<void>): Promise<string | undefined> {
  const ended = work.then(() => undefined, messageOf);
  return await within(longestTry, ended, 'it did not answer in time');
}

function notFetchedYet(): WritesUnavailableError {
  return new WritesUnavailableError(
    'the tokens of the bots have not been fetched from the shared Git server yet: try again',
    { retryAfter: 10 },
  );
}

/** What `work` resolves to, or `late` after so many milliseconds. */
async function within<T>(time: number, work: Promise<T>, late?: T): Promise<T | undefined> {
  return await Promise.race([work, sleep(time, late, { ref: false })]);
}

/** Milliseconds between the beginnings of two fetches for unknown tokens. */
const fetchEvery = 5000;

/** Milliseconds that an unknown token waits for a fetch: less than posting libraries wait for an answer. */
const longestCheck = 8000;

/** Milliseconds that the change of a token waits for a fetch, and again for a push. */
const longestTry = 5000;

/** Requests that may wait for a fetch at the same time. */
const mostWaiting = 1000;
