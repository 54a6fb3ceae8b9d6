import { computeLetterMask, type PackedIndex } from './word-index.ts';

/** What part of a bot a word is in. */
export const Field = { name: 0, category: 1, description: 2, page: 3 } as const;
export type Field = (typeof Field)[keyof typeof Field];

/**
 * Returns the bot of a posting, as its number. A posting is one number of 32 bits: the bot's number, the field and the
 * place in the text. Places are kept modulo 32: enough to see which words are neighbours.
 */
export function botOf(posting: number): number {
  return posting >>> 7;
}

export function fieldOf(posting: number): Field {
  return ((posting >>> 5) & 3) as Field;
}

/** Returns the place of a posting's word, as one bit of 32. */
export function placeBitOf(posting: number): number {
  return 1 << (posting & 31);
}

/** Collects postings in the order of the bots' numbers, and packs them. */
export class PostingsBuilder {
  readonly #numbers = new Map<string, number>();
  readonly #words: string[] = [];
  /** By a word's number: its languages, how many postings it has, and 1 + the bot of the last. */
  #languages = new Uint32Array(1024);
  #counts = new Uint32Array(1024);
  #lastBots = new Uint32Array(1024);
  #size = 0;
  #postings = new Uint32Array(4096);
  #wordOf = new Uint32Array(4096);
  readonly #maxBots: number;

  /** @param maxBots a word of more bots than this is left out: it would tell nothing */
  constructor(maxBots = Infinity) {
    this.#maxBots = maxBots;
  }

  add(word: string, bot: number, field: Field, place: number, language: number): void {
    this.#add(this.#numberOf(word), bot, field, place, language);
  }

  /** Adds a word unless it was added for this bot before. */
  addOnce(word: string, bot: number, field: Field, language: number): void {
    const number = this.#numberOf(word);
    if (this.#lastBots[number] !== bot + 1) this.#add(number, bot, field, 0, language);
  }

  #add(number: number, bot: number, field: Field, place: number, language: number): void {
    this.#languages[number] = (this.#languages[number] ?? 0) | language;
    const count = this.#counts[number] ?? 0;
    if (count > this.#maxBots) return;
    this.#counts[number] = count + 1;
    this.#lastBots[number] = bot + 1;
    if (this.#size === this.#postings.length) {
      this.#postings = growArray(this.#postings);
      this.#wordOf = growArray(this.#wordOf);
    }
    this.#postings[this.#size] = (bot << 7) | (field << 5) | (place & 31);
    this.#wordOf[this.#size++] = number;
  }

  pack(): PackedIndex {
    const kept = this.#words.filter((_word, number) => (this.#counts[number] ?? 0) <= this.#maxBots);
    const words = kept.toSorted((a, b) => (a < b ? -1 : 1));
    const wordStarts = new Uint32Array(words.length + 1);
    const starts = new Uint32Array(words.length + 1);
    const languages = new Uint32Array(words.length);
    const placeOf = new Int32Array(this.#words.length).fill(-1);
    words.forEach((word, place) => {
      const number = this.#numberOf(word);
      placeOf[number] = place;
      wordStarts[place + 1] = (wordStarts[place] ?? 0) + word.length;
      starts[place + 1] = (starts[place] ?? 0) + (this.#counts[number] ?? 0);
      languages[place] = this.#languages[number] ?? 0;
    });
    const next = starts.slice(0, -1);
    const postings = new Uint32Array(starts[words.length] ?? 0);
    for (let i = 0; i < this.#size; i++) {
      const place = placeOf[this.#wordOf[i] ?? 0] ?? -1;
      if (place < 0) continue;
      const at = next[place] ?? 0;
      postings[at] = this.#postings[i] ?? 0;
      next[place] = at + 1;
    }
    const letters = Uint32Array.from(words, computeLetterMask);
    return { text: words.join(''), wordStarts, letters, languages, starts, postings };
  }

  #numberOf(word: string): number {
    const known = this.#numbers.get(word);
    if (known !== undefined) return known;
    const number = this.#words.length;
    this.#numbers.set(word, number);
    this.#words.push(word);
    if (number === this.#counts.length) {
      this.#counts = growArray(this.#counts);
      this.#languages = growArray(this.#languages);
      this.#lastBots = growArray(this.#lastBots);
    }
    return number;
  }
}

function growArray(array: Uint32Array<ArrayBuffer>): Uint32Array<ArrayBuffer> {
  const larger = new Uint32Array(array.length * 2);
  larger.set(array);
  return larger;
}
