import type { Context } from 'koa';
import type { Locale } from '../../bot/locale.ts';
import type { Author } from '../../catalogue/lists/authors.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { toAddressGroup } from '../../lib/network.ts';
import { formatCount } from '../../lib/text.ts';
import { chooseLocale, findLanguages, isIn, listWantedRanges } from '../language/locales.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import { toCollectionPath } from '../page/addresses.ts';
import type { PageRecipe } from '../page/html-response.ts';
import type { Site } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { AuthorPage } from './author-page.tsx';
import { listLinkedCollections, showCollection } from './collections.ts';
import {
  chooseCollections,
  chooseShelves,
  type FrontList,
  type FrontLists,
  type ShownEntry,
} from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import { formatFrontPath, type FrontQuery, noQuery } from './front-query.ts';
import { ListPage } from './list-page.tsx';

/** Returns how the front page is made for a reader of a language. */
export async function createFrontRecipe(
  ctx: Context,
  { bots, collections }: Pick<SiteParts, 'bots' | 'collections'>,
  lists: FrontLists,
  query: FrontQuery,
  language: PageLanguage,
): Promise<PageRecipe> {
  const front = await lists.front();
  const examples = await lists.examples(exampleKeys.map((key) => language.text(key)));
  const languages = findReaderLanguages(ctx, language, [...front.sizes.locales.keys()]);
  const linked = listLinkedCollections(collections, bots);
  const chosen = chooseCollections(linked, languages.known);
  const recommended = chosen.map(({ collection, listed }) => {
    const { name, title, locale } = showCollection(collection, languages.known);
    const path = language.href(toCollectionPath(name));
    return { id: `collection-${name}`, title, locale, path, shown: showIn(languages, listed) };
  });
  const taken = new Set(chosen.flatMap(({ listed }) => listed));
  const sorted = chooseShelves(front.shelves, languages.known, taken).map(({ sort, bots }) => {
    const path = language.publicPath(formatFrontPath({ ...query, sort }));
    const title = language.text(`shelf.${sort}`);
    const isWhole = bots.length === front.sizes.total;
    return { id: sort, title, path: isWhole ? undefined : path, shown: showIn(languages, bots) };
  });
  const shelves = [...sorted.slice(0, 1), ...recommended, ...sorted.slice(1)];
  return {
    key: { query, shelves: shelves.map(({ shown, ...shelf }) => ({ ...shelf, shown: shown.map(toKey) })) },
    render: async (props) => (
      <FrontPage
        {...{ ...props, ...front.sizes, query, examples: examples.queries }}
        shelves={shelves.map(({ shown, ...shelf }) => ({ ...shelf, bots: lists.toListed(shown) }))}
        hasCollections={linked.length > 0}
      />
    ),
  };
}

/**
 * Returns how the page of a list is made.
 * @throws {BotshelfError} queue-full
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function listRecipe(
  ctx: Context,
  site: Site,
  lists: FrontLists,
  query: FrontQuery,
): Promise<PageRecipe> {
  const { bots, matched, ...numbers } = await lists.get(query, toAddressGroup(ctx.ip));
  const { pages } = numbers;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = findReaderLanguages(ctx, site.languages.of(ctx), numbers.languages);
  const shown = showIn(languages, bots, matched, query.filters.locale);
  return {
    key: { query, shown: shown.map(toKey) },
    render: async (props) => <ListPage {...{ ...props, ...numbers, query, bots: lists.toListed(shown) }} />,
  };
}

/**
 * Returns how the page of an author is made.
 * @throws {BotshelfError} queue-full
 */
export async function createAuthorRecipe(
  ctx: Context,
  { languages, settings }: Site,
  lists: FrontLists,
  author: Author,
): Promise<PageRecipe> {
  const { id, profile, locales } = author;
  const language = languages.of(ctx);
  const { bots } = await lists.get({ ...noQuery, filters: { author: id } }, toAddressGroup(ctx.ip));
  const shown = showIn(findReaderLanguages(ctx, language, locales), bots);
  const described = Object.keys(profile?.description ?? {}) as Locale[];
  const { wanted } = findReaderLanguages(ctx, language, described);
  const known = [...wanted, ...findLanguages([settings.language], described), ...described];
  const props = { ...author, locale: known[0] };
  return {
    key: { author: id, locale: props.locale, shown: shown.map(toKey) },
    render: async (page) => <AuthorPage {...{ ...page, ...props }} shown={lists.toListed(shown)} />,
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

export function findReaderLanguages(
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

/**
 * Shows each bot in the reader's language, unless a search matches it in another one or all have a page in `common`.
 * @param matched the languages in which a search matches each of them
 */
export function showIn(
  { wanted, known }: ReaderLanguages,
  bots: readonly IndexedBot[],
  matched: FrontList['matched'] = [],
  common?: Locale,
): ShownEntry[] {
  return bots.map((bot, i) => {
    const chosen = chooseLocale(bot.facts.locales, wanted) as Locale;
    const found = matched[i] ?? [];
    const locale = common ?? (found.includes(chosen) ? chosen : (found[0] ?? chosen));
    return { bot, locale, namesLanguage: !isIn(known, [locale]) };
  });
}

/** Returns what a page depends on, instead of the many ways to request languages. */
export function toKey({ bot, ...shown }: ShownEntry): object {
  return { id: bot.id, ...shown };
}
