import type { Context } from 'koa';
import type { Locale } from '../../bot/locale.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { formatCount } from '../../lib/counted.ts';
import { whileTrue } from '../../lib/current-cache.ts';
import { chooseLocale, findLanguages, isIn, listWantedRanges } from '../language/locales.ts';
import type { PageRecipe } from '../page/page-cache.ts';
import type { ListedBot } from './card.tsx';
import { chooseShelves } from './choose-shelves.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { FrontEntry, FrontLists } from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import type { FrontQuery } from './front-query.ts';
import { ListPage } from './list-page.tsx';

/** Returns how the front page is made for a reader of a language. */
export async function createFrontRecipe(
  ctx: Context,
  lists: FrontLists,
  query: FrontQuery,
  language: PageLanguage,
): Promise<PageRecipe> {
  const front = await lists.front();
  const examples = await lists.examples(exampleKeys.map((key) => language.text(key)));
  const languages = findReaderLanguages(ctx, language, [...front.sizes.locales.keys()]);
  const shelves = chooseShelves(front.shelves, languages.known).map(({ sort, entries }) => {
    return { sort, shown: showIn(languages, entries) };
  });
  return {
    key: { query, shelves: shelves.map(({ sort, shown }) => ({ sort, shown: shown.map(toKey) })) },
    inputs: [front, examples].map(({ current }) => whileTrue(current)),
    render: async (props) => (
      <FrontPage
        {...{ ...props, ...front.sizes, query, examples: examples.queries }}
        shelves={shelves.map(({ sort, shown }) => ({ sort, bots: shown.map(toListed) }))}
      />
    ),
  };
}

/**
 * Returns how the page of a list is made.
 * @throws {QueueFullError}
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function listRecipe(
  ctx: Context,
  lists: FrontLists,
  query: FrontQuery,
  language: PageLanguage,
): Promise<PageRecipe> {
  const { current, entries, suggestions, ...numbers } = await lists.get(query);
  const { pages } = numbers;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = findReaderLanguages(ctx, language, numbers.languages);
  const [shown, suggested] = [showIn(languages, entries), showIn(languages, suggestions)];
  return {
    key: { query, shown: [...shown, ...suggested].map(toKey) },
    inputs: [whileTrue(current)],
    render: async (props) => (
      <ListPage
        {...{ ...props, ...numbers, query, bots: shown.map(toListed) }}
        suggestions={suggested.map(toListed)}
      />
    ),
  };
}

/** The best first. */
const exampleKeys = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const).map((number) => `example.${number}` as const);

/** The languages of a reader, as those of the catalogue. */
interface ReaderLanguages {
  /** What to show bots in, best first. */
  readonly wanted: readonly Locale[];
  /** What the reader has chosen in the address, or else in the browser; and that of the interface. */
  readonly known: readonly Locale[];
}

function findReaderLanguages(
  ctx: Context,
  { requested, locale }: PageLanguage,
  locales: readonly Locale[],
): ReaderLanguages {
  const accepted = listWantedRanges(undefined, ctx.get('Accept-Language'));
  const chosen = requested === undefined ? accepted : [requested];
  return {
    wanted: findLanguages([...chosen, ...accepted, locale], locales),
    known: findLanguages([...chosen, locale], locales),
  };
}

/** A bot as a reader sees it. */
interface ShownEntry extends FrontEntry, Pick<ListedBot, 'locale' | 'namesLanguage'> {}

/** Shows each bot in the reader's language, unless a search matches it in another one. */
function showIn({ wanted, known }: ReaderLanguages, entries: readonly FrontEntry[]): ShownEntry[] {
  return entries.map((entry) => {
    const { bot, matched } = entry;
    const chosen = chooseLocale(bot.facts.locales, wanted) as Locale;
    const locale = matched.includes(chosen) ? chosen : (matched[0] ?? chosen);
    return { ...entry, locale, namesLanguage: !isIn(known, [locale]) };
  });
}

/** Returns what a page depends on, instead of the many ways to request languages. */
function toKey({ bot, locale, namesLanguage }: ShownEntry): object {
  return { id: bot.id, locale, namesLanguage };
}

function toListed({ bot, ...shown }: ShownEntry): ListedBot {
  return { ...shown, bot: parseListElement(bot) };
}
