import type { BotId } from '../../bot/id.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import { forEachInSlices } from '../../concurrency/in-slices.ts';
import type { BotIndex, IndexedBot } from './bot-index.ts';

/**
 * Full text over the names and descriptions of every bot in every language. Each search reads all texts from
 * end to end, which is faster and far smaller than a word index at this size: docs/decisions/005.
 */
export class TextSearch {
  readonly #bots: BotIndex;
  /** The words of each bot that was searched before. */
  readonly #texts = new WeakMap<IndexedBot, Words>();

  constructor(bots: BotIndex) {
    this.#bots = bots;
  }

  /**
   * How well each bot that has every word of `text` fits: the more, the better. Every word may be the
   * beginning of a longer one; case, accents and width do not matter. Never holds the event loop for long.
   */
  async search(text: string): Promise<ReadonlyMap<BotId, number>> {
    const wanted = [...new Set(wordsOf(text))].map((word) => ` ${word}`);
    const scores = new Map<BotId, number>();
    if (wanted.length === 0) return scores;
    await forEachInSlices(this.#bots.all(), (bot) => {
      const score = scoreOf(this.#wordsIn(bot), wanted);
      if (score > 0) scores.set(bot.id, score);
    });
    return scores;
  }

  #wordsIn(bot: IndexedBot): Words {
    let words = this.#texts.get(bot);
    if (words === undefined) this.#texts.set(bot, (words = readWords(bot)));
    return words;
  }
}

/** Words with a blank before each and one after the last. */
interface Words {
  readonly names: string;
  readonly descriptions: string;
}

function readWords({ element }: IndexedBot): Words {
  const { contents } = JSON.parse(element.toString()) as BotListElement;
  const all = Object.values(contents);
  return {
    names: joined(all.map(({ name }) => name)),
    descriptions: joined(all.map(({ description }) => description)),
  };
}

function joined(texts: readonly string[]): string {
  return ` ${wordsOf([...new Set(texts)].join(' ')).join(' ')} `;
}

/** A whole word counts more than a beginning, a name more than a description; 0 where a word is missing. */
function scoreOf({ names, descriptions }: Words, wanted: readonly string[]): number {
  let score = 0;
  for (const word of wanted) {
    const inNames = weightOf(names, word);
    const best = inNames > 0 ? inNames * 4 : weightOf(descriptions, word);
    if (best === 0) return 0;
    score += best;
  }
  return score;
}

function weightOf(words: string, word: string): number {
  if (!words.includes(word)) return 0;
  return words.includes(`${word} `) ? 2 : 1;
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
