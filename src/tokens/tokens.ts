import { setTimeout as sleep } from 'node:timers/promises';
import { computeTimeAfter } from '../bot/clock.ts';
import { toOneLine } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { createToken, type Token, type TokenDigest, computeDigest, isSameDigest } from '../bot/token.ts';
import { listChangedBots } from '../catalogue/changes/change-feed.ts';
import { isPage } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/page/page-file.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { CommittedState, StateChange } from '../counts/state-ref.ts';
import { maxGeneration, type State } from '../counts/state.ts';
import type { BranchConsumer, BranchAdvance } from '../git/branch/feed.ts';
import type { Clone } from '../git/branch/clone.ts';
import type { BranchStep } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { stateRef } from '../git/refs.ts';
import { BotshelfError, messageOf } from '../lib/errors.ts';
import { type Health, listFaults } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { type Client, findFullShare, toClient } from '../lib/network.ts';
import { tryRemote } from '../lib/retry.ts';
import { createFullError } from '../lib/serial-queue.ts';
import { formatCount } from '../lib/text.ts';

/** The person or account that changes a token, and how much is known about tokens of other machines. */
export interface TokenChanger {
  /** A person or account, for the subject of the commit, such as `account 190519304972664832`. */
  readonly name: string;
  /** The tokens that were fetched from the remote: all, those of an earlier fetch, or none yet. */
  readonly known: keyof typeof generationSteps;
}

/**
 * The number by which a revocation raises the generation of a token, by what is known: it must exceed those of all
 * tokens that other machines may have issued meanwhile.
 */
const generationSteps = { all: 1, earlier: 1000, none: 1_000_000 } as const;

/**
 * Issues a new token to a bot and revokes the previous one. The new token's digest is committed when this resolves.
 * @throws {BotshelfError} unavailable, when the remote's state was never fetched: the generation of the token is unknown;
 * or when the previous one has the last generation
 * @throws what the state ref does when it cannot be read or written
 */
export async function issueToken(committed: CommittedState, id: BotId, by: TokenChanger): Promise<Token> {
  if (by.known === 'none') throw createNotFetchedError();
  const token = createToken();
  const digest = computeDigest(token);
  const subject = formatSubject(`Issue a token to ${id}`, by);
  await committed.commit(() => createTokenChange(committed.state, id, digest, 1), subject);
  return token;
}

/**
 * Revokes the tokens of bots in one commit. Returns the bots that had one; all of them if other machines may have issued
 * tokens that are not known here, which are revoked too.
 * @throws what the state ref does when it cannot be read or written
 */
export async function revokeTokens(
  committed: CommittedState,
  ids: readonly BotId[],
  by: TokenChanger,
): Promise<readonly BotId[]> {
  let revoked: readonly BotId[] = [];
  const plan = (): StateChange => {
    revoked = by.known === 'all' ? ids.filter((id) => committed.state.hasToken(id)) : ids;
    const step = generationSteps[by.known];
    return new Map(revoked.flatMap((id) => [...createTokenChange(committed.state, id, null, step)]));
  };
  await committed.commit(plan, () =>
    formatSubject(`Revoke the ${revoked.length === 1 ? 'token' : 'tokens'} of ${revoked.join(', ')}`, by),
  );
  return revoked;
}

function formatSubject(change: string, by: TokenChanger): string {
  return `${change}, by ${toOneLine(by.name)}`;
}

function createTokenChange(
  state: State,
  id: BotId,
  digest: TokenDigest | null,
  generationStep: number,
): StateChange {
  const known = state.token(id);
  const generation = Math.min((known?.generation ?? 0) + generationStep, maxGeneration);
  // A revocation of the same generation counts; a token would not.
  if (generation === known?.generation && digest !== null)
    throw new BotshelfError(
      'unavailable',
      `${id} can have no other token, because tokenGen of its line in ${stateRef} is the largest one: stop all machines, and set the ref to an older commit`,
    );
  return new Map([[id, { token: { digest, at: computeTimeAfter(known?.at), generation } }]]);
}

/**
 * Whether a token is valid for a bot, belongs to another bot, or is unknown. An unchecked one is unknown here, and the
 * remote's state, which may have it, was not fetched in time.
 */
export type TokenCheck = 'valid' | 'other bot' | 'unknown' | 'unchecked';

/** The status of a bot's token. Times are milliseconds since the epoch. */
export interface TokenInfo {
  /** When it was issued; undefined when the bot has no token. */
  readonly issuedAt: number | undefined;
  /** When it was last used, as far as known: a restart forgets uses that changed no count. */
  readonly lastUsed: number | undefined;
}

