import type { Context } from 'koa';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/query.ts';
import { listWantedRanges } from '../language/locales.ts';
import type { PageRecipe } from '../page/html-response.ts';
import { pickPage } from '../page/pick-page.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { CollectionPage, CollectionsPage } from './collection-pages.tsx';
import { findCollection, findListedBots, listLinkedCollections, showCollection } from './collections.ts';
import type { FrontLists } from './front-list.ts';
import { findReaderLanguages, showIn, toKey } from './front-recipe.tsx';

/**
 * Returns how the page of a collection is made.
 * @throws {ProblemError} not-found
 */
export function createCollectionRecipe(
  ctx: Context,
  { site, bots, collections, markdown }: SiteParts,
  lists: FrontLists,
  name: string,
): PageRecipe {
  const collection = findCollection(collections, name);
  markdown.start();
  const language = site.languages.of(ctx);
  const all = collection.bots.flatMap((id) => bots.get(id) ?? []);
  const listed = parseQuery(ctx).get('nsfw') === 'true' ? all : findListedBots(collection, bots);
  const locales = listed.flatMap(({ facts }) => facts.locales);
  const shown = showIn(findReaderLanguages(ctx, language, locales), listed);
  const wanted = listWantedRanges(language.requested, ctx.get('Accept-Language'));
  const texts = showCollection(collection, wanted);
  return {
    key: { collection: name, locale: texts.locale, shown: shown.map(toKey) },
    entry: () => collections.all.get(name),
    render: async (props) => {
      const { html } = await markdown.render({ text: texts.page, name: texts.title, images: {} });
      return (
        <CollectionPage
          {...{ ...props, ...texts, html }}
          locales={[...collection.contents.keys()]}
          bots={lists.toListed(shown)}
          hidden={all.length - listed.length}
        />
      );
    },
  };
}

/** Returns how the list of collections is made. */
export function createCollectionsRecipe(ctx: Context, { site, bots, collections }: SiteParts): PageRecipe {
  const wanted = listWantedRanges(site.languages.of(ctx).requested, ctx.get('Accept-Language'));
  const { page, pages, shown: picked } = pickPage(ctx, listLinkedCollections(collections, bots));
  const shown = picked.map(({ collection, listed }) => ({ ...showCollection(collection, wanted), listed }));
  return {
    key: { page: 'collections', number: page, pages, shown: shown.map(({ name, locale }) => [name, locale]) },
    entry: () => collections.all,
    render: async (props) => (
      <CollectionsPage
        {...{ ...props, page, pages }}
        collections={shown.map(({ listed, ...texts }) => {
          const first = listed.slice(0, maxAvatars).map(parseListElement);
          return { ...texts, count: listed.length, first };
        })}
      />
    ),
  };
}

const maxAvatars = 5;
