import type { Command, CommandOption, Translation } from '../../../schemas/types.ts';
import { forEachWord, splitRuns, separateCapitals, withoutBot, withoutMarkup } from './words.ts';
import { Field } from './postings.ts';
import type { PostingsBuilder } from './word-index.ts';
import { toLanguageBit } from './stems.ts';

/** The parts of a bot that are searched. A record has them all; a list element does not have pages or commands. */
export interface SearchedBot {
  readonly category: string;
  readonly contents: Readonly<Record<string, SearchedContent>>;
  readonly commands?: readonly Command[];
}

type SearchedContent = Translation & { readonly page?: string };

/** Adds the words of a bot's category and whole names, and of its names and descriptions in every language. */
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

/** Adds the words of a bot's pages and commands in every language. */
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

/** Collects the names and descriptions of commands and their options, by language. @param locale of texts without a language */
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

/** Adds the distinct texts of a field, each with its language. Words weigh less in a long text. */
function addTexts(
  builder: PostingsBuilder,
  bot: number,
  field: Field,
  texts: ReadonlyMap<string, string>,
): void {
  let place = 0;
  let length = 0;
  for (const [text, locale] of texts) {
    const language = toLanguageBit(locale);
    const end = forEachWord(withoutMarkup(text), place, (word, at) => {
      const bare = withoutBot(word);
      builder.add(word, bot, field, at, language);
      if (bare !== word) builder.add(bare, bot, field, at, language);
    });
    length += end - place;
    place = end + 1;
  }
  const { usualWords, b } = fieldLengths[field];
  const relativeLength = length / texts.size / usualWords;
  const share = 1 / (1 - b + b * relativeLength);
  builder.setShare(bot, field, share / Math.sqrt(texts.size));
}

/** For each field, the usual number of words in a text, and BM25F's b: the influence of a text's length on the weight. */
const fieldLengths = [
  { usualWords: 2, b: 0.3 },
  { usualWords: 20, b: 0.35 },
  { usualWords: 120, b: 0.4 },
  { usualWords: 60, b: 0.4 },
] as const;

/** Returns the word under which a category is indexed. Texts never contain it. */
export function toCategoryWord(category: string): string {
  return `#${category}`;
}

/** Returns the word under which a whole name is indexed, without spaces and a final "bot". Texts never contain it. */
export function toWholeNameWord(name: string): string {
  const words = splitRuns(name).map(({ text }) => text);
  return `=${withoutBot(words.join(''))}`;
}
