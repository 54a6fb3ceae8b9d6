import { computeDistance } from '../../lib/text.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import { findFirstPlace } from '../store/bot-index.ts';
import { findFollowed } from './postings.ts';
import { minCommonPrefixLength, Stems } from './stems.ts';
import { listLetterPairs, type Word } from './words.ts';

/** Where every word of many texts is, in little memory; it crosses to another thread. */
export interface PackedIndex {
  /** All words in ascending order, one after the other. A word is known by its place in the order. */
  readonly text: string;
  /** Where each word begins in the text, and the end of the last one. */
  readonly wordStarts: Uint32Array;
  /** Which letters each word has, as bits: two words of one spelling error differ in few of them. */
  readonly letters: Uint32Array;
  /** The words in ascending order of their letters from the last one to the first. */
  readonly endings: Uint32Array;
  /** The languages each word is used in, as bits. */
  readonly languages: Uint32Array;
  /** Where the postings of each word begin, and the end of the last. */
  readonly starts: Uint32Array;
  /** Those of each word in ascending order. */
  readonly postings: Uint32Array;
  /** What a word counts in each of the two fields of each bot. */
  readonly shares: Uint8Array;
}

/** The postings of a word that is found for a word of the query, and how well it fits: 1 for the word itself. */
export interface Expansion {
  readonly postings: Uint32Array;
  readonly fit: number;
}

/** Where every word of many texts is. */
export class WordIndex {
  readonly #packed: PackedIndex;

  constructor(packed: PackedIndex) {
    this.#packed = packed;
  }

  /** How many words there are. */
  get size(): number {
    return this.#packed.letters.length;
  }

  get shares(): Uint8Array {
    return this.#packed.shares;
  }

  word(place: number): string {
    const { text, wordStarts } = this.#packed;
    return text.slice(wordStarts[place], wordStarts[place + 1]);
  }

  /** Returns the postings of one word, none if it is not there. */
  find(word: string): Uint32Array {
    const from = this.#placeOf(word);
    return this.#postings(from, from < this.size && this.word(from) === word ? from + 1 : from);
  }

  /** Returns the postings of the words that begin with a text. */
  findBeginning(text: string): Uint32Array {
    return this.#postings(...this.#beginningWith(text));
  }

  /** Returns where a word is as it is typed; all its letters together in a script without spaces. */
  findWord({ text, unspaced }: Word): Uint32Array {
    return unspaced ? this.#findUnspaced(text) : this.find(text);
  }

