import type { Context } from 'koa';
import { LRUCache } from 'lru-cache';
import type { VNode } from 'preact';
import type { Site, Viewer } from './layout.tsx';
import { type RenderedPage, renderPage, sendOnce, sendPage } from './page-answer.ts';

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
export class PageAnswers {
  readonly #site: Site;
  readonly #viewerOf: (ctx: Context) => Promise<Viewer | null>;
  readonly #pages = new LRUCache<string, RenderedPage>({
    maxSize: 64 * 1024 * 1024,
    sizeCalculation: ({ body }, key) => body.length + key.length + 500,
  });

  constructor(site: Site, viewerOf: (ctx: Context) => Promise<Viewer | null>) {
    this.#site = site;
    this.#viewerOf = viewerOf;
  }

  async answer(ctx: Context, { key, current, make }: PageRecipe): Promise<void> {
    const viewer = ctx.get('Cookie') === '' ? null : await this.#viewerOf(ctx);
    if (viewer !== null || this.#site.live) {
      sendOnce(ctx, await make(viewer));
      return;
    }
    const known = this.#pages.get(key);
    const page = known?.current() ? known : renderPage(await make(null), current);
    if (page !== known) this.#pages.set(key, page);
    await sendPage(ctx, page);
  }
}
