import type { PackedPostings } from './postings.ts';
import { minCommonPrefixLength, Stems } from './stems.ts';
import { Vocabulary, type WordRange } from './vocabulary.ts';

/** Words that are found for a word of the query, and how well they fit: 1 for the word itself. */
export interface Expansion extends WordRange {
  readonly fit: number;
}

/** Where every word of many texts is. */
export class WordIndex {
  readonly vocabulary: Vocabulary;
  readonly postings: Uint32Array;
  readonly #starts: Uint32Array;
  readonly #languages: Uint32Array;
  /** The last text that was looked for within words: a rare term is matched twice. */
  #within: { readonly text: string; readonly ranges: readonly WordRange[] } = { text: '', ranges: [] };

  constructor({ vocabulary, starts, postings, languages }: PackedPostings) {
    this.vocabulary = new Vocabulary(vocabulary);
    this.postings = postings;
    this.#starts = starts;
    this.#languages = languages;
  }

  /** Returns where the postings of a range of words begin. */
  start({ from }: WordRange): number {
    return this.#starts[from] ?? 0;
  }

  /** Returns where the postings of a range of words end. */
  end({ to }: WordRange): number {
    return this.#starts[to] ?? 0;
  }

  /** Returns how many postings a range of words has. */
  count(range: WordRange): number {
    return this.end(range) - this.start(range);
  }

  /** Whether a word is here, or where it is open one that begins with it. */
  knows(word: string, open: boolean): boolean {
    const { from, to } = open ? this.vocabulary.beginningWith(word) : this.vocabulary.find(word);
    return from < to;
  }

  /** Returns the word and its other forms: plurals and the like, in the languages that each is used in. */
  formsOf(word: string, fit: number): Expansion[] {
    const { vocabulary } = this;
    const own = vocabulary.find(word);
    const expansions: Expansion[] = own.from < own.to ? [{ ...own, fit }] : [];
    if (word.length < minCommonPrefixLength) return expansions;
    const similar = vocabulary.beginningWith(word.slice(0, minCommonPrefixLength));
    let used = 0;
    for (let place = similar.from; place < similar.to; place++) used |= this.#languages[place] ?? 0;
    if (used === 0) return expansions;
    const stems = new Stems(word);
    const { from, to } = vocabulary.beginningWith(stems.beginning(used));
    for (let place = from; place < to; place++) {
      const languages = this.#languages[place] ?? 0;
      if (languages === 0 || (place >= own.from && place < own.to)) continue;
      if (stems.areSharedBy(vocabulary.word(place), languages))
        expansions.push({ from: place, to: place + 1, fit: fit * formFit });
    }
    return expansions;
  }

  /** Returns the words that begin with a text. */
  beginningWith(text: string, fit: number): Expansion[] {
    const range = this.vocabulary.beginningWith(text);
    return range.from < range.to ? [{ ...range, fit }] : [];
  }

  /** Returns the words that have a text within. */
  containing(text: string, fit: number): Expansion[] {
    if (this.#within.text !== text) this.#within = { text, ranges: this.vocabulary.containing(text) };
    return this.#within.ranges.map((range) => ({ ...range, fit }));
  }
}

const formFit = 0.9;
