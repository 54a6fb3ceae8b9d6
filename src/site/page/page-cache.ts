import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Input } from '../../lib/current-cache.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { renderPage, sendOnce, sendPage } from './html-response.ts';
import type { PageProps } from './layout.tsx';
import type { SiteParts } from './site-parts.ts';

/** How a page is made. */
export interface PageRecipe {
  /** What the request selects: as JSON, with the language of the interface, it is the key of the stored page. */
  readonly key: object;
  /** Reads what the page is about: when that is another object, the page is made again at once. */
  readonly entry?: Input;
  readonly render: (props: PageProps) => Promise<VNode>;
}

/** Responds with the page of a recipe. */
export type RespondWithPage = (ctx: Context, recipe: PageRecipe) => Promise<void>;

/**
 * Returns what responds with pages. Visitors who are not logged in get the same bytes for some seconds, or until the
 * entry of the page or the settings change; someone who is logged in gets a page that is rendered for that one request.
 */
export function createPageCache(parts: Pick<SiteParts, 'site' | 'viewerOf' | 'cache'>): RespondWithPage {
  const readSettings = (): unknown => parts.site.settings;
  return async (ctx, { key, entry = readSettings, render }) => {
    const { site, viewerOf, cache } = parts;
    const language = site.languages.of(ctx);
    const viewer = ctx.get('Cookie') === '' ? null : await viewerOf(ctx);
    const renderTree = async (): Promise<VNode> => {
      const tree = await render({ site, viewer });
      await new TimeSlice().next();
      return tree;
    };
    if (viewer !== null || site.live) return sendOnce(ctx, await renderTree(), language);
    const { locale, requested, datesTag } = language;
    const page = await cache.get(
      JSON.stringify(['page', key, locale, requested, datesTag]),
      async () => renderPage(await renderTree(), language),
      { inputs: [readSettings, entry] },
    );
    await sendPage(ctx, page);
  };
}
