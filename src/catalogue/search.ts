import { setImmediate as breathe } from 'node:timers/promises';
import MiniSearch from 'minisearch';
import type { BotId } from '../bot/id.ts';
import type { BotListElement } from '../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from './bot-index.ts';

/**
 * Full text over the names and descriptions of every bot in every language. It is built when somebody
 * searches for the first time, a few milliseconds at a time, and follows the index from then on.
 */
export class TextSearch {
  readonly #bots: BotIndex;
  /** The bots that are searchable as they are, by the very object of the index. */
  readonly #added = new Map<BotId, IndexedBot>();
  #engine: MiniSearch<Document> | undefined;
  #catchingUp: Promise<void> | undefined;
  #version = -1;

  constructor(bots: BotIndex) {
    this.#bots = bots;
  }

  /**
   * How well each bot that has every word of `text` fits, best first is highest. The last word may be the
   * beginning of one; case, accents and width do not matter.
   */
  async search(text: string): Promise<ReadonlyMap<BotId, number>> {
    while (this.#version !== this.#bots.version) {
      this.#catchingUp ??= this.#catchUp().finally(() => (this.#catchingUp = undefined));
      await this.#catchingUp;
    }
    const results = this.#engine?.search(text) ?? [];
    return new Map(results.map(({ id, score }) => [id as BotId, score]));
  }

  async #catchUp(): Promise<void> {
    const { version } = this.#bots;
    const engine = (this.#engine ??= newEngine());
    let start = performance.now();
    for (const bot of this.#bots.all()) {
      const before = this.#added.get(bot.id);
      if (before === bot) continue;
      if (before) engine.replace(documentOf(bot));
      else engine.add(documentOf(bot));
      this.#added.set(bot.id, bot);
      if (performance.now() - start < slice) continue;
      await breathe();
      start = performance.now();
    }
    for (const id of this.#added.keys()) {
      if (this.#bots.get(id)) continue;
      engine.discard(id);
      this.#added.delete(id);
    }
    this.#version = version;
  }
}

interface Document {
  readonly id: BotId;
  readonly name: string;
  readonly description: string;
}

const slice = 5;

function newEngine(): MiniSearch<Document> {
  return new MiniSearch<Document>({
    fields: ['name', 'description'],
    tokenize: wordsOf,
    processTerm: (term) => term,
    searchOptions: {
      boost: { name: 3 },
      combineWith: 'AND',
      prefix: (_term, i, terms) => i === terms.length - 1,
    },
  });
}

function documentOf({ id, element }: IndexedBot): Document {
  const { contents } = JSON.parse(element.toString()) as BotListElement;
  const all = Object.values(contents);
  return {
    id,
    name: [...new Set(all.map(({ name }) => name))].join(' '),
    description: all.map(({ description }) => description).join(' '),
  };
}

/** Words without case, accents and width. Scripts that put no spaces between words are cut in pairs. */
function wordsOf(text: string): string[] {
  const plain = text
    .normalize('NFKD')
    .replace(/\p{M}+/gu, '')
    .toLowerCase();
  return (plain.match(/[\p{L}\p{N}]+/gu) ?? []).flatMap((word) =>
    unspaced.test(word) ? pairsOf(word) : [word],
  );
}

const unspaced =
  /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}]/u;

function pairsOf(word: string): string[] {
  const letters = Array.from(word);
  if (letters.length < 3) return [word];
  return letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}
