import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { Layout, SearchForm } from '../page/layout.tsx';
import { type Site, useLanguage } from '../page/page-context.tsx';
import { Cards, type ListedBot, showIn } from './card.tsx';
import { EmptyShelf } from './empty-shelf.tsx';
import type { FrontLists } from './front-list.ts';
import { findReaderLanguages } from '../language/languages.ts';
import { formatFrontPath, noQuery } from './front-query.ts';

/** Three bots on many servers, for a page without content. */
export interface NearBots {
  /** The category of all of them; undefined for bots of any category. */
  readonly category: Category | undefined;
  readonly bots: readonly ListedBot[];
}

/** Lists the bots on most servers, of a category if it has any. Returns no bots if the lists cannot be read. */
export type ListNear = (ctx: Context, category?: Category) => Promise<NearBots>;

/** Returns a function that takes the bots from a list that many pages share, so that a flood of lost pages is cheap. */
export function createNearLister(lists: FrontLists, site: Site): ListNear {
  const list: ListNear = async (ctx, category) => {
    const query = { ...noQuery, category, sort: 'popular' as const };
    const { bots, nearest, languages } = await lists.get(query, ctx.ip);
    const reader = findReaderLanguages(ctx, site.languages.of(ctx), languages);
    const [own, shown] = bots.length > 0 ? [category, bots.slice(0, maxNear)] : [undefined, nearest];
    return { category: own, bots: lists.toListed(showIn(reader, shown)) };
  };
  return async (...options) => await list(...options).catch(() => ({ category: undefined, bots: [] }));
}

const maxNear = 3;

interface LostPageProps {
  readonly title: string;
  /** The heading and the lines below it. */
  readonly head: ComponentChildren;
  /** The bots to show instead; undefined if the catalogue may not be there, so that the page has no search either. */
  readonly near: NearBots | undefined;
  /** Whether the bots can be ticked to compare them. */
  readonly canBeTicked?: boolean;
  readonly children?: ComponentChildren;
}

/** A page without the content that was asked for: an empty shelf, a search and some bots. */
export function LostPage({ title, head, near, canBeTicked = false, children }: LostPageProps): VNode {
  const { t, href, categoryTitle } = useLanguage();
  const { category, bots = [] } = near ?? {};
  const all = href(formatFrontPath({ ...noQuery, category, sort: 'popular' }));
  return (
    <Layout
      {...{ title }}
      isUnlisted
      hasSearch={near !== undefined}
      head={
        <>
          {head}
          {near && <SearchForm q="" isFocused />}
        </>
      }
      beside={<EmptyShelf />}
    >
      <div class="narrow stack">
        {children}
        {bots.length === 0 && <a href={all}>{t('list.seeAll')}</a>}
      </div>
      {bots.length > 0 && (
        <section class="shelf" aria-labelledby="near">
          <div class="shelf-head">
            <h2 id="near">{category ? categoryTitle(category) : t('error.near')}</h2>
            <a href={all}>{t(category ? 'shelf.seeAll' : 'list.seeAll')}</a>
          </div>
          <Cards {...{ bots, canBeTicked }} heading="h3" atOnce={maxNear} />
        </section>
      )}
    </Layout>
  );
}
