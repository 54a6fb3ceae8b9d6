import type { Context } from 'koa';
import type { VNode } from 'preact';
import { TimeSlice } from '../../concurrency/time-slice.ts';
import { CurrentCache } from '../../concurrency/current-cache.ts';
import type { Site, Viewer } from './layout.tsx';
import { type RenderedPage, renderPage, sendOnce, sendPage } from './html-response.ts';

/** A page that can be made, and when it would come out otherwise. */
export interface PageRecipe {
  /** All that the page depends on, but for the things that `current` watches. */
  readonly key: string;
  readonly current: () => boolean;
  readonly make: (viewer: Viewer | null) => Promise<VNode>;
}

/**
 * Answers with pages: everybody who is not logged in gets the same bytes for as long as they are current,
 * whoever is logged in a page of their own.
 */
export class PageCache {
  readonly #site: Site;
  readonly #viewerOf: (ctx: Context) => Promise<Viewer | null>;
  readonly #pages = new CurrentCache<RenderedPage>(64 * 1024 * 1024, ({ body }) => body.length);

  constructor(site: Site, viewerOf: (ctx: Context) => Promise<Viewer | null>) {
    this.#site = site;
    this.#viewerOf = viewerOf;
  }

  async answer(ctx: Context, { key, current, make }: PageRecipe): Promise<void> {
    const viewer = ctx.get('Cookie') === '' ? null : await this.#viewerOf(ctx);
    if (viewer !== null || this.#site.live) {
      const page = await make(viewer);
      await new TimeSlice().next();
      sendOnce(ctx, page);
      return;
    }
    const page = await this.#pages.get(key, async () => {
      const page = await make(null);
      await new TimeSlice().next();
      return renderPage(page, current);
    });
    await sendPage(ctx, page);
  }
}
