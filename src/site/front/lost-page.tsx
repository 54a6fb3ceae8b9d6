import type { Context } from 'koa';
import type { ComponentChildren, VNode } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { Layout, SearchForm } from '../page/layout.tsx';
import { type Site, useLanguage } from '../page/page-context.tsx';
import { Cards, type ListedBot, showIn } from './card.tsx';
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

/** The drawing of a shelf with gaps. */
export function EmptyShelf(): VNode {
  return (
    <svg class="drawing" width="380" height="170" viewBox="0 0 380 170" aria-hidden="true">
      <g stroke="var(--plank)" stroke-width="3" stroke-linejoin="round">
        <path d="M18 60h26v109H18z" fill="oklch(72% 0.1 152)" />
        <path d="M44 40h34v129H44z" fill="oklch(76% 0.1 48)" />
        <path d="M78 74h22v95H78z" fill="oklch(74% 0.09 252)" />
        <path d="M44 66h34v26H44zM18 80h26M18 88h26" fill="var(--surface)" />
        <path d="M318 62l30 6-20 101h-30zM312 92l30 6" fill="oklch(74% 0.1 316)" />
      </g>
      <path
        class="gone"
        d="M122 169V91q0-12 12-12h66q12 0 12 12v78M236 169v-58q0-10 10-10h46q10 0 10 10v58"
      />
    </svg>
  );
}
