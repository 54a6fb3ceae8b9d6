import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { computeTimeAfter } from '../bot/clock.ts';
import { toOneLine } from '../bot/commit-message.ts';
import type { BotId } from '../bot/id.ts';
import { createToken, type Token, type TokenDigest, computeDigest, isSameDigest } from '../bot/token.ts';
import { listChangedBots } from '../catalogue/changes/change-index.ts';
import { botsFolder, isPage, parsePagePath, parsePlace } from '../catalogue/page/layout.ts';
import { readCommittedPages } from '../catalogue/store/bot-reader.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { CommittedState, StateChange } from '../counts/state-ref.ts';
import type { State } from '../counts/state.ts';
import type { BranchFeed, BranchConsumer, BranchAdvance } from '../git/branch-feed.ts';
import { readChangeLog, listFiles } from '../git/history.ts';
import type { Repository } from '../git/repository.ts';
import { BotshelfError, messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { type Client, findFullShare, toClient } from '../lib/network.ts';
import { tryRemote } from '../lib/retry.ts';
import { formatCount } from '../lib/text.ts';

/** The person or account that changes a token, for the subject of the commit, such as `account 190519304972664832`. */
export type TokenChanger = string;

/**
 * Issues a new token to a bot and revokes the previous one. The new token's digest is committed when this resolves.
 * @throws what the state ref does when it cannot be read or written
 */
export async function issueToken(committed: CommittedState, id: BotId, by: TokenChanger): Promise<Token> {
  const token = createToken();
  const digest = computeDigest(token);
  const subject = formatSubject(`Issue a token to ${id}`, by);
  await committed.commit(() => createTokenChange(committed.state, id, digest), subject);
  return token;
}

/**
 * Revokes a bot's token. Returns whether it had one.
 * @throws what the state ref does when it cannot be read or written
 */
export async function revokeToken(committed: CommittedState, id: BotId, by: TokenChanger): Promise<boolean> {
  return (await revokeTokens(committed, [id], by)).length > 0;
}

/**
 * Revokes the tokens of bots in one commit. Returns the bots that had one.
 * @throws what the state ref does when it cannot be read or written
 */
export async function revokeTokens(
  committed: CommittedState,
  ids: readonly BotId[],
  by: TokenChanger,
): Promise<readonly BotId[]> {
  const what = ids.length === 1 ? `the token of ${ids[0]}` : `the tokens of ${ids.length} bots`;
  let revoked: readonly BotId[] = [];
  const plan = (): StateChange => {
    revoked = ids.filter((id) => committed.state.hasToken(id));
    return new Map(revoked.flatMap((id) => [...createTokenChange(committed.state, id, null)]));
  };
  await committed.commit(plan, formatSubject(`Revoke ${what}`, by));
  return revoked;
}

function formatSubject(change: string, by: TokenChanger): string {
  return `${change}, by ${toOneLine(by)}`;
}

function createTokenChange(state: State, id: BotId, digest: TokenDigest | null): StateChange {
  const known = state.token(id);
  const generation = (known?.generation ?? 0) + 1;
  return new Map([[id, { token: { digest, at: computeTimeAfter(known?.at), generation } }]]);
}

/** Whether a token is valid for a bot, belongs to another bot, or is unknown. */
export type TokenCheck = 'valid' | 'other bot' | 'unknown';

/** The status of a bot's token. Times are milliseconds since the epoch. */
export interface TokenInfo {
  /** When it was issued; undefined when the bot has no token. */
  readonly issuedAt: number | undefined;
  /** When it was last used, as far as known: a restart forgets uses that changed no count. */
  readonly lastUsed: number | undefined;
}

/** The result of a change of a token, and whether it was pushed: not while the remote is unreachable. */
export interface TokenChange<T> {
  readonly result: T;
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
  #fetching: Promise<void> = Promise.resolve();
  #nextFetch: Promise<void> | undefined;
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
   * @throws {BotshelfError} unavailable, when the state ref cannot be read, or was never fetched into this clone
   */
  checkToken(id: BotId, token: Token, address = ''): Promise<TokenCheck> {
    const check = this.#checkHere(id, token);
    return this.#remote === null ? check : this.#checkAgain(this.#remote, id, token, address, check);
  }

  /**
   * Returns the bot with this current token, or undefined.
   * @param address as that of checkToken
   * @throws {BotshelfError} unavailable, when the tokens cannot be read
   */
  async findHolder(token: Token, address: string): Promise<BotId | undefined> {
    const digest = computeDigest(token);
    await this.#state.follow();
    const holder = this.#state.tokens.holder(digest);
    if (holder !== undefined || this.#remote === null) return holder;
    await this.#waitForFetch(this.#remote, toClient(address));
    await this.#state.follow();
    return this.#state.tokens.holder(digest);
  }

  /**
   * Returns the status of a bot's token.
   * @throws {BotshelfError} unavailable, when the tokens cannot be read
   */
  async tokenInfo(id: BotId): Promise<TokenInfo> {
    await this.#state.follow();
    const token = this.#state.tokens.token(id);
    if (token === undefined || token.digest === null) return { issuedAt: undefined, lastUsed: undefined };
    const uses = [this.#lastUsed.get(id), this.#state.latest(id)?.at].filter((at) => at !== undefined);
    const lastUsed = Math.max(...uses);
    return { issuedAt: token.at, lastUsed: lastUsed >= token.at ? lastUsed : undefined };
  }

  /**
   * Issues a new token to a bot and revokes the previous one. The token's digest is committed when this resolves.
   * @throws {BotshelfError} unavailable, when it cannot be committed
   */
  async issueToken(id: BotId, by: TokenChanger): Promise<TokenChange<Token>> {
    return await this.#change(id, async (committed) => await issueToken(committed, id, by));
  }

  /**
   * Revokes a bot's token. The result is whether it had one.
   * @throws {BotshelfError} unavailable, when that cannot be committed
   */
  async revokeToken(id: BotId, by: TokenChanger): Promise<TokenChange<boolean>> {
    return await this.#change(id, async (committed) => await revokeToken(committed, id, by));
  }

  async #change<T>(id: BotId, work: (committed: CommittedState) => Promise<T>): Promise<TokenChange<T>> {
    return await changeToken(this.#remote, this.#log, async () => {
      const result = await this.#state.write(work);
      this.#lastUsed.delete(id);
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

  async #checkAgain(
    remote: RemoteState,
    id: BotId,
    token: Token,
    address: string,
    check: Promise<TokenCheck>,
  ): Promise<TokenCheck> {
    const first = await check;
    if (first !== 'unknown') return first;
    await this.#waitForFetch(remote, toClient(address));
    const again = await this.#checkHere(id, token);
    if (again === 'unknown' && !remote.stateFetched) throw createNotFetchedError();
    return again;
  }

  /** Resolves when a fetch that began after the call has ended, or takes too long. All that wait share one fetch. */
  async #waitForFetch(remote: RemoteState, client: Client): Promise<void> {
    const full = findFullShare(client, this.#waiting, maxWaitingChecks, maxWaitingChecksPerClient);
    if (full !== undefined || this.#waiting.length >= maxWaitingChecks)
      throw new BotshelfError('overloaded', 'too many unknown tokens are being checked: try again');
    this.#waiting = [...this.#waiting, client];
    try {
      this.#nextFetch ??= this.#fetchInTime(remote);
      await Promise.race([this.#nextFetch, sleep(maxCheckMs, undefined, { ref: false })]);
    } finally {
      this.#waiting = this.#waiting.toSpliced(this.#waiting.indexOf(client), 1);
    }
  }

  async #fetchInTime(remote: RemoteState): Promise<void> {
    await this.#fetching;
    await sleep(Math.max(0, this.#fetchBegan + this.#fetchEvery - performance.now()), undefined, {
      ref: false,
    });
    this.#nextFetch = undefined;
    this.#fetchBegan = performance.now();
    this.#fetching = remote.fetchState().catch((error: unknown) => {
      this.#log.debug({ because: messageOf(error) }, 'an unknown token was checked without the remote');
    });
    await this.#fetching;
  }
}

/**
 * Fetches the remote's state, changes a token and pushes the change, each with a short time limit. Without the remote
 * the token is changed here only.
 * @throws {BotshelfError} unavailable, when the remote's state was never fetched: the generations of the tokens are unknown
 * @throws what `change` does
 */
export async function changeToken<T>(
  remote: RemoteState | null,
  log: Log,
  change: () => Promise<T>,
): Promise<TokenChange<T>> {
  if (remote === null) return { result: await change(), shared: true };
  const notFetched = await tryRemote(remote.fetchState());
  if (!remote.stateFetched) throw createNotFetchedError();
  const result = await change();
  const notShared = notFetched ?? (await tryRemote(remote.pushState()));
  if (notShared !== undefined)
    log.warn(
      { because: notShared },
      'a token was changed on this machine, and the remote does not have it yet: it is pushed later',
    );
  return { result, shared: notShared === undefined };
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
  /** Starts to revoke the tokens of removed bots. */
  start(): void;
}

interface OpenTokensOptions {
  readonly config: { readonly var: string; readonly readOnly: object | null };
  readonly state: OpenCounts['state'];
  /** Null if there is no remote. */
  readonly sync: RemoteState | null;
  readonly branch: BranchFeed;
  readonly log: Log;
}

export function openTokens({ config, state, sync, branch, log }: OpenTokensOptions): OpenTokens {
  const tokens = new Tokens(state, sync, log);
  // A copy has the state of its original.
  if (config.readOnly) return { tokens, start() {} };
  const ofRemovedBots = new TokensOfRemovedBots({
    logFile: join(config.var, 'branch.log'),
    state,
    isStateKnown: () => sync?.stateFetched ?? true,
    log,
  });
  branch.add(ofRemovedBots);
  return { tokens, start: () => branch.start(ofRemovedBots) };
}

export interface TokensOfRemovedBotsOptions {
  /** The temporary file for a history. */
  readonly logFile: string;
  readonly state: Pick<OpenCounts['state'], 'write'>;
  /** Whether the tokens of all machines are known. */
  readonly isStateKnown: () => boolean;
  readonly log: Log;
}

/**
 * Revokes the token of each bot whose last page a commit of the branch removes, even if the service was stopped then,
 * or a later commit restores the bot. A token that was issued after that commit stays. Only commits count: a missing or
 * unreadable file, another branch that is checked out, a branch that was reset, and a commit that moves the folder of
 * the bots revoke nothing.
 */
export class TokensOfRemovedBots implements BranchConsumer {
  readonly failed = (message: string): string =>
    `could not revoke the tokens of removed bots: ${message}; retrying`;
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
        const files = await readCommittedPages(repository, to, id);
        if (at < removedAt || !files.some(({ place }) => isPage(place))) ids.push(id);
      }
      return await revokeTokens(committed, ids, 'the removal of all pages');
    });
    if (ended.length > 0)
      log.info({ bots: ended }, `revoked ${formatCount(ended.length, 'token')} of removed bots`);
  }

  /**
   * Returns all bots that a history ever removed, each with the time 0, because the history may have been rewritten.
   */
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
