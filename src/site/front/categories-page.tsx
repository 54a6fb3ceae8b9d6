import type { VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import type { CatalogueSizes } from '../../catalogue/lists/lists.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { parseQuery } from '../../http/request.ts';
import { categoriesPath } from '../page/addresses.ts';
import { toCategoryClass } from '../page/elements.tsx';
import { createOwnMeta } from '../page/head.tsx';
import type { AddPage } from '../page/html-response.ts';
import { Layout } from '../page/layout.tsx';
import { useLanguage, useVisit, type PageParts } from '../page/page-context.tsx';
import type { FrontLists } from './front-list.ts';
import { parseCategory, readFrontQuery, sorts } from './front-query.ts';
import { createListView } from './list-page.tsx';
import { Shelves, type ShelfTileProps } from './shelf-tile.tsx';

/** Adds the page of all categories, and the list of each. */
export function addCategoryPages(addPage: AddPage, { site, lists }: PageParts, frontLists: FrontLists): void {
  addPage(categoriesPath, async () => {
    const { total, categories } = await lists.sizes(false);
    const render = async (): Promise<VNode> => {
      const shown = site.settings.categories.filter((category) => categories.has(category));
      const queries = shown.map((category) => ({ ...firstBots, category: [category] }));
      const tiles = (await lists.firstPages(queries)).map(({ total: count, bots }, i): CategoryTile => {
        return { category: shown[i] ?? 'other', count, bots: bots.map(parseListElement) };
      });
      return <CategoriesPage {...{ total, tiles }} />;
    };
    return { key: { page: 'categories' }, render };
  });
  addPage(`${categoriesPath}/:category`, async (ctx) => {
    const category = parseCategory(ctx.params['category'] ?? '', site.settings);
    return await createListView(ctx, site, frontLists, readFrontQuery(parseQuery(ctx), category));
  });
}

interface TilesProps extends Pick<CatalogueSizes, 'total' | 'categories'> {
  /** Whether to show only some of the categories, with a link to all of them. */
  readonly leadsToAll?: boolean;
}

/** The categories that have bots, in the order of the settings. */
export function Tiles({ total, categories, leadsToAll = false }: TilesProps): VNode | null {
  const { t, text, href, categories: known, categoryName } = useLanguage();
  const shown = known.filter((category) => categories.has(category) && !(leadsToAll && category === 'other'));
  if (shown.length === 0) return null;
  const tile = (path: string, sign: Category, name: string, count: number): VNode => (
    <li key={path}>
      <a href={href(path)} class={toCategoryClass(sign)}>
        <CategorySign category={sign} />
        <strong>{name}</strong>
        <small>{t('list.found', { count })}</small>
      </a>
    </li>
  );
  return (
    <nav aria-label={text('list.categories')}>
      <ul class="tiles">
        {shown
          .slice(0, leadsToAll ? maxTiles : undefined)
          .map((id) => tile(`${categoriesPath}/${id}`, id, categoryName(id), categories.get(id) ?? 0))}
        {leadsToAll && tile(categoriesPath, 'other', text('list.allCategories'), total)}
      </ul>
    </nav>
  );
}

/** With the link to all categories, two rows of a large screen. */
const maxTiles = 11;

/** The bots of a category on its tile: those on most servers. */
const firstBots = { nsfw: false, sort: sorts.popular, after: 0, limit: 5 };

type CategoryTile = Pick<ShelfTileProps, 'category' | 'count' | 'bots'>;

interface CategoriesPageProps extends Pick<CatalogueSizes, 'total'> {
  readonly tiles: readonly CategoryTile[];
}

/** The categories that have bots, in the order of the settings. */
function CategoriesPage({ total, tiles }: CategoriesPageProps): VNode {
  const language = useLanguage();
  const { site } = useVisit();
  const { t, text, categoryName, categoryText } = language;
  const [title, description] = [text('list.categories'), text('front.title')];
  const meta = createOwnMeta(site.canonicalUrl + categoriesPath, language, { title, description });
  const named = tiles.map((tile): ShelfTileProps => {
    const { category } = tile;
    const own = { title: categoryName(category), line: categoryText(category) ?? '' };
    return { ...tile, ...own, path: `${categoriesPath}/${category}` };
  });
  const head = (
    <>
      <h1>{title}</h1>
      <p>{t('list.found', { count: total })}</p>
    </>
  );
  return (
    <Layout meta={meta} head={head}>
      <Shelves tiles={named} heading="h2" isSmall />
    </Layout>
  );
}

/** The sign of a category on a background of its colour. Its name is next to it. */
function CategorySign({ category }: { readonly category: Category }): VNode {
  return (
    <span class="sign">
      <svg class="icon" width="24" height="24" viewBox="0 0 24 24" aria-hidden="true">
        <path d={paths.get(category) ?? paths.get('other')} />
      </svg>
    </span>
  );
}

/** Lines in a square of 24 units. */
const paths: ReadonlyMap<Category, string> = new Map(
  Object.entries({
    education: 'M2 9l10-5 10 5-10 5zM6 11v5c3 3 9 3 12 0v-5',
    entertainment: 'M3 9h18v11H3zM3 9l1-5 17 0v5M9 4L8 9M15 4l-1 5',
    fun: 'M12 3a9 9 0 100 18 9 9 0 000-18M8 14c2 3 6 3 8 0M9 9v1M15 9v1',
    games:
      'M7 7h10a5 5 0 014 8c-1 3-3 2-5-1H8c-2 3-4 4-5 1a5 5 0 014-8zM8 9v3M6.5 10.5h3M15.5 10v.1M17.5 11.5v.1',
    image: 'M3 5h18v14H3zM3 16l5-5 5 5 3-3 5 5M15 9h.1',
    moderation: 'M12 3l8 3v6c0 5-4 8-8 9-4-1-8-4-8-9V6zM8.5 12l2.5 2.5 5-5',
    music: 'M9 18V5l11-2v13M9 18a3 3 0 11-6 0 3 3 0 016 0zM20 16a3 3 0 11-6 0 3 3 0 016 0z',
    news: 'M4 4h13v16H6a2 2 0 01-2-2zM17 9h3v9a2 2 0 01-3 2M8 8h5M8 12h5M8 16h5',
    notifications: 'M6 16V10a6 6 0 0112 0v6l2 2H4zM10 21h4',
    other: 'M12 3l2.6 6 6.4.6-4.8 4.3 1.4 6.4L12 17l-5.6 3.3 1.4-6.4L3 9.6l6.4-.6z',
    productivity: 'M4 4h16v16H4zM8 12l3 3 5-6',
    utility: 'M15 4a5 5 0 00-5.5 6.8L3 17.3 6.7 21l6.5-6.5A5 5 0 0020 9l-3 3-3-1-1-3z',
  }),
);
