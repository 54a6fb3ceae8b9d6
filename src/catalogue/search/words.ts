import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { normalise } from '../../lib/text.ts';

/** A run of letters and digits of one script, or an emoji. */
export interface Word {
  readonly text: string;
  /** Whether its script does not put spaces between words, or joins particles to them. */
  readonly unspaced: boolean;
}

/**
 * Splits a text at every character that is not a letter, digit or emoji, and at changes of script. `c++` and `c#` stay
 * whole; Arabic words are without their article and prefixes.
 */
export function splitRuns(text: string): Word[] {
  return Array.from(normalise(text).matchAll(pattern), ([whole, unspaced]) => ({
    text: whole.replace(/^(?:[وفبك]?ال|لل)(?=\p{L}{3})/u, ''),
    unspaced: unspaced !== undefined,
  })).filter((run) => run.text.length <= maxRunLength);
}

/**
 * Calls back with each indexed word of a text, and its place. A word takes up one place; so does a letter of an
 * unspaced script, which is cut into pairs of letters because only a dictionary knows its words.
 * @param place the place of the first word
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

/** Returns the pairs of letters under which a word of an unspaced script is indexed. */
export function listLetterPairs(word: string): string[] {
  const letters = Array.from(word);
  return letters.length < 2 ? letters : letters.slice(1).map((letter, i) => `${letters[i]}${letter}`);
}

/** Splits typed text into words. Unspaced scripts are split by a dictionary. */
export function splitTypedWords(text: string): Word[] {
  return splitRuns(text).flatMap((run) => {
    if (!run.unspaced) return [run];
    segmenter ??= new Intl.Segmenter('ja', { granularity: 'word' });
    return Array.from(segmenter.segment(run.text), ({ segment }) => {
      return { text: segment.replace(particle, '$1'), unspaced: true };
    });
  });
}

/** Removes the parts of a text that a page does not show: comments, styles, scripts, tags, entities, link targets and addresses. */
export function withoutMarkup(text: string): string {
  return text.replace(unseen, ' ');
}

const unseen =
  /<!--[^]*?(?:-->|$)|<(style|script)\b[^]*?(?:<\/\1|$)|<\/?[a-z][^<>]*>|&#?\w+;|\]\([^()]*\)|https?:\/\/[^\s)>"']+/gi;

/** Removes "bot" from the end of a word: "musicbot". */
export function withoutBot(word: string): string {
  // Most words are not looked at again, because the pattern takes ten times as long.
  const mayEnd = word.includes('bot') || word.includes('бот');
  return mayEnd ? word.replace(/^(\p{L}{3,}?)(?:bots?|бот[аы]?)$/u, '$1') : word;
}

/** Created when first needed, which takes milliseconds. */
let segmenter: Intl.Segmenter | undefined;

/** Particles that Korean adds to the end of a word. */
const particle =
  /^(\p{sc=Hang}{2,}?)(?:해주는|하는|에서|으로|들을|들이|을|를|이|가|은|는|의|에|로|와|과|도|봇)+$/u;

/** Separates words at capitals and digits: DankMemer, Jukebox9000. */
export function separateCapitals(name: string): string {
  return name.replace(/(?<=\p{Ll})(?=\p{Lu})|(?<=\p{L})(?=\d)/gu, ' ');
}

/** Longer runs are not words, but addresses and keys. */
const maxRunLength = 40;

const unspaced =
  '[\\p{sc=Han}々]+|\\p{sc=Hira}+|[\\p{sc=Kana}ー]+|\\p{sc=Hang}+|[\\p{sc=Thai}\\p{sc=Laoo}\\p{sc=Khmr}\\p{sc=Mymr}]+';
const spaced = ['Latn', 'Cyrl', 'Grek', 'Arab'].map((script) => `[\\p{sc=${script}}\\p{M}\\p{N}]+`);
const others = '(?:(?![\\p{sc=Latn}\\p{sc=Cyrl}\\p{sc=Grek}\\p{sc=Arab}])[\\p{L}\\p{M}\\p{N}])+';
const programming = '[a-z]{1,2}(?:\\+\\+|#)(?![\\p{L}\\p{N}+#])';
const emoji = '\\p{Extended_Pictographic}';
const pattern = new RegExp(`(${unspaced})|${[programming, ...spaced, others, emoji].join('|')}`, 'gu');

/** The words of one language, each list separated by spaces: `assets/search/<language>.json`. */
interface LanguageWords {
  /** Articles and the like, which count only in a query without other words. */
  readonly stop: string;
  /** Words that say little of what a bot does, such as "server". */
  readonly weak: string;
  /** The id of a need → its words. The id is a category, or the same text in every language. */
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
/** Words that say little of what a bot does, although they are not stop words. */
export const weakWords = collectWords(({ weak }) => weak);

function collectWords(list: (words: LanguageWords) => string): ReadonlySet<string> {
  return new Set([...languageWords.values()].flatMap((words) => normalise(list(words)).split(' ')));
}

/** Whether a word says little or nothing of what a bot does. */
export function isStopWord(word: string): boolean {
  return stopWords.has(word) || weakWords.has(word);
}

/** Removes stop words, and weak words unless `keepsWeak`. Returns all words if no other is left. */
export function withoutStopWords<T extends { readonly text: string }>(
  words: readonly T[],
  keepsWeak: boolean,
): readonly T[] {
  const telling = words.filter(({ text }) => !isStopWord(text) || (keepsWeak && weakWords.has(text)));
  return telling.length > 0 ? telling : words;
}
