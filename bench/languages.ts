import { readFileSync } from 'node:fs';
import { Random, Ranked } from './random.ts';

/** A language of generated bots. */
export interface Language {
  readonly locale: string;
  /** Words in the order of their use: a few real ones, then invented ones that sound alike. */
  readonly words: Ranked<string>;
  /** Bare invented words, for names. */
  readonly inventions: readonly string[];
  /** What is written between words, after a clause and after a sentence. */
  readonly space: string;
  readonly comma: string;
  readonly stop: string;
  /** How many Latin letters say as much as one character of this script. */
  readonly density: number;
}

/** Returns the languages, ordered by how many bots use them in listings of chat-platform bots. Made at the first use. */
export function languages(): readonly Language[] {
  made ??= (JSON.parse(readFileSync(file, 'utf8')) as Spoken[]).map(make);
  return made;
}

const file = new URL('./bench/languages.json', import.meta.resolve('#package'));

let made: readonly Language[] | undefined;

function make({ locale, words, syllables, han = false, comma = ', ' }: Spoken, index: number): Language {
  const inventions = invent(syllables.split(' '), han ? [1, 3] : [2, 4], new Random(index + 1));
  return {
    locale,
    words: new Ranked([...words.split(' '), ...inventions]),
    inventions,
    space: han ? '' : ' ',
    comma: han ? '、' : comma,
    stop: han ? '。' : '. ',
    density: han ? 2.5 : 1,
  };
}

/** As many words as a language invents. */
const wordCount = 5000;

function invent(syllables: readonly string[], [least, most]: [number, number], random: Random): string[] {
  const words = new Set<string>();
  while (words.size < wordCount) {
    let word = '';
    for (let length = random.integer(least, most); length > 0; length--) word += random.pick(syllables);
    words.add(word);
  }
  return [...words];
}

/** A language in languages.json. */
interface Spoken {
  readonly locale: string;
  readonly words: string;
  readonly syllables: string;
  /** Written without spaces between words. */
  readonly han?: boolean;
  readonly comma?: string;
}