/** The result of a change of a token. */
export interface TokenChange<T> {
  readonly result: T;
  /** Whether the remote's state was fetched before. */
  readonly fetched: boolean;
  /** Whether it was fetched, and the change was pushed: not while the remote is unreachable. */
  readonly shared: boolean;
}

/** The state ref of the remote; see sync/sync.ts. */
export interface RemoteState {
  /** Whether it was ever fetched into this clone. */
  readonly stateFetched: boolean;
  /** Fetches it and merges it into the local one. @throws {Error} whose message says why it cannot be reached */
  fetchState(): Promise<void>;
  /** Pushes the local one, merged with the remote's. @throws {Error} as fetchState */
  pushState(): Promise<void>;
}

/**
 * The tokens of a service that may be one of several: the remote's state is fetched before a token is issued, revoked
 * or refused as unknown, and pushed right after a change.
 */
export class Tokens {
  readonly #state: OpenCounts['state'];
  readonly #lastUsed = new Map<BotId, number>();
  readonly #remote: RemoteState | null;
  readonly #log: Log;
  readonly #fetchEvery: number;
  #fetching: Promise<unknown> = Promise.resolve();
  #nextFetch: Promise<boolean> | undefined;
  #fetchBegan = Number.NEGATIVE_INFINITY;
  /** The client of each check that waits for a fetch. */
  #waiting: readonly Client[] = [];

  /** @param fetchEvery milliseconds between the beginnings of two fetches for unknown tokens */
  constructor(state: OpenCounts['state'], remote: RemoteState | null, log: Log, fetchEvery = 5000) {
    this.#state = state;
    this.#remote = remote;
    this.#log = log;
    this.#fetchEvery = fetchEvery;
  }

  /**
   * Returns whether `token` is the current token of a bot. One that is unknown here may have been issued elsewhere: it is
   * checked again after a fetch of the remote's state.
   * @param address of the client: few unknown tokens of one address group are looked up at the same time
   * @throws {BotshelfError} unavailable, when the state ref cannot be read; share-full, when too many are looked up
   */
  async checkToken(id: BotId, token: Token, address = ''): Promise<TokenCheck> {
    return await this.#lookUp(async () => await this.#checkHere(id, token), address);
  }

  /**
   * Returns the bot with this current token; without one, the result of checkToken.
   * @param address as that of checkToken
   * @throws {BotshelfError} as checkToken
   */
  async findHolder(token: Token, address: string): Promise<{ holder: BotId } | 'unknown' | 'unchecked'> {
    const digest = computeDigest(token);
    const find = async (): Promise<{ holder: BotId } | 'unknown'> => {
      await this.#state.follow();
      const holder = this.#state.tokens.holder(digest);
      return holder === undefined ? 'unknown' : { holder };
    };
    return await this.#lookUp(find, address);
  }

  /**
   * Returns the status of a bot's token.
   * @throws {BotshelfError} unavailable, when the tokens cannot be read, or were never fetched
   */
  async tokenInfo(id: BotId): Promise<TokenInfo> {
    await this.#state.follow();
    const token = this.#state.tokens.token(id);
    if (token === undefined && this.#remote?.stateFetched === false) throw createNotFetchedError();
    if (token === undefined || token.digest === null) return { issuedAt: undefined, lastUsed: undefined };
    const uses = [this.#lastUsed.get(id), this.#state.latest(id)?.at].filter((at) => at !== undefined);
    const lastUsed = Math.max(...uses);
    return { issuedAt: token.at, lastUsed: lastUsed >= token.at ? lastUsed : undefined };
  }

  /**
   * Issues a new token to a bot and revokes the previous one. The token's digest is committed when this resolves.
   * @param name as that of a TokenChanger
   * @throws {BotshelfError} unavailable, when it cannot be committed, or the remote's state was never fetched
   */
  async issueToken(id: BotId, name: string): Promise<TokenChange<Token>> {
    const issue = async (committed: CommittedState, by: TokenChanger): Promise<Token> =>
      await issueToken(committed, id, by);
    return await this.#change(id, name, issue, 'issued a token to');
  }

  /**
   * Revokes a bot's token. The result is whether it had one, or may have had one that is not known here.
   * @throws {BotshelfError} unavailable, when that cannot be committed
   */
  async revokeToken(id: BotId, name: string): Promise<TokenChange<boolean>> {
    const revoke = async (committed: CommittedState, by: TokenChanger): Promise<boolean> =>
      (await revokeTokens(committed, [id], by)).length > 0;
    return await this.#change(id, name, revoke, 'revoked the token of');
  }

  async #change<T>(
    id: BotId,
    name: string,
    change: (committed: CommittedState, by: TokenChanger) => Promise<T>,
    done: string,
  ): Promise<TokenChange<T>> {
    return await changeToken(this.#remote, this.#log, name, async (by) => {
      const result = await this.#state.write(async (committed) => await change(committed, by));
      this.#lastUsed.delete(id);
      if (result !== false) this.#log.info({ bots: [id] }, `${done} ${id}, by ${toOneLine(name)}`);
      return result;
    });
  }

