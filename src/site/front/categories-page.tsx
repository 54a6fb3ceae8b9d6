import type { VNode } from 'preact';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { categoriesPath } from '../page/addresses.ts';
import { createOwnMeta } from '../page/head.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';
import type { FrontLists } from './front-list.ts';
import { parseCategory, readFrontQuery, sorts } from './front-query.ts';
import { createListView } from './list-page.tsx';
import { Shelves, type ShelfTileProps } from './card.tsx';

/** Adds the page of all categories, and the list of each. */
export function addCategoryPages(addPage: AddPage, parts: PageParts, frontLists: FrontLists): void {
  const { site, lists } = parts;
  addPage(categoriesPath, async (ctx) => {
    const { categoryName, categoryText } = site.languages.of(ctx);
    const { total, categories } = await lists.sizes(false);
    const render = async (): Promise<VNode> => {
      const shown = site.settings.categories.filter((category) => categories.has(category));
      const queries = shown.map((category) => ({ ...firstBots, category: [category] }));
      const tiles = (await lists.firstPages(queries)).map(({ total: count, bots }, i): ShelfTileProps => {
        const category = shown[i] ?? 'other';
        const texts = { title: categoryName(category), line: categoryText(category) ?? '' };
        const path = `${categoriesPath}/${category}`;
        return { path, ...texts, category, count, bots: bots.map(parseListElement) };
      });
      return <CategoriesPage {...{ total, tiles }} />;
    };
    return { key: { page: 'categories' }, render };
  });
  addPage(`${categoriesPath}/:category`, async (ctx) => {
    const category = parseCategory(ctx.params['category'] ?? '', site.settings);
    return await createListView(ctx, parts, frontLists, readFrontQuery(parseQuery(ctx), category));
  });
}

/** The bots of a category on its tile: those on most servers. */
const firstBots = { nsfw: false, sort: sorts.popular, after: 0, limit: 5 };

interface CategoriesPageProps extends Pick<CatalogueSizes, 'total'> {
  readonly tiles: readonly ShelfTileProps[];
}

/** The categories that have bots, in the order of the settings. */
function CategoriesPage({ total, tiles }: CategoriesPageProps): VNode {
  const context = usePage();
  const { site, t, text } = context;
  const [title, description] = [text('list.categories'), text('front.title')];
  const meta = createOwnMeta(site.canonicalUrl + categoriesPath, context, { title, description });
  return (
    <Layout meta={meta} lead={<p>{t('list.found', { count: total })}</p>}>
      <Shelves tiles={tiles} heading="h2" isSmall />
    </Layout>
  );
}
