import type { VNode } from 'preact';
import { type Locale, directionOf } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { parseQuery } from '../../http/request.ts';
import { aboutPath } from '../page/addresses.ts';
import { withoutBidiControls, findInitial } from '../page/elements.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout, SearchForm } from '../page/layout.tsx';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { BotAvatar, BotLine, BotName, Cards, type ListedBot } from './card.tsx';
import { Tiles } from './categories-page.tsx';
import {
  chooseShelves,
  findReaderLanguages,
  type FrontLists,
  type ShelfName,
  showIn,
  toKey,
} from './front-list.ts';
import { formatFrontPath, isFront, noQuery, readFrontQuery } from './front-query.ts';
import { createListMeta, createListView } from './list-page.tsx';

/** Adds the front page. With a search, a filter or an order in its address, it is a list. */
export function addFrontPage(addPage: AddPage, { site, authors }: PageParts, lists: FrontLists): void {
  const nameOf = (account: string): string | undefined => authors.findProfile(account)?.name;
  addPage('/', async (ctx) => {
    const params = parseQuery(ctx);
    const query = readFrontQuery(params, undefined);
    const language = site.languages.of(ctx);
    const category = site.settings.categories.find((id) => id === params.get('category'));
    if (category !== undefined) return formatFrontPath({ ...query, category });
    if (!isFront(query)) return await createListView(ctx, site, lists, query);
    const { featured: chosen, maintainers } = site.settings;
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
    return {
      key: {
        page: 'front',
        featured: first?.map(toKey),
        shelves: shelves.map(({ shown }) => shown.map(toKey)),
      },
      render: async () => {
        const [bot] = first ? lists.toListed(first) : [];
        return (
          <FrontPage
            {...{ ...sizes, examples: examples.queries }}
            reviewers={maintainers.flatMap((account) => nameOf(account) ?? [])}
            featured={bot && chosen ? { ...bot, why: chosen.why, by: nameOf(chosen.by) } : null}
            shelves={shelves.map(({ shown, ...shelf }) => ({ ...shelf, bots: lists.toListed(shown) }))}
          />
        );
      },
    };
  });
}

/** Best first. */
const exampleKeys = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const).map((number) => `example.${number}` as const);

/** With the sizes of the catalogue without bots for adults. */
interface FrontPageProps extends CatalogueSizes {
  /** The names of the reviewers who have one. */
  readonly reviewers: readonly string[];
  readonly featured: FeaturedBot | null;
  readonly shelves: readonly ShownShelf[];
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** A bot that a maintainer chose. */
interface FeaturedBot extends ListedBot {
  /** The name of the maintainer; undefined without a name. */
  readonly by: string | undefined;
  readonly why: string;
}

/** Some bots of a list. */
interface ShownShelf {
  readonly sort: ShelfName;
  /** The public path of the whole list; undefined if all bots are shown. */
  readonly path: string | undefined;
  readonly bots: readonly ListedBot[];
}

/** The first page for a visitor: a search, the categories, a bot that a maintainer chose, and shelves of bots. */
function FrontPage(props: FrontPageProps): VNode {
  const { total, locales, featured, shelves } = props;
  const { site } = useVisit();
  const language = useLanguage();
  const { t, text, href } = language;
  const { name, tagline, language: standard } = site.settings;
  const description = tagline ?? text('front.title');
  const meta = createListMeta({ site, query: noQuery, title: name, description, language });
  return (
    <Layout meta={meta} isFront>
      <div class="hero">
        {tagline === null ? (
          <h1>{t('front.title')}</h1>
        ) : (
          <h1 lang={standard} dir={directionOf(standard)}>
            {tagline}
          </h1>
        )}
        <p>
          <Reviewers {...props} />
          {t('front.line', { count: total, languages: locales.size })}
        </p>
        <SearchForm q="" />
        <Examples {...props} />
      </div>
      <Tiles {...props} leadsToAll />
      {featured && <Featured {...featured} own={standard} />}
      {shelves.map(({ sort, path, bots }, i) => (
        <section key={sort} class="shelf" aria-labelledby={sort}>
          <div class="shelf-head">
            <h2 id={sort}>{t(`shelf.${sort}`)}</h2>
            {path !== undefined && (
              <a href={path}>
                {t('shelf.seeAll')}
                <span class="out-of-sight">: {t(`shelf.${sort}`)}</span>
              </a>
            )}
          </div>
          <Cards bots={bots} heading="h3" atOnce={i === 0 ? cardsAtOnce : 0} />
        </section>
      ))}
      {total === 0 && (
        <div class="empty">
          <h2>{t('list.empty')}</h2>
          <p>{t('list.emptyAdvice')}</p>
          {site.hasForms && (
            <a class="button" href={href('/add')}>
              {t('layout.add')}
            </a>
          )}
        </div>
      )}
    </Layout>
  );
}

/** The number of cards that a screen shows without scrolling. */
const cardsAtOnce = 3;

/** The initials of the first reviewers, with a link to how they review. */
function Reviewers({ reviewers }: FrontPageProps): VNode | null {
  const { text, href } = useLanguage();
  if (reviewers.length === 0) return null;
  return (
    <a class="initials" href={href(aboutPath)} aria-label={text('about.review')}>
      {reviewers.slice(0, maxInitials).map((name) => (
        <span key={name} class="initial">
          {findInitial(name)}
        </span>
      ))}
    </a>
  );
}

const maxInitials = 3;

function Examples({ examples }: FrontPageProps): VNode | null {
  const { t, href } = useLanguage();
  if (examples.length < minExamples) return null;
  return (
    <ul class="examples">
      <li>{t('front.examples')}</li>
      {examples.map((q) => (
        <li key={q}>
          <a href={href(formatFrontPath({ ...noQuery, q }))}>{q}</a>
        </li>
      ))}
    </ul>
  );
}

const minExamples = 3;

/** @param props.own the language in which the maintainer wrote */
function Featured(props: FeaturedBot & { readonly own: Locale }): VNode {
  const { bot, locale, by, why, own } = props;
  const { t, text, href } = useLanguage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const path = href(`/bots/${bot.id}`);
  const language = { lang: locale, dir: directionOf(locale) };
  return (
    <section class="featured" aria-labelledby="featured">
      <a class="cover" href={path} tabIndex={-1} aria-hidden="true">
        <img src={bot.cachedImages.cover ?? ''} alt="" width="1280" height="400" />
      </a>
      <div class="words">
        <div class="headline">
          <BotAvatar {...{ bot, name: shown }} size={72} />
          <div>
            <p class="kicker">{t('front.featured')}</p>
            <h2 id="featured">
              <BotName {...props} />
            </h2>
            <BotLine {...props} />
          </div>
        </div>
        <p {...language}>{withoutBidiControls(description)}</p>
        <p class="said">
          {by !== undefined && (
            <span class="initial" aria-hidden="true">
              {findInitial(by)}
            </span>
          )}
          <span>
            {by !== undefined && t('front.chosenBy', { name: by })}{' '}
            <q lang={own} dir={directionOf(own)}>
              {why}
            </q>
          </span>
        </p>
        <ul class="actions">
          <li>
            <a class="button" href={bot.invite} rel="nofollow ugc noopener">
              {t('bot.invite')}
            </a>
          </li>
          <li>
            <a class="button quiet" href={path}>
              {text('front.see', { bot: shown })}
            </a>
          </li>
        </ul>
      </div>
    </section>
  );
}
