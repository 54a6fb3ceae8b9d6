import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { parseQuery } from '../../http/request.ts';
import { aboutPath, categoriesPath, collectionsPath } from '../page/addresses.ts';
import { CoverImage, findInitial, toCategoryClass } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import type { AddPage } from '../page/html-response.ts';
import { Layout, SearchForm } from '../page/layout.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';
import {
  BotAvatar,
  BotLine,
  BotName,
  Cards,
  type ListedBot,
  showIn,
  toKey,
  toListed,
  Shelves,
  type ShelfTileProps,
} from './card.tsx';
import { listLinkedCollections, showCollection, toCollectionTile } from './collections.tsx';
import { chooseShelves, type FrontLists, type ShelfName } from './front-list.ts';
import { formatFrontPath, isFront, noQuery, readFrontQuery } from './front-query.ts';
import { createListMeta, createListView } from './list-page.tsx';

/** Adds the front page. With a search, a filter or an order in its address, it is a list. */
export function addFrontPage(addPage: AddPage, parts: PageParts, lists: FrontLists): void {
  const { site, authors } = parts;
  const nameOf = (account: string): string | undefined => authors.findProfile(account)?.name;
  addPage('/', async (ctx) => {
    const params = parseQuery(ctx);
    const query = readFrontQuery(params, undefined);
    const language = site.languages.of(ctx);
    const category = site.settings.categories.find((id) => id === params.get('category'));
    if (category !== undefined) return formatFrontPath({ ...query, category });
    if (!isFront(query)) return await createListView(ctx, parts, lists, query);
    const { featured: chosen, maintainers } = site.settings;
    const front = await lists.front(chosen);
    const { sizes, featured } = front;
    const examples = await lists.examples(exampleKeys.map((key) => language.text(key)));
    const languages = language.findAmong([...sizes.locales.keys()]);
    const shelves = chooseShelves(front, languages).map(({ sort, bots }) => {
      return { sort, shown: showIn(languages, bots) };
    });
    const first = featured && showIn(languages, [featured]);
    const collections = listLinkedCollections(parts).slice(0, maxCollections);
    const ledge = showIn(languages, front.ledge.slice(0, featured ? maxBesideFeatured : maxOnLedge));
    return {
      key: {
        page: 'front',
        featured: first?.map(toKey),
        ledge: ledge.map(toKey),
        collections: collections.map(({ collection: each }) => showCollection(each, language.wanted).locale),
        shelves: shelves.map(({ shown }) => shown.map(toKey)),
      },
      render: async () => {
        const [bot] = first ? toListed(parts, first) : [];
        return (
          <FrontPage
            {...{ ...sizes, examples: examples.queries }}
            reviewers={maintainers.flatMap((account) => nameOf(account) ?? [])}
            ledge={toListed(parts, ledge)}
            featured={bot && chosen ? { ...bot, why: chosen.why, by: nameOf(chosen.by) } : null}
            collections={collections.map((collection) =>
              toCollectionTile(collection, language.wanted, parts.authors),
            )}
            shelves={shelves.map(({ sort, shown }) => ({ sort, bots: toListed(parts, shown) }))}
          />
        );
      },
    };
  });
}

/** The number of bots on the ledge, and that of collections. */
const maxBesideFeatured = 7;
const maxOnLedge = 12;
const maxCollections = 3;

/** Best first. */
const exampleKeys = ([1, 2, 3, 4, 5, 6, 7, 8, 9, 10] as const).map((number) => `example.${number}` as const);

/** With the sizes of the catalogue without bots for adults. */
interface FrontPageProps extends CatalogueSizes {
  /** The names of the reviewers who have one. */
  readonly reviewers: readonly string[];
  readonly ledge: readonly ListedBot[];
  readonly featured: FeaturedBot | null;
  readonly collections: readonly ShelfTileProps[];
  readonly shelves: readonly { readonly sort: ShelfName; readonly bots: readonly ListedBot[] }[];
  /** Searches that find bots. */
  readonly examples: readonly string[];
}

/** A bot that a maintainer chose. */
interface FeaturedBot extends ListedBot {
  /** The name of the maintainer; undefined without a name. */
  readonly by: string | undefined;
  readonly why: string;
}

