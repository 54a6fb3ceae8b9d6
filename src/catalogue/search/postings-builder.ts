import { botOf, type Field, maxPlace, shareOfOne } from './postings.ts';
import { computeLetterMask, type PackedIndex } from './word-index.ts';

interface CollectedWord {
  /** The languages in which the word is used, as bits. */
  languages: number;
  readonly postings: number[];
}

/** Collects postings, as in `postings.ts`: the bot, field and place of each use of a word. They are added in order of the bots' numbers, then fields and places. */
export class PostingsBuilder {
  readonly #words = new Map<string, CollectedWord>();
  readonly #shares: number[] = [];
  readonly #maxPostings: number;

  /** @param maxPostings a word with more postings is left out, because it distinguishes no bots */
  constructor(maxPostings = Infinity) {
    this.#maxPostings = maxPostings;
  }

  /** Adds a word of a bot. A repeated word counts a few times at most. */
  add(text: string, bot: number, field: Field, place: number, language: number): void {
    let word = this.#words.get(text);
    if (word === undefined) this.#words.set(text, (word = { languages: 0, postings: [] }));
    const { postings } = word;
    word.languages |= language;
    if (postings.length > this.#maxPostings || botOf(postings.at(-maxTimes) ?? -1) === bot) return;
    postings.push((bot << 11) | (field << 9) | Math.min(place, maxPlace));
  }

  /** Sets the weight of words in a field of a bot; 1 for a text of usual length. */
  setShare(bot: number, field: Field, share: number): void {
    this.#shares[bot * 2 + (field & 1)] = Math.max(1, Math.min(255, Math.round(share * shareOfOne)));
  }

  pack(): PackedIndex {
    const words = [...this.#words]
      .filter(([, { postings }]) => postings.length <= this.#maxPostings)
      .toSorted(([a], [b]) => (a < b ? -1 : 1));
    const postings = new Uint32Array(words.reduce((sum, [, word]) => sum + word.postings.length, 0));
    const wordStarts = new Uint32Array(words.length + 1);
    const starts = new Uint32Array(words.length + 1);
    let [wordEnd, end] = [0, 0];
    for (const [place, [text, word]] of words.entries()) {
      postings.set(word.postings, end);
      wordStarts[place + 1] = wordEnd += text.length;
      starts[place + 1] = end += word.postings.length;
    }
    const text = words.map(([word]) => word).join('');
    const letters = Uint32Array.from(words, ([word]) => computeLetterMask(word));
    const languages = Uint32Array.from(words, ([, word]) => word.languages);
    const shares = Uint8Array.from(this.#shares);
    return { text, wordStarts, letters, languages, starts, postings, shares };
  }
}

/** Maximum number of postings of a word per bot: in all its texts, or in all its pages. */
const maxTimes = 6;
