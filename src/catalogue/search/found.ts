import type { IndexedBot } from '../store/bot-index.ts';
import type { SearchPart } from './find-term.ts';
import { type IndexSegment, type Kind, KindNumbers } from './segment.ts';

/** How the words of a query were read. */
export interface QueryReading {
  /** What was searched for instead, where a word is in no bot and others are spelled nearly like it. */
  readonly corrected: string | undefined;
  /** The words that no bot has. */
  readonly unmatched: readonly string[];
}

/** What a search found. A bot is known by its place here until it is needed: most are only counted. */
export class Found implements QueryReading {
  /** How many bots were found. */
  readonly size: number;
  /** How well each of the bots fits, above 0. */
  readonly scores: Float32Array;
  /** What each of the bots is: its place in `allKinds`. */
  readonly kinds: Uint16Array;
  readonly allKinds: readonly Kind[];
  readonly corrected: string | undefined;
  readonly unmatched: readonly string[];
  /** Each bot's number in its segment. */
  readonly #numbers: Uint32Array;
  readonly #segments: readonly { readonly segment: IndexSegment; readonly end: number }[];

  /**
   * Puts together what the parts of a search have. A bot that has only some of the terms scores less.
   * @param weight of all terms
   */
  constructor(parts: readonly SearchPart[], weight: number, { corrected, unmatched }: QueryReading) {
    this.corrected = corrected;
    this.unmatched = unmatched;
    const maxFound = parts.reduce((sum, { memory }) => sum + memory.found.size + memory.names.size, 0);
    const numbers = new Uint32Array(maxFound);
    const scores = new Float32Array(maxFound);
    const kinds = new Uint16Array(maxFound);
    const kindNumbers = new KindNumbers();
    let size = 0;
    this.#segments = parts.map(({ segment, memory: { found, names, covered } }) => {
      const own = Uint16Array.from(segment.kinds, (kind) => kindNumbers.of(kind));
      for (const matches of [found, names]) {
        for (let i = 0; i < matches.size; i++) {
          const number = matches.bots[i] ?? 0;
          if ((matches === names && found.has(number)) || segment.bot(number) === undefined) continue;
          const coverage = weight === 0 ? 0 : (covered[number] ?? 0) / weight;
          numbers[size] = number;
          kinds[size] = own[segment.kind(number)] ?? 0;
          scores[size++] =
            (found.values[number] ?? 0) * (minCoverageWeight + (1 - minCoverageWeight) * coverage) +
            (names.values[number] ?? 0);
        }
      }
      return { segment, end: size };
    });
    this.size = size;
    this.#numbers = numbers.subarray(0, size);
    this.scores = scores.subarray(0, size);
    this.kinds = kinds.subarray(0, size);
    this.allKinds = kindNumbers.all;
  }

  /** Returns a bot by its place; undefined where it has changed since the search. */
  bot(place: number): IndexedBot | undefined {
    const part = this.#segments.find(({ end }) => place < end);
    return part?.segment.bot(this.#numbers[place] ?? 0);
  }

  /** Every bot that was found, in no order. */
  get bots(): IndexedBot[] {
    return Array.from(this.scores, (_score, place) => this.bot(place)).filter((bot) => bot !== undefined);
  }
}

const minCoverageWeight = 0.2;
