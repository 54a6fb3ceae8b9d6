import { stemmer as arabic } from '@orama/stemmers/arabic';
import { stemmer as danish } from '@orama/stemmers/danish';
import { stemmer as dutch } from '@orama/stemmers/dutch';
import { stemmer as english } from '@orama/stemmers/english';
import { stemmer as finnish } from '@orama/stemmers/finnish';
import { stemmer as french } from '@orama/stemmers/french';
import { stemmer as german } from '@orama/stemmers/german';
import { stemmer as italian } from '@orama/stemmers/italian';
import { stemmer as norwegian } from '@orama/stemmers/norwegian';
import { stemmer as portuguese } from '@orama/stemmers/portuguese';
import { stemmer as russian } from '@orama/stemmers/russian';
import { stemmer as spanish } from '@orama/stemmers/spanish';
import { stemmer as swedish } from '@orama/stemmers/swedish';
import { stemmer as turkish } from '@orama/stemmers/turkish';
import { stemmer as ukrainian } from '@orama/stemmers/ukrainian';

/** The languages with stemmers. The place of a language in `stemmers` is its bit. */
const stemmers: readonly (readonly [language: string, stem: (word: string) => string])[] = [
  ['en', english],
  ['de', german],
  ['fr', (word) => french(word.replace(/(eu|ou|eau)x$/, '$1'))],
  ['es', spanish],
  ['it', italian],
  ['pt', portuguese],
  ['nl', dutch],
  ['ru', russian],
  ['uk', ukrainian],
  ['tr', turkish],
  ['sv', swedish],
  ['da', danish],
  ['nb', norwegian],
  ['fi', finnish],
  ['ar', arabic],
];

/** Returns the bit of a locale's language; 0 without a stemmer. */
export function toLanguageBit(locale: string): number {
  const [language] = locale.split('-');
  const place = stemmers.findIndex(([name]) => name === (language === 'no' ? 'nb' : language));
  return place === -1 ? 0 : 1 << place;
}

/** Returns the stems of a word. Those of the last words are kept, because a search needs them for each index. */
export function getStems(word: string): Stems {
  const stems = lastStems.get(word) ?? new Stems(word);
  if (lastStems.size >= maxLastStems) lastStems.clear();
  lastStems.set(word, stems);
  return stems;
}

const lastStems = new Map<string, Stems>();
const maxLastStems = 1000;

/** The stems of one word in every language, each computed when first needed. */
export class Stems {
  readonly #word: string;
  readonly #stems: (string | undefined)[] = [];

  constructor(word: string) {
    this.#word = word;
  }

  /** Whether another word has the same stem in one of these languages. */
  areSharedBy(other: string, languages: number): boolean {
    return stemmers.some(([, stem], place) => {
      if ((languages & (1 << place)) === 0) return false;
      const own = this.#stem(place, stem);
      // The last letter of a stem may differ from the word's: "currency" has "currenc", "plays" has "plai".
      return countSharedLetters(other, own) >= own.length - 1 && stem(other) === own;
    });
  }

  /** Returns the common beginning of all words with the same stem in one of these languages. */
  findBeginning(languages: number): string {
    let common: string | undefined;
    for (const [place, [, stem]] of stemmers.entries()) {
      if ((languages & (1 << place)) === 0) continue;
      const beginning = this.#stem(place, stem).slice(0, -1);
      common = common?.slice(0, countSharedLetters(common, beginning)) ?? beginning;
    }
    return common ?? '';
  }

  #stem(place: number, stem: (word: string) => string): string {
    return (this.#stems[place] ??= stem(this.#word));
  }
}

/** Minimum number of letters that all forms of a word share; shorter words have no other forms worth finding. */
export const minCommonPrefixLength = 3;

function countSharedLetters(word: string, stem: string): number {
  let length = 0;
  while (length < stem.length && stem[length] === word[length]) length++;
  return length;
}
