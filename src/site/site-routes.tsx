import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import { type BotId, parseBotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { BotListElement, BotRecord, Category } from '../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../catalogue/index/bot-index.ts';
import type { Fault } from '../catalogue/page/fault.ts';
import type { Counts } from '../catalogue/index/sorted-indexes.ts';
import type { BotLists } from '../catalogue/index/bot-lists.ts';
import { ProblemError } from '../http/problem.ts';
import { openApi } from '../http/api/openapi.ts';
import { queryOf } from '../http/query.ts';
import { knownBot } from '../http/api/read-routes.ts';
import { addAddRoutes } from './add/add-routes.tsx';
import { addAssetRoutes } from './page/assets.ts';
import { BotPage } from './bot/bot-page.tsx';
import type { CardProps } from './front/card.tsx';
import { type ApiDocument, DocsPage } from './docs-page.tsx';
import { FaultyBotPage } from './page/faults.tsx';
import { FrontLists } from './front/front-list.ts';
import { FrontPage } from './front/front-page.tsx';
import { frontPath, readFrontQuery } from './front/front-query.ts';
import type { Site, Viewer } from './page/layout.tsx';
import { chooseLocale, wantedRanges } from './page/locales.ts';
import { markdownPictures } from './markdown/markdown-pictures.ts';
import type { Markdown } from './markdown/markdown.ts';
import { categoryNames } from './page/messages.ts';
import { sendOnce } from './page/html-response.ts';
import { PageCache, type PageRecipe } from './page/page-cache.ts';

export interface SiteOptions {
  readonly site: Site;
  readonly bots: BotIndex;
  readonly lists: BotLists;
  readonly counts: Counts;
  readonly markdown: Markdown;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** Who is logged in; asked only where a request carries a cookie. */
  readonly viewerOf: (ctx: Context) => Promise<Viewer | null>;
  /** What is wrong with a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
}

/** The pages: front page, categories, bots, and what they are made of. */
export function addSiteRoutes(router: Router, options: SiteOptions): void {
  addAssetRoutes(router);
  addAddRoutes(router, { ...options, isListed: (id) => options.bots.get(id) !== undefined });
  const pages = new PageCache(options.site, options.viewerOf);
  const { bots, counts } = options;
  const lists = new FrontLists(options.lists, () => `${bots.version} ${counts.version}`);
  const sendList = async (ctx: Context, category: Category | undefined): Promise<void> =>
    await pages.answer(ctx, await listRecipe(ctx, options, lists, category));
  router.get('/', async (ctx) => await sendList(ctx, undefined));
  const document = openApi(options.baseUrl);
  router.get('/docs', async (ctx) => {
    const { site, baseUrl } = options;
    const make = async (viewer: Viewer | null): Promise<VNode> => (
      <DocsPage {...{ site, viewer, baseUrl, document: document as ApiDocument }} />
    );
    await pages.answer(ctx, { key: 'docs', current: () => true, make });
  });
  router.get('/categories/:category', async (ctx) => {
    await sendList(ctx, knownCategory(ctx.params['category'] ?? ''));
  });
  router.get('/bots/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    if (!sendFaults(ctx, options, parseBotId(id))) {
      await pages.answer(ctx, botRecipe(ctx, options, knownBot(bots, id)));
    }
  });
}

/** @throws {ProblemError} not-found */
function knownCategory(text: string): Category {
  if (Object.hasOwn(categoryNames, text)) return text as Category;
  throw new ProblemError('not-found', `there is no category ${JSON.stringify(text.slice(0, 60))}`);
}

/** Shows who edits a bot that was never right what is wrong with it; false where there is nothing to show. */
function sendFaults(ctx: Context, { site, bots, faultsOf }: SiteOptions, id: BotId | undefined): boolean {
  if (!site.live || id === undefined || bots.get(id) !== undefined) return false;
  const faults = faultsOf(id);
  if (faults.length > 0) sendOnce(ctx, <FaultyBotPage {...{ site, id, faults }} />, 404);
  return faults.length > 0;
}

/** The page of a list depends on the languages that its bots are shown in, not on the many ways to ask for them. */
async function listRecipe(
  ctx: Context,
  { site, counts }: SiteOptions,
  lists: FrontLists,
  category: Category | undefined,
): Promise<PageRecipe> {
  const query = readFrontQuery(queryOf(ctx), category);
  const { locale: asked } = query;
  const list = await lists.get(query);
  const wanted = wantedRanges(asked, ctx.get('Accept-Language'));
  const locales = list.bots.map(({ facts }) => chooseLocale(facts.locales, wanted) as Locale);
  return {
    key: JSON.stringify(['list', frontPath(query), locales]),
    current: list.current,
    make: async (viewer) => {
      const cards = list.bots.map(({ id, element }, i): CardProps => {
        const bot = JSON.parse(element.toString()) as BotListElement;
        return { bot, locale: locales[i] as Locale, count: counts.count(id), asked };
      });
      return <FrontPage site={site} viewer={viewer} query={query} cards={cards} {...list} />;
    },
  };
}

function botRecipe(ctx: Context, options: SiteOptions, indexed: IndexedBot): PageRecipe {
  const { site, bots, counts, markdown, baseUrl } = options;
  const { id, facts } = indexed;
  const params = queryOf(ctx);
  const wanted = wantedRanges(params.get('locale') ?? undefined, ctx.get('Accept-Language'));
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const count = counts.count(id);
  const veiled = facts.nsfw && params.get('pictures') !== 'shown';
  return {
    key: JSON.stringify(['bot', id, locale, veiled]),
    current: () => bots.get(id) === indexed && counts.count(id) === count,
    make: async (viewer) => {
      const bot = JSON.parse(indexed.record.toString()) as BotRecord;
      const { name = '', page = '' } = bot.contents[locale] ?? {};
      const html = await markdown.render({ text: page, name, pictures: markdownPictures(bot) });
      const faults = site.live ? options.faultsOf(id) : [];
      const canonical = `${baseUrl}/bots/${id}`;
      return <BotPage {...{ site, viewer, bot, locale, count, html, veiled, faults, canonical }} />;
    },
  };
}
