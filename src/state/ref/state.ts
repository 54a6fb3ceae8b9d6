import { type BotId, compareBotIds } from '../../bot/id.ts';
import type { TokenDigest } from '../../bot/token.ts';
import { type Count, type Facts, factsOf, type TokenMark } from '../bot-state/facts.ts';
import { laterCount, mergeTokens } from '../bot-state/merge.ts';
import { shardNumber } from './shards.ts';

/** Everything the service keeps of its bots for itself, in memory. Facts are only ever replaced as `mergeFacts` does. */
export class State {
  readonly #facts = new Map<BotId, Facts>();
  readonly #holders = new Map<TokenDigest, BotId>();
  readonly #shards = new Map<number, Shard>();
  #version = 0;

  /** Grows whenever a count changes, so that whoever keeps something made of counts knows. */
  get version(): number {
    return this.#version;
  }

  /** How many bots it knows something of. */
  get size(): number {
    return this.#facts.size;
  }

  has(id: BotId): boolean {
    return this.#facts.has(id);
  }

  facts(id: BotId): Facts {
    return this.#facts.get(id) ?? none;
  }

  count(id: BotId): Count | undefined {
    return this.#facts.get(id)?.count;
  }

  token(id: BotId): TokenMark | undefined {
    return this.#facts.get(id)?.token;
  }

  /** The bot whose token has this digest. */
  holder(digest: TokenDigest): BotId | undefined {
    return this.#holders.get(digest);
  }

  /** Merges these facts into what is known. Returns whether that changed anything. */
  merge(id: BotId, facts: Facts): boolean {
    const known = this.#facts.get(id);
    const count = laterCount(known?.count, facts.count);
    const token = mergeTokens(known?.token, facts.token);
    if (known !== undefined && known.count === count && known.token === token) return false;
    if (known === undefined) this.#addToShard(id);
    if (known?.count?.value !== count?.value) this.#version++;
    if (known?.token?.digest !== token?.digest) this.#moveToken(id, known?.token, token);
    this.#facts.set(id, factsOf(count, token));
    return true;
  }

  /** The bots in one file of the state ref, in numeric order. */
  botsOf(shard: number): readonly BotId[] {
    const found = this.#shards.get(shard);
    if (found === undefined) return [];
    if (!found.sorted) found.ids.sort(compareBotIds);
    found.sorted = true;
    return found.ids;
  }

  #addToShard(id: BotId): void {
    const number = shardNumber(id);
    const shard = this.#shards.get(number);
    if (shard === undefined) {
      this.#shards.set(number, { ids: [id], sorted: true });
    } else {
      shard.ids.push(id);
      shard.sorted = false;
    }
  }

  #moveToken(id: BotId, from: TokenMark | undefined, to: TokenMark | undefined): void {
    if (from?.digest && this.#holders.get(from.digest) === id) this.#holders.delete(from.digest);
    if (to?.digest) this.#holders.set(to.digest, id);
  }
}

interface Shard {
  readonly ids: BotId[];
  sorted: boolean;
}

const none: Facts = {};
