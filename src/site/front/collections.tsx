import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { type Locale, directionOf, chooseLocale } from '../../bot/locale.ts';
import { parseQuery } from '../../http/request.ts';
import type { Html } from '../markdown/markdown-renderer.ts';
import {
  collectionsPath,
  listPageLanguages,
  toCollectionPath,
  toFeedPath,
  toPathInLanguage,
} from '../page/addresses.ts';
import {
  ActionLink,
  BackLink,
  FollowLinks,
  LinkItem,
  listNamedAuthors,
  type NameLinkProps,
  Prose,
} from '../page/elements.tsx';
import { createBreadcrumbData, createOwnMeta, type PageMeta } from '../page/head.tsx';
import type { AddPage, PageRequest, PageView } from '../page/html-response.ts';
import { Layout, PageLinks, pickPage } from '../page/layout.tsx';
import { type Site, usePage, type PageParts } from '../page/page-context.tsx';
import {
  Cards,
  Ledge,
  type ListedBot,
  showIn,
  toKey,
  toListed,
  findMainCategory,
  Shelves,
  type ShelfTileProps,
} from './card.tsx';
import { cardsAtOnce } from './list-page.tsx';
import type { BotId } from '../../bot/id.ts';
import type { Collection, CollectionText } from '../../catalogue/page/side-file.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { type BotIndex, type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { withoutBidiControls } from '../../lib/text.ts';

/** Adds the page of all collections, and one for each. */
export function addCollectionPages(addPage: AddPage, parts: PageParts): void {
  addPage(collectionsPath, (ctx) => createCollectionsView(ctx, parts));
  addPage(toCollectionPath(':name'), (ctx) => createCollectionView(ctx, parts));
}

/** The parts of the service that pages with collections depend on. */
export type CollectionParts = Pick<PageParts, 'bots' | 'collections'>;

/** A collection in a reader's language. */
export interface ShownCollection extends CollectionText {
  readonly name: string;
  readonly locale: Locale;
}

/** A collection that pages link to, with its bots. */
export interface LinkedCollection {
  readonly collection: Collection;
  readonly listed: readonly IndexedBot[];
}

/** Returns the collection of a path. @throws {ProblemError} not-found */
export function findCollection({ all }: CollectionParts['collections'], name: string): Collection {
  const collection = all.get(name);
  if (collection !== undefined) return collection;
  throw new ProblemError('not-found', `there is no collection ${JSON.stringify(name.slice(0, 60))}`);
}

/** Returns the bots of a collection that are listed and not for adults, in its order. */
export function findListedBots(collection: Collection, bots: BotIndex): IndexedBot[] {
  return collection.bots.flatMap((id) => bots.get(id) ?? []).filter(({ facts }) => !facts.nsfw);
}

/** Returns the collections that pages link to: those with enough bots to show. @param having a bot that each of them has */
export function listLinkedCollections(
  { collections, bots }: CollectionParts,
  having?: BotId,
): LinkedCollection[] {
  return [...collections.all.values()]
    .filter((collection) => having === undefined || collection.bots.includes(having))
    .map((collection) => ({ collection, listed: findListedBots(collection, bots) }))
    .filter(({ listed }) => listed.length >= minListed);
}

/** Pages do not link to a collection with fewer bots. */
export const minListed = 2;

/** Shows a collection in the best of the wanted languages, or else in its main language. */
export function showCollection({ name, contents }: Collection, wanted: readonly string[]): ShownCollection {
  const locale = chooseLocale([...contents.keys()], wanted) as Locale;
  const { title, description, page } = contents.get(locale) as CollectionText;
  const visible = { title: withoutBidiControls(title), description: withoutBidiControls(description) };
  return { name, locale, ...visible, page };
}

/** Returns the tile of a collection, in the colour that most of its bots have. @param wanted languages, best first */
export function toCollectionTile(
  { collection, listed }: LinkedCollection,
  wanted: readonly string[],
  authors: AuthorIndex,
): ShelfTileProps {
  const { name, locale, title, description } = showCollection(collection, wanted);
  return {
    path: toCollectionPath(name),
    title,
    locale,
    line: description,
    count: listed.length,
    by: listNamedAuthors(authors, [collection.by ?? ''])[0]?.name,
    category: findMainCategory(listed),
    bots: listed.slice(0, maxAvatars).map(parseListElement),
  };
}

const maxAvatars = 5;

/** @throws {ProblemError} not-found */
function createCollectionView(ctx: PageRequest, parts: PageParts): PageView {
  const { site, bots, authors, collections, markdown } = parts;
  const collection = findCollection(collections, ctx.params['name'] ?? '');
  const { name } = collection;
  const language = site.languages.of(ctx);
  const all = collection.bots.flatMap((id) => bots.get(id) ?? []);
  const listed = parseQuery(ctx).get('nsfw') === 'true' ? all : findListedBots(collection, bots);
  const locales = listed.flatMap(({ facts }) => facts.locales);
  const shown = showIn(language.findAmong(locales), listed);
  const texts = showCollection(collection, language.wanted);
  const [by] = listNamedAuthors(authors, [collection.by ?? '']);
  const others = listLinkedCollections(parts)
    .filter((other) => other.collection !== collection)
    .slice(0, maxOthers)
    .map((other) => toCollectionTile(other, language.wanted, authors));
  return {
    key: { collection: name, locale: texts.locale, shown: shown.map(toKey), others: others.map(toTileKey) },
    entry: () => collections.all.get(name),
    render: async () => {
      const { html } = await markdown.render({ text: texts.page, name: texts.title, images: [] });
      return (
        <CollectionPage
          {...{ ...texts, html, by, others }}
          category={findMainCategory(listed)}
          locales={[...collection.contents.keys()]}
          bots={toListed(parts, shown)}
          hidden={all.length - listed.length}
        />
      );
    },
  };
}

