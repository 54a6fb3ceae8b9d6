import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import { type BotId, parseBotId } from '../bot/id.ts';
import type { Catalogue } from '../catalogue/store/catalogue.ts';
import type { Origin } from '../git/origin.ts';
import { findKnownAuthor, findKnownBot } from '../http/api/read-routes.ts';
import { formPaths } from '../http/middleware.ts';
import { parseQuery } from '../http/request.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf } from '../lib/network.ts';
import { addAddRoutes } from '../site/add/add-routes.tsx';
import { addBadgeRoute, addShareRoute } from '../site/bot/share.tsx';
import { createBotRecipe } from '../site/bot/bot-page.tsx';
import { createCompareRecipe } from '../site/bot/compare-page.tsx';
import { addReportRoutes } from '../site/bot/report-routes.tsx';
import { addChangesPage } from '../site/changes/changes-page.tsx';
import { createCollectionRecipe, createCollectionsRecipe } from '../site/front/collection-pages.tsx';
import { FrontLists } from '../site/front/front-list.ts';
import {
  formatFrontPath,
  type FrontQuery,
  isFront,
  parseCategory,
  readFrontQuery,
} from '../site/front/front-query.ts';
import { createAuthorRecipe, createFrontRecipe, listRecipe } from '../site/front/front-recipe.tsx';
import { Languages } from '../site/language/languages.ts';
import { collectionsPath, toCollectionPath } from '../site/page/addresses.ts';
import { DocsPage, docsPaths, renderGuide } from '../site/page/docs-page.tsx';
import { FaultyBotPage } from '../site/page/faults.tsx';
import { createPageResponder, sendOnce } from '../site/page/html-response.ts';
import type { Site, PageProps } from '../site/page/layout.tsx';
import { createNamedLinks, createRepositoryLinks } from '../site/page/repository-links.ts';
import type { SiteParts } from '../site/page/site-parts.ts';
import type { Config } from './config.ts';

/**
 * Returns what all pages share, with the settings of the catalogue as they are at each request.
 * @param origin the remote of the clone: the links to the repository are made from it where the settings name none
 */
export function createSite(
  { contact, demo, dev, login, baseUrl, readOnly }: Config,
  catalogue: Pick<Catalogue, 'settings'>,
  origin: Origin | null,
  log: Log,
): Site {
  const original = readOnly?.original ?? null;
  const basePath = basePathOf(baseUrl);
  const publicPath = (path: string): string =>
    (formPaths.test(path) ? (original ?? basePath) : basePath) + path;
  const derived = origin && createRepositoryLinks(origin);
  return {
    baseUrl,
    canonicalUrl: original ?? baseUrl,
    hasForms: readOnly === null || original !== null,
    languages: new Languages(log, () => catalogue.settings.current, publicPath),
    login: (login ?? demo ?? original) !== null,
    get repository() {
      const { repository } = catalogue.settings.current;
      return repository === null ? derived : createNamedLinks(repository);
    },
    live: dev,
    demo: demo !== null,
    get settings() {
      return catalogue.settings.current;
    },
    get contact() {
      return contact ?? catalogue.settings.current.contact;
    },
  };
}

/** Adds the pages that anyone can read: front page, categories, bots, API; the forms. */
export function addSiteRoutes(router: Router, parts: SiteParts): void {
  const { site, bots } = parts;
  addAddRoutes(router, parts);
  addReportRoutes(router, parts);
  const respond = createPageResponder(parts);
  const lists = new FrontLists(parts);
  const respondWithList = async (ctx: Context, query: FrontQuery): Promise<void> =>
    await respond(ctx, await listRecipe(ctx, site, lists, query));
  router.get('/', async (ctx) => {
    const params = parseQuery(ctx);
    const query = readFrontQuery(params, undefined);
    const language = site.languages.of(ctx);
    const category = site.settings.categories.find((id) => id === params.get('category'));
    if (category !== undefined) ctx.redirect(language.publicPath(formatFrontPath({ ...query, category })));
    else if (isFront(query)) await respond(ctx, await createFrontRecipe(ctx, parts, lists, query, language));
    else await respondWithList(ctx, query);
  });
  router.get('/categories/:category', async (ctx) => {
    const category = parseCategory(ctx.params['category'] ?? '', site.settings);
    await respondWithList(ctx, readFrontQuery(parseQuery(ctx), category));
  });
  router.get(collectionsPath, async (ctx) => await respond(ctx, createCollectionsRecipe(ctx, parts)));
  router.get(toCollectionPath(':name'), async (ctx) => {
    await respond(ctx, createCollectionRecipe(ctx, parts, lists, ctx.params['name'] ?? ''));
  });
  for (const path of docsPaths) {
    let guide: Awaited<ReturnType<typeof renderGuide>> | undefined;
    const render = async (props: PageProps): Promise<VNode> => {
      const rendered = guide ?? (await renderGuide(path, site.canonicalUrl));
      // On a busy machine the time may be over.
      if (rendered.html !== null) guide = rendered;
      return <DocsPage {...props} {...rendered} path={path} />;
    };
    router.get(path, async (ctx) => await respond(ctx, { key: { page: path }, render }));
  }
  router.get('/authors/:id', async (ctx) => {
    const author = await findKnownAuthor(parts.authors, ctx.params['id'] ?? '');
    await respond(ctx, await createAuthorRecipe(ctx, site, lists, author));
  });
  router.get('/bots/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    if (!sendFaults(ctx, parts, parseBotId(id)))
      await respond(ctx, await createBotRecipe(ctx, parts, findKnownBot(bots, id)));
  });
  addChangesPage(router, parts, respond);
  router.get('/compare', async (ctx) => await respond(ctx, createCompareRecipe(ctx, parts)));
  addBadgeRoute(router, parts);
  addShareRoute(router, parts);
}

/**
 * Responds with the faults of a bot that has never been valid, where its editor is looking; false where there are none.
 */
function sendFaults(ctx: Context, { site, bots, faultsOf }: SiteParts, id: BotId | undefined): boolean {
  if (!site.live || id === undefined || bots.get(id) !== undefined) return false;
  const faults = faultsOf(id);
  if (faults.length > 0)
    sendOnce(ctx, <FaultyBotPage {...{ site, id, faults }} />, site.languages.of(ctx), 404);
  return faults.length > 0;
}
