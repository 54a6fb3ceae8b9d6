import { computeDistance } from '../../lib/damerau.ts';
import { minCommonPrefixLength, Stems } from './stems.ts';

/** Where every word of many texts is, in little memory; it crosses to another thread. */
export interface PackedIndex {
  /** All words in ascending order, one after the other. A word is known by its place in the order. */
  readonly text: string;
  /** Where each word begins in the text, and the end of the last one. */
  readonly wordStarts: Uint32Array;
  /** Which letters each word has, as bits: two words of one spelling error differ in few of them. */
  readonly letters: Uint32Array;
  /** The languages each word is used in, as bits. */
  readonly languages: Uint32Array;
  /** Where the postings of each word begin, and the end of the last. */
  readonly starts: Uint32Array;
  readonly postings: Uint32Array;
}

/** A stretch of words in their order: from the first to before the last. */
export interface WordRange {
  readonly from: number;
  readonly to: number;
}

/** Words that are found for a word of the query, and how well they fit: 1 for the word itself. */
export interface Expansion extends WordRange {
  readonly fit: number;
}

/** Where every word of many texts is. */
export class WordIndex {
  readonly #packed: PackedIndex;
  /** The last text that was looked for within words: a rare term is matched twice. */
  #within: { readonly text: string; readonly ranges: readonly WordRange[] } = { text: '', ranges: [] };

  constructor(packed: PackedIndex) {
    this.#packed = packed;
  }

  /** How many words there are. */
  get size(): number {
    return this.#packed.letters.length;
  }

  word(place: number): string {
    const { text, wordStarts } = this.#packed;
    return text.slice(wordStarts[place], wordStarts[place + 1]);
  }

  /** Returns the postings of a range of words. */
  postings({ from, to }: WordRange): Uint32Array {
    const { starts, postings } = this.#packed;
    return postings.subarray(starts[from], starts[to]);
  }

  /** Returns how many postings a range of words has. */
  count({ from, to }: WordRange): number {
    const { starts } = this.#packed;
    return (starts[to] ?? 0) - (starts[from] ?? 0);
  }

  /** Returns the range of one word, empty where it is not there. */
  find(word: string): WordRange {
    const from = this.#placeOf(word);
    return { from, to: from < this.size && this.word(from) === word ? from + 1 : from };
  }

  /** Returns the words that begin with a text. */
  beginningWith(text: string): WordRange {
    return { from: this.#placeOf(text), to: this.#placeOf(`${text}\uffff`) };
  }

  /** Whether a word is here, or where it is open one that begins with it. */
  knows(word: string, open: boolean): boolean {
    const { from, to } = open ? this.beginningWith(word) : this.find(word);
    return from < to;
  }

  /** Returns the words that have a text somewhere after their first letter. */
  containing(text: string): readonly WordRange[] {
    if (this.#within.text === text) return this.#within.ranges;
    const wanted = computeLetterMask(text);
    const { letters } = this.#packed;
    const ranges: WordRange[] = [];
    for (let place = 0; place < letters.length; place++) {
      if ((wanted & ~(letters[place] ?? 0)) !== 0) continue;
      if (this.word(place).includes(text, 1)) ranges.push({ from: place, to: place + 1 });
    }
    this.#within = { text, ranges };
    return ranges;
  }

  /** Returns the word and its other forms: plurals and the like, in the languages that each is used in. */
  formsOf(word: string, fit: number): Expansion[] {
    const { languages } = this.#packed;
    const own = this.find(word);
    const expansions: Expansion[] = [{ ...own, fit }];
    if (word.length < minCommonPrefixLength) return expansions;
    const similar = this.beginningWith(word.slice(0, minCommonPrefixLength));
    let used = 0;
    for (let place = similar.from; place < similar.to; place++) used |= languages[place] ?? 0;
    if (used === 0) return expansions;
    const stems = new Stems(word);
    const { from, to } = this.beginningWith(stems.beginning(used));
    for (let place = from; place < to; place++) {
      const language = languages[place] ?? 0;
      if (language === 0 || (place >= own.from && place < own.to)) continue;
      if (stems.areSharedBy(this.word(place), language))
        expansions.push({ from: place, to: place + 1, fit: fit * formFit });
    }
    return expansions;
  }

  /**
   * Calls back with the words of a range that are at most `maxDistance` spelling errors from a word; not with the word
   * itself.
   */
  forEachNear(
    word: string,
    maxDistance: number,
    { from, to }: WordRange,
    onWord: (place: number, distance: number) => void,
  ): void {
    const wanted = computeLetterMask(word);
    const { text, wordStarts, letters } = this.#packed;
    for (let place = from; place < to; place++) {
      if (countBits(wanted ^ (letters[place] ?? 0)) > 2 * maxDistance) continue;
      const start = wordStarts[place] ?? 0;
      const end = wordStarts[place + 1] ?? 0;
      const skipped = text.charCodeAt(start) === wholeNameSign ? 1 : 0;
      if (Math.abs(end - start - skipped - word.length) > maxDistance) continue;
      const distance = computeDistance(word, text.slice(start + skipped, end), maxDistance);
      if (distance > 0 && distance <= maxDistance) onWord(place, distance);
    }
  }

  /** Returns the place of the first word that is not before `word`. */
  #placeOf(word: string): number {
    let low = 0;
    let high = this.size;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.word(middle) < word) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

const formFit = 0.9;

/** Returns which letters a word has, as bits. */
export function computeLetterMask(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (code !== wholeNameSign) letters |= 1 << (code & 31);
  }
  return letters;
}

/** Before a whole name that is kept as a word. */
const wholeNameSign = '='.charCodeAt(0);

function countBits(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}
