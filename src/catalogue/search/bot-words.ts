import { Field, type PostingsBuilder } from './postings.ts';
import { toLanguageBit } from './stems.ts';
import { forEachWord, splitRuns, separateCapitals } from './words.ts';

/** What of a bot is searched: its record as it is served, or its list element, which has no pages. */
export interface SearchedBot {
  readonly category: string;
  readonly contents: Readonly<
    Record<string, { readonly name: string; readonly description: string; readonly page?: string }>
  >;
}

/** Adds the words of a bot's category, and of its names and descriptions in every language. */
export function addBotWords(
  builder: PostingsBuilder,
  bot: number,
  { category, contents }: SearchedBot,
): void {
  builder.add(toCategoryWord(category), bot, Field.category, 0, 0);
  const read = new Set<string>();
  let place = 0;
  const add = (text: string, field: Field, language: number): void => {
    if (read.has(text)) return;
    read.add(text);
    place = 1 + forEachWord(text, place, (word, at) => builder.add(word, bot, field, at, language));
  };
  for (const [locale, { name, description }] of Object.entries(contents)) {
    const language = toLanguageBit(locale);
    const whole = toWholeNameWord(name);
    if (!read.has(whole)) builder.add(whole, bot, Field.name, 0, 0);
    read.add(whole);
    add(separateCapitals(name), Field.name, language);
    add(description, Field.description, language);
  }
}

/** Adds the words of a bot's pages, each once. */
export function addPages(builder: PostingsBuilder, bot: number, { contents }: SearchedBot): void {
  for (const [locale, { page = '' }] of Object.entries(contents)) {
    const language = toLanguageBit(locale);
    forEachWord(page.replace(addresses, ' '), 0, (word) => {
      builder.addOnce(word, bot, Field.page, language);
    });
  }
}

/** Returns the word that a category is indexed as; no text has it. */
export function toCategoryWord(category: string): string {
  return `#${category}`;
}

/** Returns the word that a whole name is indexed as, written without spaces; no text has it. */
export function toWholeNameWord(name: string): string {
  return `=${joinWords(name)}`;
}

/** Returns the letters and digits of a text alone. */
export function joinWords(text: string): string {
  return splitRuns(text)
    .map((run) => run.text)
    .join('');
}

const addresses = /https?:\/\/[^\s)>"']+/g;
