import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { normalise } from '../../lib/text.ts';

/** A stretch of letters and digits of one script, or an emoji. */
export interface Word {
  readonly text: string;
  /** Whether its script puts no spaces between words, or joins particles to them. */
  readonly unspaced: boolean;
}

/**
 * Splits a text at what is no letter, digit or emoji, and at a change of script. `c++` and `c#` stay whole; an Arabic word has
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
const emoji = '\\p{Extended_Pictographic}';
const pattern = new RegExp(`(${unspaced})|${[programming, ...spaced, others, emoji].join('|')}`, 'gu');

/** The words of one language, those of a list with spaces between them: `assets/search/<language>.json`. */
interface LanguageWords {
  /** Articles and the like. They count only where a query has no others. */
  readonly stop: string;
  /** Words that say little of what a bot does, such as "server". */
  readonly weak: string;
  /** What people look for: its id, which is that of a category or the same in every language, and words for it. */
  readonly needs: Readonly<Record<string, string>>;
}

const folder = new URL('./assets/search/', import.meta.resolve('#package'));
export const languageWords: ReadonlyMap<string, LanguageWords> = new Map(
  readdirSync(folder).map((file) => [
    parse(file).name,
    JSON.parse(readFileSync(new URL(file, folder), 'utf8')) as LanguageWords,
  ]),
);

const stopWords = collectWords(({ stop }) => stop);
/** Words that say little of what a bot does, though they are no stop words. */
export const weakWords = collectWords(({ weak }) => weak);

function collectWords(list: (words: LanguageWords) => string): ReadonlySet<string> {
  return new Set([...languageWords.values()].flatMap((words) => normalise(list(words)).split(' ')));
}

/** Whether a word says nothing of what a bot does, or little. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word) || weakWords.has(word);
}

/** Returns the words that are no stop words, nor weak ones where those are left out, too; all where none is left. */
export function withoutStopWords<T extends { readonly text: string }>(
  words: readonly T[],
  keepsWeak: boolean,
): readonly T[] {
  const telling = words.filter(({ text }) => !isStopWord(text) || (keepsWeak && weakWords.has(text)));
  return telling.length > 0 ? telling : words;
}

/** What a word is for, by the word: the id of a need. */
export const needsByWord = new Map<string, string>();
for (const { needs } of languageWords.values())
  for (const [id, names] of Object.entries(needs))
    for (const name of normalise(names).split(' ')) needsByWord.set(name, id);
