import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { CurrentCache } from '../../lib/current-cache.ts';
import type { WholeDocument } from '../../http/representation.ts';
import type { PageOptions, PageProps } from './layout.tsx';
import { renderPage, sendOnce, sendPage } from './html-response.ts';

/** A page as a function of its inputs. All that it depends on is in `request` or in what `read` returns. */
export interface PageRecipe<Request extends object, Inputs extends object> {
  /** What the request selects: as JSON, with the language of the interface, it is the key of the stored page. */
  readonly request: Request;
  /** Reads what can change, as it is now. Compared value by value with what a stored page was rendered from. */
  readonly read: () => Inputs;
  /** A function at the top of its module, so that it sees nothing but its arguments. */
  readonly render: (inputs: Request & Inputs & PageInputs) => Promise<VNode>;
}

/** What every page depends on. */
export interface PageInputs extends PageProps {
  /** Those of the site: it stays the same object when they change. */
  readonly settings: CatalogueSettings;
}

/**
 * Responds with pages. Visitors who are not logged in get the same bytes until an input of the page changes; someone who
 * is logged in gets a page that is rendered for that one request.
 */
export class PageCache {
  readonly #options: PageOptions;
  readonly #pages = new CurrentCache<WholeDocument>(64 * 1024 * 1024, ({ body }) => body.length);

  constructor(options: PageOptions) {
    this.#options = options;
  }

  async respond<Request extends object, Inputs extends object>(
    ctx: Context,
    { request, read, render }: PageRecipe<Request, Inputs>,
  ): Promise<void> {
    const language = this.#options.site.languages.of(ctx);
    const viewer = ctx.get('Cookie') === '' ? null : await this.#options.viewerOf(ctx);
    const inputs = (): Inputs & PageInputs => {
      const { site } = this.#options;
      return { ...read(), site, viewer, settings: site.settings };
    };
    const page = async (now: Inputs & PageInputs): Promise<VNode> => {
      const tree = await render({ ...request, ...now });
      await new TimeSlice().next();
      return tree;
    };
    if (viewer !== null || this.#options.site.live) sendOnce(ctx, await page(inputs()), language);
    else {
      const make = async (now: Inputs & PageInputs): Promise<WholeDocument> =>
        renderPage(await page(now), language);
      const key = JSON.stringify([request, language.locale, language.requested, language.datesTag]);
      await sendPage(ctx, await this.#pages.get(key, inputs, make));
    }
  }
}

/** Returns when the day began, for pages that say how many days ago something was. Milliseconds since the epoch. */
export function startOfDay(): number {
  return Math.floor(Date.now() / msPerDay) * msPerDay;
}

const msPerDay = 86_400_000;
