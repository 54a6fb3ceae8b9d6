import { type BotId, compareBotIds } from '../bot/id.ts';
import type { TokenDigest } from '../bot/token.ts';
import {
  type BotState,
  createBotState,
  type Count,
  isAhead,
  type TokenState,
  chooseLater,
  chooseLaterCount,
  mergeTokens,
} from './bot-state.ts';
import { toShardNumber } from './shards.ts';

/** The state of every bot, in memory. A bot's state changes by merging only. */
export class State {
  readonly #bots = new Map<BotId, BotState>();
  readonly #holders = new Map<TokenDigest, BotId>();
  readonly #shards = new Map<number, BotId[]>();
  /** The bots whose count was ahead of the clock when it was merged. */
  readonly #ahead = new Set<BotId>();
  #version = 0;
  #reports = 0;
  /** Called with a bot whose time of the last edit is another one. */
  onEdited: (id: BotId) => void = () => {};

  /** Grows with each change of a count. */
  get version(): number {
    return this.#version;
  }

  /** Grows with each new count, which may be the same number as before. */
  get reports(): number {
    return this.#reports;
  }

  has(id: BotId): boolean {
    return this.#bots.has(id);
  }

  /** Returns the state of a bot; an empty one for a bot without any. */
  get(id: BotId): BotState {
    return this.#bots.get(id) ?? none;
  }

  count(id: BotId): Count | undefined {
    return this.#bots.get(id)?.count;
  }

  token(id: BotId): TokenState | undefined {
    return this.#bots.get(id)?.token;
  }

  edited(id: BotId): number | undefined {
    return this.#bots.get(id)?.edited;
  }

  hasToken(id: BotId): boolean {
    return (this.token(id)?.digest ?? null) !== null;
  }

  holder(digest: TokenDigest): BotId | undefined {
    return this.#holders.get(digest);
  }

  /** Merges `botState` into the state of a bot. Returns whether anything changed. */
  merge(id: BotId, botState: BotState): boolean {
    const known = this.#bots.get(id);
    const count = chooseLaterCount(known?.count, botState.count);
    const token = mergeTokens(known?.token, botState.token);
    const edited = chooseLater(known?.edited, botState.edited);
    if (known !== undefined && known.count === count && known.token === token && known.edited === edited)
      return false;
    if (known === undefined) this.#addToShard(id);
    if (known?.count?.value !== count?.value) this.#version++;
    if (known?.count !== count) this.#reports++;
    this.#moveToken(id, known?.token, token);
    if (count !== undefined && isAhead(count.at)) this.#ahead.add(id);
    this.#bots.set(id, createBotState(count, token, edited));
    if (known?.edited !== edited) this.onEdited(id);
    return true;
  }

  /** Returns a bot whose count is from a clock that is ahead of this machine's; undefined where there is none. */
  findAhead(): BotId | undefined {
    for (const id of this.#ahead) {
      if (isAhead(this.count(id)?.at ?? 0)) return id;
      this.#ahead.delete(id);
    }
    return undefined;
  }

  /** Returns the bots of one file of the state ref, in numeric order. */
  listBots(shard: number): readonly BotId[] {
    return (this.#shards.get(shard) ?? []).toSorted(compareBotIds);
  }

  #addToShard(id: BotId): void {
    const number = toShardNumber(id);
    const bots = this.#shards.get(number);
    if (bots) bots.push(id);
    else this.#shards.set(number, [id]);
  }

  #moveToken(id: BotId, from: TokenState | undefined, to: TokenState | undefined): void {
    if (from?.digest && this.#holders.get(from.digest) === id) this.#holders.delete(from.digest);
    if (to?.digest) this.#holders.set(to.digest, id);
  }
}

const none: BotState = {};
