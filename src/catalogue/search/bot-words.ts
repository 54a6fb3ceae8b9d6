import { needsByWord, forEachWord, splitRuns, separateCapitals, withoutBot } from './words.ts';
import { Field } from './postings.ts';
import type { PostingsBuilder } from './postings-builder.ts';
import { toLanguageBit } from './stems.ts';

/** What of a bot is searched: its record as it is served, or its list element, which has no pages. */
export interface SearchedBot {
  readonly category: string;
  readonly contents: Readonly<Record<string, SearchedContent>>;
}

interface SearchedContent {
  readonly name: string;
  readonly description: string;
  readonly page?: string;
}

/** Adds the words of a bot's category, and of its names and descriptions in every language. */
export function addBotWords(builder: PostingsBuilder, bot: number, searched: SearchedBot): void {
  builder.add(toCategoryWord(searched.category), bot, Field.name, 0, 0);
  for (const name of new Set(
    Object.values(searched.contents).map((content) => toWholeNameWord(content.name)),
  ))
    builder.add(name, bot, Field.name, 0, 0);
  addTexts(builder, bot, Field.name, searched, ({ name }) => separateCapitals(name));
  addTexts(builder, bot, Field.description, searched, ({ description }) => description);
}

/** Adds the words of a bot's pages. */
export function addPages(builder: PostingsBuilder, bot: number, searched: SearchedBot): void {
  addTexts(builder, bot, Field.page, searched, ({ page = '' }) => page);
}

/** Adds the different texts of a field. A word counts less in a long one, and in one that claims to do everything. */
function addTexts(
  builder: PostingsBuilder,
  bot: number,
  field: Field,
  { contents }: SearchedBot,
  toText: (content: SearchedContent) => string,
): void {
  const different = new Map(Object.entries(contents).map(([locale, content]) => [toText(content), locale]));
  const needs = new Set<string>();
  let place = 0;
  let length = 0;
  for (const [text, locale] of different) {
    const language = toLanguageBit(locale);
    const end = forEachWord(text.replace(addresses, ' '), place, (word, at) => {
      builder.add(word, bot, field, at, language);
      const need = needsByWord.get(word);
      if (need !== undefined) needs.add(need);
    });
    length += end - place;
    place = end + 1;
  }
  const { usual, strength } = lengths[field];
  const longer = length / different.size / usual;
  const claims = field === Field.description ? Math.max(0, needs.size - maxClaims) * claimStrength : 0;
  const share = 1 / (1 - strength + strength * longer + claims);
  builder.setShare(bot, field, share / Math.sqrt(different.size));
}

/** How many words a text of each field has usually, and how much its length counts: the b of BM25F. */
const lengths = [
  { usual: 2, strength: 0.3 },
  { usual: 12, strength: 0.35 },
  { usual: 120, strength: 0.4 },
] as const;

/** What a bot does of all that people look for, before its description counts less. */
const maxClaims = 3;
const claimStrength = 0.2;

/** Returns the word that a category is indexed as; no text has it. */
export function toCategoryWord(category: string): string {
  return `#${category}`;
}

/** Returns the word that a whole name is indexed as, without spaces and a "bot" at its end; no text has it. */
export function toWholeNameWord(name: string): string {
  const words = splitRuns(name).map(({ text }) => text);
  return `=${withoutBot(words.join(''))}`;
}

const addresses = /https?:\/\/[^\s)>"']+/g;
