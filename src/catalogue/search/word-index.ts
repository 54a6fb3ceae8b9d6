import { computeDistance } from '../../lib/text.ts';
import type { TimeSlice } from '../../lib/time-slice.ts';
import { botOf, type Field, findFollowed, maxPlace, shareOfOne } from './postings.ts';
import { getStems, minCommonPrefixLength } from './stems.ts';
import { listLetterPairs, type Word } from './words.ts';

/** An index of the words of many texts, in compact form that can be sent to another thread. */
export interface PackedIndex {
  /** All words in ascending order, joined. A word is identified by its place in the order. */
  readonly text: string;
  /** The start of each word in `text`, and the end of the last one. */
  readonly wordStarts: Uint32Array;
  /** The letters of each word, as bits: words one spelling error apart differ in few bits. */
  readonly letters: Uint32Array;
  /** The languages in which each word is used, as bits. */
  readonly languages: Uint32Array;
  /** The start of each word's postings, and the end of the last ones. */
  readonly starts: Uint32Array;
  /** The postings of each word, in ascending order. */
  readonly postings: Uint32Array;
  /** The weight of a word in each of the two fields of each bot. */
  readonly shares: Uint8Array;
}

/** Collects postings, as in `postings.ts`: the bot, field and place of each use of a word. They are added in order of the bots' numbers, then fields and places. */
export class PostingsBuilder {
  /** `languages` has those in which the word is used, as bits. */
  readonly #words = new Map<string, { languages: number; readonly postings: number[] }>();
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

/** The postings of a word that matches a word of the query, and how well it fits: 1 for the word itself. */
export interface Expansion {
  readonly postings: Uint32Array;
  readonly fit: number;
}

/** Finds words in the texts of many bots. */
export class WordIndex {
  readonly #packed: PackedIndex;

  constructor(packed: PackedIndex) {
    this.#packed = packed;
  }

  /** The number of words. */
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

  /** Returns the postings of a word; empty if the index does not have it. */
  find(word: string): Uint32Array {
    const from = this.#placeOf(word);
    return this.#postings(from, from < this.size && this.word(from) === word ? from + 1 : from);
  }

  /** Returns the postings of the words with this beginning, word by word. */
  findBeginning(text: string): Uint32Array {
    return this.#postings(...this.#beginningWith(text));
  }

  /** Returns the postings of a word as typed; in a script without spaces, of all its letters together. */
  findWord({ text, unspaced }: Word): Uint32Array {
    if (!unspaced) return this.find(text);
    const [first = '', ...others] = listLetterPairs(text);
    let found = Array.from(first).length === 1 ? this.findBeginning(first).toSorted() : this.find(first);
    for (const [i, pair] of others.entries()) found = findFollowed(found, this.find(pair), i + 1);
    return found;
  }

  /** Returns the word and its other forms, such as plurals, in the languages of each form. */
  formsOf(word: string, fit: number): Expansion[] {
    const forms = [{ postings: this.find(word), fit }];
    if (word.length < minCommonPrefixLength) return forms;
    const { languages } = this.#packed;
    const stems = getStems(word);
    const first = word.slice(0, minCommonPrefixLength);
    let [from, to] = this.#beginningWith(first);
    const common = stems.findBeginning(languages.subarray(from, to).reduce((all, some) => all | some, 0));
    if (common.startsWith(first)) [from, to] = this.#beginningWith(common);
    for (let place = from; place < to; place++) {
      const form = this.word(place);
      // Checked first, because computing a stem takes long and thousands of words may share their first letters.
      const isForm = form !== word && form.length <= word.length * 2 + 1;
      if (isForm && stems.areSharedBy(form, languages[place] ?? 0))
        forms.push({ postings: this.#postings(place, place + 1), fit: fit * formFit });
    }
    return forms;
  }

  /** Calls back with the words of some beginnings at most `maxDistance` errors from a word, and how many postings each has. */
  async forEachNear(
    word: string,
    maxDistance: number,
    beginnings: readonly string[],
    slice: TimeSlice,
    onWord: (near: string, distance: number, count: number) => void,
  ): Promise<void> {
    const wanted = computeLetterMask(word);
    const { text, wordStarts, letters, starts } = this.#packed;
    for (const [from, to] of beginnings.map((beginning) => this.#beginningWith(beginning)))
      for (let place = from; place < to; place++) {
        if (place % wordsPerCheck === 0 && slice.isOver) await slice.next();
        if (countBits(wanted ^ (letters[place] ?? 0)) > 2 * maxDistance) continue;
        let start = wordStarts[place] ?? 0;
        if (isSign(text.charCodeAt(start))) start++;
        const end = wordStarts[place + 1] ?? 0;
        if (Math.abs(end - start - word.length) > maxDistance) continue;
        const near = text.slice(start, end);
        const distance = computeDistance(word, near, maxDistance);
        if (distance > 0 && distance <= maxDistance)
          onWord(near, distance, (starts[place + 1] ?? 0) - (starts[place] ?? 0));
      }
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
/** Words between two checks of the clock: about a millisecond. */
const wordsPerCheck = 65_536;

/** Returns the letters of a word, as bits. */
function computeLetterMask(word: string): number {
  let letters = 0;
  for (let i = 0; i < word.length; i++) {
    const code = word.charCodeAt(i);
    if (!isSign(code)) letters |= 1 << (code & 31);
  }
  return letters;
}

/** Whether a character marks a whole name or a category that is stored as a word. */
function isSign(code: number): boolean {
  return code === 0x3d || code === 0x23;
}

function countBits(bits: number): number {
  let rest = bits - ((bits >>> 1) & 0x55555555);
  rest = (rest & 0x33333333) + ((rest >>> 2) & 0x33333333);
  return (((rest + (rest >>> 4)) & 0x0f0f0f0f) * 0x01010101) >>> 24;
}

/**
 * Returns the words that a misspelled one may mean, most similar first; equally similar ones by use.
 * @param beginnings of the words to look at
 * @param maxErrors of spelling; a short word has fewer
 */
export async function findNearWords(
  text: string,
  indexes: readonly WordIndex[],
  beginnings: readonly string[],
  maxErrors: number,
  slice: TimeSlice,
): Promise<string[]> {
  const maxDistance = Math.min(maxErrors, text.length < 7 ? 1 : 2);
  if (/\d/.test(text) || text.length < 4) return [];
  const found = new Map<string, { readonly distance: number; readonly count: number }>();
  for (const index of indexes)
    await index.forEachNear(text, maxDistance, beginnings, slice, (word, distance, count) => {
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
