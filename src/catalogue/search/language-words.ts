import { readdirSync, readFileSync } from 'node:fs';
import { parse } from 'node:path';
import { normalise } from './normalise.ts';

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