const maxOthers = 3;

function createCollectionsView(ctx: Context, parts: PageParts): PageView {
  const { wanted } = parts.site.languages.of(ctx);
  const { page, pages, shown } = pickPage(ctx, listLinkedCollections(parts));
  const tiles = shown.map((linked) => toCollectionTile(linked, wanted, parts.authors));
  return {
    key: { page: 'collections', number: page, pages, shown: tiles.map(toTileKey) },
    entry: () => parts.collections.all,
    render: async () => <CollectionsPage {...{ page, pages }} shown={tiles} />,
  };
}

function toTileKey({ path, locale }: ShelfTileProps): object {
  return { path, locale };
}

interface CollectionPageProps extends ShownCollection {
  /** The languages of the collection, the main one first. */
  readonly locales: readonly Locale[];
  /** The text below the front matter. */
  readonly html: Html;
  readonly bots: readonly ListedBot[];
  readonly category: Category;
  /** The person who chose the bots, if known by name. */
  readonly by: NameLinkProps | undefined;
  readonly others: readonly ShelfTileProps[];
  /** The number of further bots, which are for adults. */
  readonly hidden: number;
}

/** A list of recommended bots. */
function CollectionPage(props: CollectionPageProps): VNode {
  const { name, locale, title, description, page, html, bots, category, by, others, hidden } = props;
  const { site, t, text, href } = usePage();
  const path = toCollectionPath(name);
  const own = { lang: locale, dir: directionOf(locale) };
  const meta = createCollectionMeta(site, props, text('collections.title'));
  const head = (
    <>
      <BackLink path={collectionsPath} name={text('collections.title')} />
      <h1 {...own}>{title}</h1>
      <p>{t('list.found', { count: bots.length })}</p>
      <p class="whole" {...own}>
        {description}
      </p>
      {bots.length + hidden < minListed && <p class="notice whole">{t('collections.few')}</p>}
      {hidden > 0 && (
        <p class="whole">
          <a href={href(`${path}?nsfw=true`)}>{t('list.hidden', { count: hidden })}</a>
        </p>
      )}
      {by && (
        <a class="stamp" href={href(by.path)}>
          {t('collections.by', { name: <bdi>{by.name}</bdi> })}
        </a>
      )}
    </>
  );
  const beside = <Ledge bots={bots.map(({ bot }) => bot)} size={72} />;
  return (
    <Layout {...{ meta, category, head, beside }}>
      {page !== '' && <Prose {...{ locale, text: page, html }} />}
      <section class="shelf" aria-label={text('field.bots')}>
        <Cards bots={bots} heading="h2" atOnce={cardsAtOnce} canBeTicked />
      </section>
      <div class="quiet-row">
        <ul class="links">
          <li>
            <FollowLinks path={toFeedPath('collection', name)} />
          </li>
          {site.hasForms && (
            <>
              <LinkItem href={href(`${path}/edit?language=${locale}`)}>{t('bot.edit')}</LinkItem>
              <LinkItem href={href(`${path}/translate`)}>{t('bot.translate')}</LinkItem>
            </>
          )}
        </ul>
      </div>
      {others.length > 0 && (
        <section class="shelf" aria-labelledby="others">
          <div class="shelf-head">
            <h2 id="others">{t('collections.others')}</h2>
            <a href={href(collectionsPath)}>{t('shelf.seeAll')}</a>
          </div>
          <Shelves tiles={others} heading="h3" />
        </section>
      )}
    </Layout>
  );
}

/** The list of all collections. */
function CollectionsPage({ shown, page, pages }: ReturnType<typeof pickPage<ShelfTileProps>>): VNode {
  const context = usePage();
  const { site, t, text, href } = context;
  const [title, description] = [text('collections.title'), text('collections.text')];
  const meta = createOwnMeta(site.canonicalUrl + pageAddress(page), context, { title, description });
  return (
    <Layout meta={meta} lead={<p>{description}</p>}>
      <Shelves tiles={shown} heading="h2" />
      <PageLinks {...{ page, pages }} pathOf={(number) => href(pageAddress(number))} />
      {site.hasForms && <ActionLink href={href('/add/collection')}>{t('collection.add')}</ActionLink>}
    </Layout>
  );
}

function pageAddress(page: number): string {
  return page === 1 ? collectionsPath : `${collectionsPath}?page=${page}`;
}

/**
 * Describes the page of a collection in one of its languages, and the list of its bots. @param all the title of the
 * list of collections
 */
function createCollectionMeta(site: Site, page: CollectionPageProps, all: string): PageMeta {
  const { name, locale, locales, title, description, bots } = page;
  const main = site.canonicalUrl + toCollectionPath(name);
  const address = toPathInLanguage(main, locale, locales[0] ?? locale);
  const isAdult = bots.some(({ bot }) => bot.nsfw);
  const itemListElement = bots.map(({ bot: { id } }, i) => {
    return { '@type': 'ListItem', position: i + 1, url: `${site.canonicalUrl}/bots/${id}` };
  });
  const list = {
    '@type': 'CollectionPage',
    url: address,
    name: title,
    description,
    inLanguage: locale,
    mainEntity: { '@type': 'ItemList', itemListElement },
  };
  const crumb = { name: all, address: site.canonicalUrl + collectionsPath };
  return {
    address,
    title,
    description,
    locale,
    isAdult,
    languages: listPageLanguages(main, locales),
    isListed: !isAdult && bots.length >= minListed,
    feed: { title, path: toFeedPath('collection', name) },
    data: [list, createBreadcrumbData(site, crumb, { name: title, address })],
  };
}