  /** Checks a token as any process had committed it to this clone 5 ms ago. */
  async #checkHere(id: BotId, token: Token): Promise<TokenCheck> {
    await this.#state.follow();
    const digest = computeDigest(token);
    const current = this.#state.tokens.token(id)?.digest ?? null;
    if (current !== null && isSameDigest(current, digest)) {
      this.#lastUsed.set(id, Date.now());
      return 'valid';
    }
    return this.#state.tokens.holder(digest) === undefined ? 'unknown' : 'other bot';
  }

  /** Returns what `check` does, again after a fetch if the token is unknown here. */
  async #lookUp<T>(
    check: () => Promise<T | 'unknown'>,
    address: string,
  ): Promise<T | 'unknown' | 'unchecked'> {
    const first = await check();
    if (first !== 'unknown' || this.#remote === null) return first;
    const isFetched = await this.#waitForFetch(this.#remote, toClient(address));
    const again = await check();
    return again === 'unknown' && !isFetched ? 'unchecked' : again;
  }

  /**
   * Waits for a fetch that begins after the call. Returns whether it succeeded: false if it takes too long, and
   * immediately if too many callers wait. All waiting callers share one fetch.
   * @throws {BotshelfError} share-full, if too many of the client wait
   */
  async #waitForFetch(remote: RemoteState, client: Client): Promise<boolean> {
    const full = findFullShare(client, this.#waiting, maxWaitingChecks, maxWaitingChecksPerClient);
    if (full !== undefined) throw createFullError('share-full', full);
    if (this.#waiting.length >= maxWaitingChecks) return false;
    this.#waiting = [...this.#waiting, client];
    try {
      this.#nextFetch ??= this.#fetchInTime(remote);
      return await Promise.race([this.#nextFetch, sleep(maxCheckMs, false, { ref: false })]);
    } finally {
      this.#waiting = this.#waiting.toSpliced(this.#waiting.indexOf(client), 1);
    }
  }

  async #fetchInTime(remote: RemoteState): Promise<boolean> {
    await this.#fetching;
    await sleep(Math.max(0, this.#fetchBegan + this.#fetchEvery - performance.now()), undefined, {
      ref: false,
    });
    this.#nextFetch = undefined;
    this.#fetchBegan = performance.now();
    const fetching = remote.fetchState().then(
      () => true,
      (error: unknown) => {
        this.#log.debug({ because: messageOf(error) }, 'unknown tokens could not be checked with the remote');
        return false;
      },
    );
    this.#fetching = fetching;
    return await fetching;
  }
}

/**
 * Fetches the remote's state, changes tokens and pushes the change, each with a short time limit. Without the remote the
 * tokens are changed here only.
 * @param name as that of a TokenChanger
 * @throws what `change` does
 */
export async function changeToken<T>(
  remote: RemoteState | null,
  log: Log,
  name: string,
  change: (by: TokenChanger) => Promise<T>,
): Promise<TokenChange<T>> {
  const notFetched = await tryRemote(remote?.fetchState());
  const fetched = notFetched === undefined;
  const result = await change({ name, known: fetched ? 'all' : remote?.stateFetched ? 'earlier' : 'none' });
  const notShared = notFetched ?? (await tryRemote(remote?.pushState()));
  if (notShared !== undefined)
    log.warn(
      { because: notShared },
      'a token was changed on this machine, and the remote does not have it yet: it is pushed later',
    );
  return { result, fetched, shared: notShared === undefined };
}

function createNotFetchedError(): BotshelfError {
  return new BotshelfError(
    'overloaded',
    'the tokens of the bots have not been fetched from the shared Git server yet: try again',
  );
}

/** Milliseconds that the check of an unknown token waits for a fetch: less than posting libraries wait for a response. */
const maxCheckMs = 8000;

/** Checks that may wait for a fetch at the same time: one client leaves room for the others. */
const maxWaitingChecks = 1000;
const maxWaitingChecksPerClient = 100;

/** The tokens of a service. */
export interface OpenTokens {
  readonly tokens: Tokens;
  health(): Health;
  /** Starts to revoke the tokens of removed bots. */
  start(): void;
}

interface OpenTokensOptions extends Pick<Clone, 'branch'> {
  readonly config: { readonly readOnly: object | null };
  readonly state: OpenCounts['state'];
  /** Null if there is no remote. */
  readonly sync: RemoteState | null;
  readonly log: Log;
}

export function openTokens({ config, state, sync, branch, log }: OpenTokensOptions): OpenTokens {
  const tokens = new Tokens(state, sync, log);
  // A copy has the state of its original.
  if (config.readOnly) return { tokens, health: () => ({}), start() {} };
  const ofRemovedBots = new TokensOfRemovedBots({ state, remote: sync, log });
  branch.add(ofRemovedBots);
  const health = (): Health => ({ state: { ready: true, faults: listFaults(ofRemovedBots.fault()) } });
  return { tokens, health, start: () => branch.start(ofRemovedBots) };
}

export interface TokensOfRemovedBotsOptions {
  readonly state: Pick<OpenCounts['state'], 'write' | 'tokens'>;
  /** Null if there is no remote. */
  readonly remote: Pick<RemoteState, 'stateFetched' | 'fetchState'> | null;
  readonly log: Log;
}

/**
 * Revokes the token of each bot whose last page a step of the branch takes, even if the service was stopped then, or a
 * later step restores the bot. A token that was issued after that step stays. Nothing else revokes a token: no missing
 * or unreadable file, no other branch, no rewrite, no new clone, and no step that takes more than half of all bots,
 * such as one that moves their folder.
 */
export class TokensOfRemovedBots implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not revoke the tokens of removed bots: ${message}; retrying`;
  readonly ended = 'the tokens of bots that were removed have ended';
  readonly #options: TokensOfRemovedBotsOptions;
  /** The bots of steps that took more than half of all bots, unless they are back. */
  readonly #spared = new Set<BotId>();

  constructor(options: TokensOfRemovedBotsOptions) {
    this.#options = options;
  }

  /** Returns a message if tokens still work although a step took their bots; null otherwise. */
  fault(): string | null {
    const { tokens } = this.#options.state;
    const left = [...this.#spared].filter((id) => (tokens.token(id)?.digest ?? null) !== null);
    if (left.length === 0) return null;
    return `a commit removed more than half of the bots, so their tokens did not end (${left.length} left): restore the bots, or run "botshelf revoke" with the ids of those that stay removed, such as ${left[0]}`;
  }

  /** @throws what Git and the state do */
  async handle({ repository, to, steps, signal }: BranchAdvance): Promise<void> {
    const { remote, state, log } = this.#options;
    const removed = new Map<BotId, number>();
    for (const step of steps) {
      signal.throwIfAborted();
      // Git's times are whole seconds, so this includes the end of the second.
      for (const id of await this.#listRemoved(repository, step)) removed.set(id, step.time + 1000);
    }
    if (removed.size === 0) return;
    const isNothingKnown = (): boolean => remote?.stateFetched === false;
    while (isNothingKnown()) await sleep(pollMs, undefined, { signal, ref: false });
    const isFetched = (await tryRemote(remote?.fetchState())) === undefined;
    signal.throwIfAborted();
    const ended = await state.write(async (committed) => {
      await committed.refresh();
      const ids: BotId[] = [];
      for (const [id, removedAt] of removed) {
        const { digest = null, at = 0 } = committed.state.token(id) ?? {};
        if (digest === null && isFetched) continue;
        const files = await readCommittedPages(repository, to, id);
        const isOlder = digest !== null && at < removedAt;
        if (isOlder || !files.some(({ place }) => isPage(place))) ids.push(id);
      }
      const known = isFetched ? 'all' : 'earlier';
      return await revokeTokens(committed, ids, { name: 'the removal of all pages', known });
    });
    if (ended.length > 0)
      log.info({ bots: ended }, `revoked ${formatCount(ended.length, 'token')} of removed bots`);
  }

  /** Returns the bots whose last page a step takes; an empty list if these are more than half of all. */
  async #listRemoved(repository: Repository, { from, to }: BranchStep): Promise<readonly BotId[]> {
    const removed: BotId[] = [];
    for await (const { id, what } of listChangedBots(repository, from, to))
      if (what === 'removed') removed.push(id);
      else this.#spared.delete(id);
    if (removed.length === 0 || (await hasBots(repository, from, 2 * removed.length))) return removed;
    for (const id of removed) this.#spared.add(id);
    const fault = this.fault();
    if (fault !== null) this.#options.log.warn({ commit: to }, fault);
    return [];
  }
}

/** Milliseconds between two checks whether the tokens are known. */
const pollMs = 200;

/** Returns whether a commit has so many bots. */
async function hasBots(repository: Repository, commit: string | null, many: number): Promise<boolean> {
  let count = 0;
  if (commit !== null)
    for await (const _ of listChangedBots(repository, null, commit)) if (++count === many) return true;
  return false;
}
