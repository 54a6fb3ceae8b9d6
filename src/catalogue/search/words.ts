import { normalise } from './normalise.ts';

/** A stretch of letters and digits of one script. */
export interface Word {
  readonly text: string;
  /** Whether its script puts no spaces between words, or joins particles to them. */
  readonly unspaced: boolean;
}

/**
 * Splits a text at what is neither letter nor digit, and at a change of script. `c++` and `c#` stay whole; an Arabic word has
 * no article, nor the short words before it.
 */
export function splitRuns(text: string): Word[] {
  return Array.from(normalise(text).matchAll(pattern), ([whole, unspaced]) => ({
    text: whole.replace(/^(?:[وفبك]?ال|لل)(?=\p{L}{3})/u, ''),
    unspaced: unspaced !== undefined,
  })).filter((run) => run.text.length <= maxRunLength);
}

/**
 * Calls back with each word that a text is found by, and its place: a word takes up one, a letter of an unspaced script too.
 * Unspaced scripts are cut into pairs of letters, as only a dictionary knows their words.
 * @param place where the first word is
 * @returns the place after the last word
 */
export function forEachWord(
  text: string,
  place: number,
  onWord: (word: string, place: number) => void,
): number {
  for (const { text: word, unspaced } of splitRuns(text)) {
    const letters = unspaced ? Array.from(word) : [];
    letters.forEach((letter, i) => onWord(letter + (letters[i + 1] ?? ''), place + i));
    if (!unspaced) onWord(word, place);
    place += unspaced ? letters.length : 1;
  }
  return place;
}

/** Returns the pairs of letters that a word of an unspaced script is looked up by. */
export function listLetterPairs(word: string): string[] {
  const letters = Array.from(word);
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** Splits what a person typed into words; those of an unspaced script as a dictionary has them. */
export function splitTypedWords(text: string): Word[] {
  return splitRuns(text).flatMap((run) => {
    if (!run.unspaced) return [run];
    segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
    return Array.from(segmenter.segment(run.text), ({ segment }) => {
      return { text: segment.replace(particle, '$1'), unspaced: true };
    });
  });
}

/** Returns a word without the "bot" that it ends with: "musicbot". */
export function withoutBot(word: string): string {
  return word.replace(/^(\p{L}{3,}?)(?:bots?|бот[аы]?)$/u, '$1');
}

/** Made when it is first needed, which takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** What Korean writes at the end of a word. */
const particle =
  /^(\p{sc=Hang}{2,}?)(?:해주는|하는|에서|으로|들을|들이|을|를|이|가|은|는|의|에|로|와|과|도|봇)+$/u;

/** Separates words that only capitals or digits separate: DankMemer, Jukebox9000. */
export function separateCapitals(name: string): string {
  return name.replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\d)/gu, ' ');
}

/** Nothing that long is a word; addresses and keys are. */
const maxRunLength = 40;

const unspaced =
  '[\\p{sc=Han}々]+|\\p{sc=Hira}+|[\\p{sc=Kana}ー]+|\\p{sc=Hang}+|[\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]+';
const spaced = ['Latn', 'Cyrl', 'Grek', 'Arab'].map((script) => `[\\p{sc=${script}}\\p{M}\\p{N}]+`);
const others = '(?:(?![\\p{sc=Latn}\\p{sc=Cyrl}\\p{sc=Grek}\\p{sc=Arab}])[\\p{L}\\p{M}\\p{N}])+';
const programming = '[a-z]{1,2}(?:\\+\\+|#)(?![\\p{L}\\p{N}+#])';
const pattern = new RegExp(`(${unspaced})|${[programming, ...spaced, others].join('|')}`, 'gu');
