import { computeDistance } from '../../lib/damerau.ts';

/** A stretch of words in their order: from the first to before the last. */
export interface WordRange {
  readonly from: number;
  readonly to: number;
}

/** A word that is spelled nearly like another. */
export interface NearWord {
  readonly word: number;
  readonly distance: number;
}

/** What a vocabulary is kept as; it crosses to another thread. */
export interface PackedVocabulary {
  /** All words in ascending order, one after the other. */
  readonly text: string;
  /** Where each word begins in the text, and the end of the last one. */
  readonly starts: Uint32Array;
  /** Which letters each word has, as bits: two words of one spelling error differ in few of them. */
  readonly letters: Uint32Array;
}

/** Many words in ascending order, in little memory. A word is known by its place in the order. */
export class Vocabulary {
  readonly #text: string;
  readonly #starts: Uint32Array;
  readonly #letters: Uint32Array;

  constructor({ text, starts, letters }: PackedVocabulary) {
    this.#text = text;
    this.#starts = starts;
    this.#letters = letters;
  }

  get size(): number {
    return this.#letters.length;
  }

  word(place: number): string {
    return this.#text.slice(this.#starts[place], this.#starts[place + 1]);
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

  /** Returns the words that have a text somewhere after their first letter. */
  containing(text: string): WordRange[] {
    const wanted = computeLetterMask(text);
    const letters = this.#letters;
    const found: WordRange[] = [];
    for (let place = 0; place < letters.length; place++) {
      if ((wanted & ~(letters[place] ?? 0)) !== 0) continue;
      if (this.word(place).includes(text, 1)) found.push({ from: place, to: place + 1 });
    }
    return found;
  }

  /** Returns the words of a range that are at most `maxDistance` spelling errors from a word; not the word itself. */
  near(word: string, maxDistance: number, { from, to }: WordRange): NearWord[] {
    const wanted = computeLetterMask(word);
    const letters = this.#letters;
    const text = this.#text;
    const found: NearWord[] = [];
    for (let place = from; place < to; place++) {
      if (countBits(wanted ^ (letters[place] ?? 0)) > 2 * maxDistance) continue;
      const start = this.#starts[place] ?? 0;
      const end = this.#starts[place + 1] ?? 0;
      const skipped = text.charCodeAt(start) === wholeNameSign ? 1 : 0;
      if (Math.abs(end - start - skipped - word.length) > maxDistance) continue;
      const distance = computeDistance(word, text.slice(start + skipped, end), maxDistance);
      if (distance > 0 && distance <= maxDistance) found.push({ word: place, distance });
    }
    return found;
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

/** Packs words that are in ascending order. */
export function packVocabulary(words: readonly string[]): PackedVocabulary {
  const starts = new Uint32Array(words.length + 1);
  let end = 0;
  words.forEach((word, place) => (starts[place + 1] = end += word.length));
  return { text: words.join(''), starts, letters: Uint32Array.from(words, computeLetterMask) };
}

function computeLetterMask(word: string): number {
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
