import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { Author, AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Lists } from '../../catalogue/lists/lists.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { formatCount } from '../../lib/text.ts';
import { chooseLocale, directionOf, findLanguages, isIn, parseLanguageRanges } from '../language/locales.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { toAuthorPath, toFeedPath } from '../page/addresses.ts';
import { ActionLink, Fact, FollowLinks, OwnLink, withoutBidiControls } from '../page/elements.tsx';
import type { PageMeta } from '../page/head.tsx';
import type { PageView } from '../page/html-response.ts';
import { Layout, type PageProps, type Site } from '../page/layout.tsx';
import { Cards, type ListedBot } from './card.tsx';
import { CategoriesPage } from './categories-page.tsx';
import { chooseShelves, type FrontList, type FrontLists, type ShownEntry } from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import { formatFrontPath, type FrontQuery, noQuery } from './front-query.ts';
import { cardsAtOnce, ListPage } from './list-page.tsx';

/** Returns how the front page is made for a reader of a language. */
export async function createFrontView(
  ctx: Context,
  { settings }: Site,
  lists: FrontLists,
  authors: AuthorIndex,
  language: PageLanguage,
): Promise<PageView> {
  const { featured: chosen, maintainers } = settings;
  const front = await lists.front(chosen);
  const { sizes, featured } = front;
  const examples = await lists.examples(exampleKeys.map((key) => language.text(key)));
  const languages = findReaderLanguages(ctx, language, [...sizes.locales.keys()]);
  const shelves = chooseShelves(front, languages.known).map(({ sort, bots }) => {
    const path = language.href(formatFrontPath({ ...noQuery, sort }));
    const isWhole = bots.length === sizes.total;
    return { sort, path: isWhole ? undefined : path, shown: showIn(languages, bots) };
  });
  const first = featured && showIn(languages, [featured]);
  const nameOf = (account: string): string | undefined => authors.findProfile(account)?.name;
  return {
    key: {
      page: 'front',
      featured: first?.map(toKey),
      shelves: shelves.map(({ shown }) => shown.map(toKey)),
    },
    render: async (props) => {
      const [bot] = first ? lists.toListed(first) : [];
      return (
        <FrontPage
          {...{ ...props, ...sizes, examples: examples.queries }}
          reviewers={maintainers.flatMap((account) => nameOf(account) ?? [])}
          featured={bot && chosen ? { ...bot, why: chosen.why, by: nameOf(chosen.by) } : null}
          shelves={shelves.map(({ shown, ...shelf }) => ({ ...shelf, bots: lists.toListed(shown) }))}
        />
      );
    },
  };
}

/** Returns how the page of all categories is made. */
export async function createCategoriesView(lists: Lists): Promise<PageView> {
  const sizes = await lists.sizes(false);
  return {
    key: { page: 'categories' },
    render: async (props) => <CategoriesPage {...{ ...props, ...sizes }} />,
  };
}

/**
 * Returns how the page of a list is made.
 * @throws {BotshelfError} queue-full
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function listView(
  ctx: Context,
  site: Site,
  lists: FrontLists,
  query: FrontQuery,
): Promise<PageView> {
  const { bots, matched, nearest, ...numbers } = await lists.get(query, ctx.ip);
  const { pages } = numbers;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = findReaderLanguages(ctx, site.languages.of(ctx), numbers.languages);
  const shown = showIn(languages, bots, matched, query.filters.locale);
  const near = showIn(languages, nearest);
  return {
    key: { query, shown: shown.map(toKey), near: near.map(toKey) },
    render: async (props) => {
      const listed = { bots: lists.toListed(shown), nearest: lists.toListed(near) };
      return <ListPage {...{ ...props, ...numbers, ...listed, query }} />;
    },
  };
}

/**
 * Returns how the page of an author is made.
 * @throws {BotshelfError} queue-full
 */
export async function createAuthorView(
  ctx: Context,
  { languages, settings }: Site,
  lists: FrontLists,
  author: Author,
): Promise<PageView> {
  const { id, profile, locales } = author;
  const language = languages.of(ctx);
  const { bots } = await lists.get({ ...noQuery, filters: { author: id } }, ctx.ip);
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

interface AuthorPageProps extends PageProps, Author {
  /** The language to show the description in; undefined if there is none. */
  readonly locale: Locale | undefined;
  /** The first of the bots that are not for adults. */
  readonly shown: readonly ListedBot[];
}

/** Who an author is, and their bots. */
function AuthorPage(props: AuthorPageProps): VNode {
  const { site, viewer, id, profile, bots, since, locales, locale, shown } = props;
  const language = useLanguage();
  const { t, text, day, href, languageName } = language;
  const { website = null, description = {} } = profile ?? {};
  const title = profile ? withoutBidiControls(profile.name) : text('author.ofBots', { count: bots.length });
  const about = withoutBidiControls((locale && description[locale]) ?? '');
  const list = href(formatFrontPath({ ...noQuery, filters: { author: id } }));
  const address = site.canonicalUrl + toAuthorPath(id);
  const feed = { title, path: toFeedPath('author', id) };
  const meta: PageMeta = {
    address,
    title,
    description: about || title,
    locale: locale ?? language.locale,
    isListed: bots.length > 0,
    feed,
    data: profile ? [{ '@context': 'https://schema.org', '@type': 'Person', name: title, url: address }] : [],
  };
  return (
    <Layout {...{ site, viewer, title, meta }}>
      <div class="list-head">
        <h1>
          <bdi>{title}</bdi>
        </h1>
        {locale && <p {...{ lang: locale, dir: directionOf(locale) }}>{about}</p>}
        {since !== null && (
          <dl class="bot-facts">
            <Fact name={t('author.since')}>{day(since)}</Fact>
            <Fact name={t('author.languages')}>
              {language.list.format(locales.map((other) => languageName(other, locales)))}
            </Fact>
          </dl>
        )}
        {website !== null && (
          <ul class="actions">
            <OwnLink href={website}>{t('bot.website')}</OwnLink>
          </ul>
        )}
        <FollowLinks {...{ site, path: feed.path }} />
      </div>
      {shown.length > 0 && <Cards bots={shown} heading="h2" atOnce={cardsAtOnce} hidesAuthors />}
      {shown.length < bots.length && <ActionLink href={list}>{t('shelf.seeAll')}</ActionLink>}
    </Layout>
  );
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
  { requested, locale, wanted }: PageLanguage,
  locales: readonly Locale[],
): ReaderLanguages {
  const chosen = requested === undefined ? parseLanguageRanges(ctx.get('Accept-Language')) : [requested];
  return {
    wanted: findLanguages([...wanted, locale], locales),
    known: findLanguages([...chosen, locale], locales),
  };
}

/**
 * Shows each bot in a language of the reader if it has one, else in one in which a search matches it, unless all have a page
 * in `common`.
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
    const isChosen = isIn(known, [chosen]) || found.includes(chosen);
    const locale = common ?? (isChosen ? chosen : (found[0] ?? chosen));
    return { bot, locale, namesLanguage: !isIn(known, [locale]) };
  });
}

/** Returns what a page depends on, instead of the many ways to request languages. */
export function toKey({ bot, ...shown }: ShownEntry): object {
  return { id: bot.id, ...shown };
}
