import type { Command, CommandOption } from '../../../schemas/types.ts';
import { needsByWord, forEachWord, splitRuns, separateCapitals, withoutBot } from './words.ts';
import { Field } from './postings.ts';
import type { PostingsBuilder } from './postings-builder.ts';
import { toLanguageBit } from './stems.ts';

/** The parts of a bot that are searched: its record with its commands, or its list element, which has no pages. */
export interface SearchedBot {
  readonly category: string;
  readonly contents: Readonly<Record<string, SearchedContent>>;
  readonly commands?: readonly Command[];
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
  const contents = Object.entries(searched.contents);
  const add = (field: Field, toText: (content: SearchedContent) => string): void =>
    addTexts(builder, bot, field, new Map(contents.map(([locale, content]) => [toText(content), locale])));
  add(Field.name, ({ name }) => separateCapitals(name));
  add(Field.description, ({ description }) => description);
}

/** Adds the words of a bot's pages, and of its commands in every language. */
export function addPages(
  builder: PostingsBuilder,
  bot: number,
  { contents, commands = [] }: SearchedBot,
): void {
  const pages = Object.entries(contents).map(([locale, { page = '' }]) => [page, locale] as const);
  addTexts(builder, bot, Field.page, new Map(pages));
  if (commands.length === 0) return;
  const texts = new Map<string, string[]>();
  collectTexts(commands, Object.keys(contents)[0] ?? '', texts);
  const joined = Array.from(texts, ([locale, parts]) => [parts.join('\n'), locale] as const);
  addTexts(builder, bot, Field.commands, new Map(joined));
}

/** Adds the texts of commands, or of options, to those of their languages. */
function collectTexts(
  commands: readonly (Command | CommandOption)[],
  locale: string,
  texts: Map<string, string[]>,
): void {
  for (const { name, name_localizations, description = '', description_localizations, options } of commands) {
    const own = [name_localizations, description_localizations].flatMap((known) =>
      Object.entries(known ?? {}),
    );
    for (const [language, text] of [[locale, name], [locale, description], ...own] as const) {
      const known = texts.get(language);
      if (known) known.push(text);
      else texts.set(language, [text]);
    }
    collectTexts(options ?? [], locale, texts);
  }
}

/**
 * Adds the different texts of a field, each with its language. A word counts less in a long one, and in one that claims to do everything.
 */
function addTexts(
  builder: PostingsBuilder,
  bot: number,
  field: Field,
  different: ReadonlyMap<string, string>,
): void {
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
  { usual: 60, strength: 0.4 },
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
