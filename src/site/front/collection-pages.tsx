import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotListElement } from '../../../schemas/types.ts';
import { type Locale, directionOf } from '../../bot/locale.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import type { Html } from '../markdown/markdown.ts';
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
  PageLinks,
  type PageLinksProps,
  Prose,
} from '../page/elements.tsx';
import { createBreadcrumbData, createOwnMeta, type PageMeta } from '../page/head.tsx';
import { type AddPage, type PageRequest, type PageView, pickPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { type Site, useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import { BotAvatar, Cards, type ListedBot } from './card.tsx';
import {
  findCollection,
  findListedBots,
  listLinkedCollections,
  showCollection,
  minListed,
  type ShownCollection,
} from './collections.ts';
import { findReaderLanguages, type FrontLists, showIn, toKey } from './front-list.ts';
import { cardsAtOnce } from './list-page.tsx';

/** Adds the page of all collections, and one for each. */
export function addCollectionPages(addPage: AddPage, parts: PageParts, lists: FrontLists): void {
  addPage(collectionsPath, (ctx) => createCollectionsView(ctx, parts));
  addPage(toCollectionPath(':name'), (ctx) => createCollectionView(ctx, parts, lists));
}

/** @throws {ProblemError} not-found */
function createCollectionView(
  ctx: PageRequest,
  { site, bots, collections, markdown }: PageParts,
  lists: FrontLists,
): PageView {
  const collection = findCollection(collections, ctx.params['name'] ?? '');
  const { name } = collection;
  markdown.start();
  const language = site.languages.of(ctx);
  const all = collection.bots.flatMap((id) => bots.get(id) ?? []);
  const listed = parseQuery(ctx).get('nsfw') === 'true' ? all : findListedBots(collection, bots);
  const locales = listed.flatMap(({ facts }) => facts.locales);
  const shown = showIn(findReaderLanguages(ctx, language, locales), listed);
  const texts = showCollection(collection, language.wanted);
  return {
    key: { collection: name, locale: texts.locale, shown: shown.map(toKey) },
    entry: () => collections.all.get(name),
    render: async () => {
      const { html } = await markdown.render({ text: texts.page, name: texts.title, images: [] });
      return (
        <CollectionPage
          {...{ ...texts, html }}
          locales={[...collection.contents.keys()]}
          bots={lists.toListed(shown)}
          hidden={all.length - listed.length}
        />
      );
    },
  };
}

function createCollectionsView(ctx: Context, parts: PageParts): PageView {
  const { wanted } = parts.site.languages.of(ctx);
  const { page, pages, shown: picked } = pickPage(ctx, listLinkedCollections(parts));
  const shown = picked.map(({ collection, listed }) => ({ ...showCollection(collection, wanted), listed }));
  return {
    key: { page: 'collections', number: page, pages, shown: shown.map(({ name, locale }) => [name, locale]) },
    entry: () => parts.collections.all,
    render: async () => (
      <CollectionsPage
        {...{ page, pages }}
        collections={shown.map(({ listed, ...texts }) => {
          const first = listed.slice(0, maxAvatars).map(parseListElement);
          return { ...texts, count: listed.length, first };
        })}
      />
    ),
  };
}

const maxAvatars = 5;

interface CollectionPageProps extends ShownCollection {
  /** The languages of the collection, the main one first. */
  readonly locales: readonly Locale[];
  /** The text below the front matter. */
  readonly html: Html;
  readonly bots: readonly ListedBot[];
  /** The number of further bots, which are for adults. */
  readonly hidden: number;
}

/** A list of recommended bots. */
function CollectionPage(props: CollectionPageProps): VNode {
  const { name, locale, title, description, page, html, bots, hidden } = props;
  const { site } = useVisit();
  const { t, text, href } = useLanguage();
  const path = toCollectionPath(name);
  const own = { lang: locale, dir: directionOf(locale) };
  const meta = createCollectionMeta(site, props, text('collections.title'));
  return (
    <Layout meta={meta}>
      <BackLink path={collectionsPath} name={text('collections.title')} />
      <div class="list-head">
        <h1 {...own}>{title}</h1>
        <p {...own}>{description}</p>
        <p class="muted">{t('list.found', { count: bots.length })}</p>
        {bots.length + hidden < minListed && <p class="notice">{t('collections.few')}</p>}
        {hidden > 0 && (
          <p>
            <a href={href(`${path}?nsfw=true`)}>{t('list.hidden', { count: hidden })}</a>
          </p>
        )}
      </div>
      {page !== '' && <Prose {...{ locale, text: page, html }} />}
      <Cards bots={bots} heading="h2" atOnce={cardsAtOnce} />
      <FollowLinks path={toFeedPath('collection', name)} />
      {site.hasForms && (
        <ul class="links">
          <LinkItem href={href(`${path}/edit?language=${locale}`)}>{t('bot.edit')}</LinkItem>
          <LinkItem href={href(`${path}/translate`)}>{t('bot.translate')}</LinkItem>
        </ul>
      )}
    </Layout>
  );
}

interface CollectionsPageProps extends Pick<PageLinksProps, 'page' | 'pages'> {
  readonly collections: readonly CollectionCardProps[];
}

/** The list of all collections. */
function CollectionsPage({ collections, page, pages }: CollectionsPageProps): VNode {
  const language = useLanguage();
  const { site } = useVisit();
  const { t, text, href } = language;
  const [title, description] = [text('collections.title'), text('collections.text')];
  const meta = createOwnMeta(site.canonicalUrl + pageAddress(page), language, { title, description });
  return (
    <Layout meta={meta}>
      <div class="list-head">
        <h1>{title}</h1>
        <p>{description}</p>
      </div>
      <ul class="cards">
        {collections.map((collection) => (
          <CollectionCard key={collection.name} {...collection} />
        ))}
      </ul>
      <PageLinks {...{ page, pages }} pathOf={(number) => href(pageAddress(number))} />
      {site.hasForms && <ActionLink href={href('/add/collection')}>{t('collection.add')}</ActionLink>}
    </Layout>
  );
}

function pageAddress(page: number): string {
  return page === 1 ? collectionsPath : `${collectionsPath}?page=${page}`;
}

/** A collection in a list. */
interface CollectionCardProps extends Omit<ShownCollection, 'page'> {
  readonly count: number;
  /** The first few of its bots. */
  readonly first: readonly BotListElement[];
}

function CollectionCard({ name, locale, title, description, count, first }: CollectionCardProps): VNode {
  const { t, href } = useLanguage();
  const own = { lang: locale, dir: directionOf(locale) };
  return (
    <li>
      <article class="card collection">
        <div class="avatars">
          {first.map((bot) => (
            <BotAvatar key={bot.id} bot={bot} name={Object.values(bot.contents)[0]?.name ?? ''} size={40} />
          ))}
        </div>
        <h2>
          <a href={href(toCollectionPath(name))} {...own}>
            {title}
          </a>
        </h2>
        <p class="about" {...own}>
          {description}
        </p>
        <p class="foot">{t('list.found', { count })}</p>
      </article>
    </li>
  );
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
    '@context': 'https://schema.org',
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