/** The first page for a visitor: a search, some bots, the categories, a bot that a maintainer chose, collections and shelves. */
function FrontPage(props: FrontPageProps): VNode {
  const { total, featured, collections, shelves } = props;
  const context = usePage();
  const { site, t, text, href } = context;
  const { name, tagline, language: standard } = site.settings;
  const description = tagline ?? text('front.title');
  const meta = createListMeta(context, noQuery, { title: name, description });
  return (
    <Layout
      meta={meta}
      isFront
      wall={
        <>
          <Hero {...props} />
          <CategoryLabels {...props} />
          {featured && <Featured {...featured} own={standard} />}
        </>
      }
    >
      {collections.length > 0 && (
        <FrontShelf id="collections" title={t('front.collections')} path={collectionsPath}>
          <Shelves tiles={collections} heading="h3" />
        </FrontShelf>
      )}
      {shelves.map(({ sort, bots }) => (
        <FrontShelf
          key={sort}
          id={sort}
          title={t(`shelf.${sort}`)}
          path={bots.length < total ? formatFrontPath({ ...noQuery, sort }) : undefined}
        >
          <Cards bots={bots} heading="h3" atOnce={0} />
        </FrontShelf>
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

interface FrontShelfProps {
  readonly id: string;
  readonly title: ComponentChildren;
  /** The path of the whole list; undefined if it is shown. */
  readonly path: string | undefined;
}

function FrontShelf({ id, title, path, children }: RenderableProps<FrontShelfProps>): VNode {
  const { t, href } = usePage();
  return (
    <section class="shelf" aria-labelledby={id}>
      <div class="shelf-head">
        <h2 id={id}>{title}</h2>
        {path !== undefined && (
          <a href={href(path)}>
            {t('shelf.seeAll')}
            <span class="out-of-sight">: {title}</span>
          </a>
        )}
      </div>
      {children}
    </section>
  );
}

/** The heading, the search, and some bots with their names. */
function Hero(props: FrontPageProps): VNode {
  const { total, locales, ledge } = props;
  const { site, t, href } = usePage();
  const { tagline, language } = site.settings;
  return (
    <div class="hero">
      {tagline === null ? (
        <h1>{t('front.title')}</h1>
      ) : (
        <h1 lang={language} dir={directionOf(language)}>
          {tagline}
        </h1>
      )}
      <p>
        <Reviewers {...props} />
        {t('front.line', { count: total, languages: locales.size })}
      </p>
      <SearchForm q="" />
      <Examples {...props} />
      {ledge.length > 0 && (
        <ul class="ledge named">
          {ledge.map(({ bot, locale }) => {
            const name = withoutBidiControls(bot.contents[locale]?.name ?? '');
            return (
              <li key={bot.id} class={toCategoryClass(bot.category)}>
                <a href={href(`/bots/${bot.id}`)} lang={locale} dir={directionOf(locale)}>
                  <BotAvatar {...{ bot, name }} size={64} />
                  <span class="name">{name}</span>
                </a>
              </li>
            );
          })}
          {site.hasForms && (
            <li class="gap">
              <a href={href('/add')}>
                <span class="avatar" aria-hidden="true">
                  +
                </span>
                <span class="name">{t('front.yourBot')}</span>
              </a>
            </li>
          )}
        </ul>
      )}
    </div>
  );
}

/** Links to the categories that have bots, in the order of the settings. */
function CategoryLabels({ total, categories }: FrontPageProps): VNode | null {
  const { text, href, integer, categories: known, categoryName } = usePage();
  const shown = known.filter((category) => categories.has(category));
  if (shown.length === 0) return null;
  const label = (category: Category, path: string, name: string, count: number): VNode => (
    <li key={path}>
      <a class={toCategoryClass(category)} href={href(path)}>
        {name} <small>{integer(count)}</small>
      </a>
    </li>
  );
  const areAll = shown.length <= maxLabels;
  return (
    <nav class="labels" aria-label={text('list.categories')}>
      <ul>
        {shown
          .slice(0, areAll ? maxLabels : maxLabels - 1)
          .map((id) => label(id, `${categoriesPath}/${id}`, categoryName(id), categories.get(id) ?? 0))}
        {!areAll && label('other', categoriesPath, text('list.allCategories'), total)}
      </ul>
    </nav>
  );
}

const maxLabels = 12;

/** The initials of the first reviewers, with a link to how they review. */
function Reviewers({ reviewers }: FrontPageProps): VNode | null {
  const { text, href } = usePage();
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
  const { t, href } = usePage();
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
  const { t, text, href } = usePage();
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const shown = withoutBidiControls(name);
  const path = href(`/bots/${bot.id}`);
  return (
    <section class="featured" aria-labelledby="featured">
      <a class="stage" href={path} tabIndex={-1} aria-hidden="true">
        <span class="cover">
          <CoverImage path={bot.cachedImages.cover ?? ''} blurred={false} />
        </span>
        <span class={`before ${toCategoryClass(bot.category)}`}>
          <BotAvatar {...{ bot, name: shown }} size={112} />
        </span>
      </a>
      <div class="talker">
        <p class="kicker">{t('front.featured')}</p>
        <h2 id="featured">
          <BotName {...props} />
        </h2>
        <BotLine {...props} />
        <p class="about" lang={locale} dir={directionOf(locale)}>
          {withoutBidiControls(description)}
        </p>
        <q lang={own} dir={directionOf(own)}>
          {why}
        </q>
        {by !== undefined && (
          <p class="said">
            <span class="initial" aria-hidden="true">
              {findInitial(by)}
            </span>
            <span>{t('front.chosenBy', { name: by })}</span>
          </p>
        )}
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