  #findUnspaced(word: string): Uint32Array {
    const [first = '', ...others] = listLetterPairs(word);
    let found = Array.from(first).length === 1 ? this.findBeginning(first) : this.find(first);
    for (const [i, pair] of others.entries()) found = findFollowed(found, this.find(pair), i + 1);
    return found;
  }

  /** Returns the word and its other forms: plurals and the like, in the languages that each is used in. */
  formsOf(word: string, fit: number): Expansion[] {
    const forms = [{ postings: this.find(word), fit }];
    if (word.length < minCommonPrefixLength) return forms;
    const { languages } = this.#packed;
    const stems = new Stems(word);
    const first = word.slice(0, minCommonPrefixLength);
    let [from, to] = this.#beginningWith(first);
    const common = stems.findBeginning(languages.subarray(from, to).reduce((all, some) => all | some, 0));
    if (common.startsWith(first)) [from, to] = this.#beginningWith(common);
    for (let place = from; place < to; place++) {
      const form = this.word(place);
      // To work out a stem takes long, and thousands of words may have the same first letters.
      const isForm = form !== word && form.length <= word.length * 2 + 1;
      if (isForm && stems.areSharedBy(form, languages[place] ?? 0))
        forms.push({ postings: this.#postings(place, place + 1), fit: fit * formFit });
    }
    return forms;
  }

  /** Calls back with the words that are at most `maxDistance` spelling errors from a word, and how often each is used. */
  async forEachNear(
    word: string,
    maxDistance: number,
    slice: TimeSlice,
    onWord: (near: string, distance: number, count: number) => void,
  ): Promise<void> {
    const wanted = computeLetterMask(word);
    const { text, wordStarts, letters, starts, endings } = this.#packed;
    const found = new Map<number, { readonly near: string; readonly distance: number }>();
    const ranges = maxDistance === 1 ? this.#listSimilar(word) : [[0, this.size] as const];
    for (const [from, to, isOfEndings] of ranges)
      for (let i = from; i < to; i++) {
        if (i % wordsPerCheck === 0 && slice.isOver) await slice.next();
        const place = isOfEndings ? (endings[i] ?? 0) : i;
        if (countBits(wanted ^ (letters[place] ?? 0)) > 2 * maxDistance) continue;
        let start = wordStarts[place] ?? 0;
        if (isSign(text.charCodeAt(start))) start++;
        const end = wordStarts[place + 1] ?? 0;
        if (Math.abs(end - start - word.length) > maxDistance) continue;
        const near = text.slice(start, end);
        const distance = computeDistance(word, near, maxDistance);
        if (distance > 0 && distance <= maxDistance) found.set(place, { near, distance });
      }
    for (const [place, { near, distance }] of [...found].toSorted(([a], [b]) => a - b))
      onWord(near, distance, (starts[place + 1] ?? 0) - (starts[place] ?? 0));
  }

  /**
   * Returns the words that begin or end as a word does, up to the letter in its middle: one error leaves one of the halves as
   * it is. They are few.
   */
  #listSimilar(word: string): (readonly [from: number, to: number, isOfEndings?: true])[] {
    const half = (word.length - 1) >> 1;
    const ending = word.slice(half + 1);
    return [
      ...['', '=', '#'].map((sign) => this.#beginningWith(sign + word.slice(0, half))),
      [this.#findEnding(ending), this.#findEnding(`\uffff${ending}`), true],
    ];
  }

  /** Returns the first place in `endings` of a word that is not before an ending, from the last letter to the first. */
  #findEnding(ending: string): number {
    const { text, wordStarts, endings } = this.#packed;
    return findFirstPlace(endings, (place) => {
      const start = wordStarts[place] ?? 0;
      let end = wordStarts[place + 1] ?? 0;
      for (let i = ending.length - 1; i >= 0; i--) {
        if (end === start) return true;
        const difference = text.charCodeAt(--end) - ending.charCodeAt(i);
        if (difference !== 0) return difference < 0;
      }
      return false;
    });
  }

  #postings(from: number, to: number): Uint32Array {
    const { starts, postings } = this.#packed;
    return postings.subarray(starts[from], starts[to]);
  }

  #beginningWith(text: string): [from: number, to: number] {
    return [this.#placeOf(text), this.#placeOf(`${text}\uffff`)];
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
/** Words between two looks at the clock: about a millisecond. */
const wordsPerCheck = 65_536;

/** Returns which letters a word has, as bits. */
export function computeLetterMask(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (!isSign(code)) letters |= 1 << (code & 31);
  }
  return letters;
}

/** Whether a letter is the sign before a whole name or a category that is kept as a word. */
function isSign(code: number): boolean {
  return code === 0x3d || code === 0x23;
}

/** Returns the letters of a word from the last one to the first. */
export function reverse(word: string): string {
  let reversed = '';
  for (let i = word.length - 1; i >= 0; i--) reversed += word.charAt(i);
  return reversed;
}

function countBits(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/**
 * Returns the words that a misspelled one may mean, the likeliest first: of equally near ones those that more bots use
 * come first.
 * @param maxDistance spelling errors that a word may have
 */
export async function findNearWords(
  text: string,
  indexes: readonly WordIndex[],
  maxDistance: number,
  slice: TimeSlice,
): Promise<string[]> {
  if (/\d/.test(text)) return [];
  const found = new Map<string, { readonly distance: number; readonly count: number }>();
  for (const index of indexes)
    await index.forEachNear(text, maxDistance, slice, (word, distance, count) => {
      found.set(word, { distance, count: (found.get(word)?.count ?? 0) + count });
    });
  const nearest = Math.min(...Array.from(found.values(), ({ distance }) => distance));
  return [...found]
    .filter(([, { distance }]) => distance === nearest)
    .toSorted(([, a], [, b]) => b.count - a.count)
    .slice(0, maxSpellings)
    .map(([word]) => word);
}

const maxSpellings = 3;
