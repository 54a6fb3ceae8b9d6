import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { VNode } from 'preact';
import { type BotId, parseBotId } from '../bot/id.ts';
import { toNameSlug } from '../bot/likeness.ts';
import type { OpenCatalogue, Catalogue } from '../catalogue/catalogue.ts';
import { trackRemovedBots } from '../catalogue/changes/bot-changes.ts';
import { readFileText } from '../catalogue/page/page-file.ts';
import { findBlocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { Origin } from '../git/hosts.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { formPaths } from '../http/middleware.ts';
import type { ReportError } from '../http/problem.ts';
import { findKnownAuthor, findKnownBot, parseQuery } from '../http/request.ts';
import type { OpenImages } from '../images/images.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf, parseUrl } from '../lib/network.ts';
import type { DemoPerson } from '../login/demo-provider.ts';
import type { Login } from '../login/login.ts';
import { parseReturnPath } from '../login/session.ts';
import type { OpenProposals } from '../proposals/open.ts';
import type { Tokens } from '../tokens/tokens.ts';
import { addDemoPeopleRoute, addLoginRoutes, readSession } from './account/login-pages.tsx';
import { addMyBotsRoute } from './account/my-bots-pages.tsx';
import { addProposalRoutes } from './account/proposal-pages.tsx';
import { addTokenRoutes } from './account/token-pages.tsx';
import { addAddRoutes } from './add/add-routes.tsx';
import { type BotPageParts, createBotView } from './bot/bot-page.tsx';
import { createCompareView } from './bot/compare-page.tsx';
import { refuseRemovedBots } from './bot/removed-bot-page.tsx';
import { addReportRoutes } from './bot/report-routes.tsx';
import { readGroups } from './bot/related-bots.ts';
import { addBadgeRoute, addShareRoute } from './bot/share.tsx';
import { addChangesPage } from './changes/changes-page.tsx';
import { FeedsPage } from './discover/feeds-page.tsx';
import { addDiscoverRoutes } from './discover/discover-routes.ts';
import { createCollectionView, createCollectionsView } from './front/collection-pages.tsx';
import { FrontLists, type ListParts } from './front/front-list.ts';
import {
  formatFrontPath,
  noQuery,
  type FrontQuery,
  isFront,
  parseCategory,
  readFrontQuery,
} from './front/front-query.ts';
import { createAuthorView, createCategoriesView, createFrontView, listView } from './front/front-views.tsx';
import { Languages } from './language/languages.ts';
import { withLocale } from './language/locales.ts';
import { languagePath } from './language/page-language.tsx';
import type { Markdown } from './markdown/markdown.ts';
import {
  aboutPath,
  categoriesPath,
  collectionsPath,
  feedsPath,
  toCollectionPath,
  toFormPage,
} from './page/addresses.ts';
import { addAssetRoutes, addClientRoutes } from './page/assets.ts';
import { type AboutParts, createAboutView } from './page/about-page.tsx';
import { DocsPage, docsPaths, findExample, renderGuide } from './page/docs-page.tsx';
import { FaultyBotPage } from './page/faults.tsx';
import { createPageResponder, redirectTo, sendOnce } from './page/html-response.ts';
import type { PageOptions, PageProps, Site, Viewer } from './page/layout.tsx';
import { LivePreview } from './page/live-preview.ts';
import { showErrorPages } from './page/message-pages.tsx';
import { createNamedLinks, createRepositoryLinks } from './page/repository-links.ts';
import { type Attention, readAttention, createOwnAttention } from './review/attention.ts';
import { addReviewRoutes } from './review/review-routes.tsx';

/** The settings that pages depend on. */
export interface SiteConfig {
  readonly contact: string | null;
  readonly demo: { readonly people: readonly DemoPerson[] } | null;
  readonly dev: boolean;
  /** Where people log in; null if nobody can. */
  readonly login: object | null;
  readonly baseUrl: string;
  /** Set where this is a copy of a list. */
  readonly readOnly: { readonly original: string | null } | null;
}

/**
 * Returns the properties that all pages share; its settings are those in force at each request.
 * @param origin the remote of the clone: the links to the repository are made from it where the settings name none
 */
export function createSite(
  { contact, demo, dev, login, baseUrl, readOnly }: SiteConfig,
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
    languages: new Languages(log, () => catalogue.settings.current, publicPath, basePath),
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

/** What the pages are made from. */
export interface PagesParts
  extends
    Pick<OpenCatalogue, 'catalogue' | 'bots' | 'lists' | 'authors' | 'changes' | 'cache'>,
    Pick<OpenCounts, 'state' | 'counts' | 'countHistory'>,
    Pick<OpenProposals, 'proposals' | 'hostReview' | 'drafts' | 'reports' | 'notify'> {
  readonly config: SiteConfig & {
    /** The folder that holds `bots/`. */
    readonly catalogue: string;
    /** The private file that says who is blocked; null if that is in the repository. */
    readonly blocked: string | null;
    readonly securityContact: string | null;
  };
  readonly site: Site;
  readonly repositoryOpener: RepositoryOpener;
  readonly markdown: Markdown;
  /** Null if nobody can log in. */
  readonly login: Login | null;
  readonly tokens: Tokens;
  /** Null if images are not cached. */
  readonly images: OpenImages['cache'] | null;
  readonly log: Log;
}

/** The pages, in routers of their own: a router matches a path against all of its routes. */
export interface Pages {
  readonly assets: Router;
  readonly pages: Router;
  /** Middleware: if a later one throws, responds to a browser with an error page. */
  readonly showErrors: (report: ReportError) => Middleware;
  /** Middleware: responds to requests for removed bots with a 410. */
  readonly refuseRemoved: Middleware;
  /** Null if open pages do not reload on edits. */
  readonly live: LivePreview | null;
}

/** Creates all pages, with what is next to them: assets, feeds, the sitemap. */
export function createPages(parts: PagesParts): Pages {
  const { config, site, catalogue, cache, proposals, drafts, hostReview, images, login, tokens } = parts;
  const { store, settings, blocked, collections } = catalogue;
  const all = {
    ...parts,
    store,
    settings,
    blocked,
    collections,
    shareCards: images?.shareCards ?? null,
    viewerOf: async (ctx: Context) => await readViewer(ctx, parts),
    readFile: (path: string) => readFileText(config.catalogue, path),
  };
  const findAttention = async (): Promise<Attention> =>
    await cache.get('attention', async () => await readAttention(all));
  const ownAttention = createOwnAttention(all, config.catalogue);
  const assets = new Router();
  addAssetRoutes(assets, site);
  addClientRoutes(assets);
  const pages = new Router();
  if (config.demo) addDemoPeopleRoute(pages, site, config.demo.people);
  if (login) {
    addLoginRoutes(pages, site, login);
    addMyBotsRoute(pages, all, login, tokens, ownAttention);
  }
  if (proposals && drafts) {
    addProposalRoutes(pages, all, proposals, login);
    addReviewRoutes(pages, { ...all, drafts }, proposals, findAttention, hostReview?.home ?? null);
  }
  addTokenRoutes(pages, all);
  const live = config.dev ? new LivePreview(store) : null;
  live?.addRoute(pages);
  addDiscoverRoutes(pages, { ...all, ownAttention }, config.securityContact);
  addAddRoutes(pages, all);
  addReportRoutes(pages, all);
  addOpenPages(pages, all);
  const refuseRemoved = refuseRemovedBots(all, trackRemovedBots(store, parts.changes));
  return { assets, pages, showErrors: (report) => showErrorPages(all, report), refuseRemoved, live };
}

/** Returns who is logged in, what was answered, and, if it is a maintainer, the number of proposals and reports that wait. */
async function readViewer(
  ctx: Context,
  { login, proposals, reports, catalogue }: Pick<PagesParts, 'login' | 'proposals' | 'reports' | 'catalogue'>,
): Promise<Viewer | null> {
  const session = await readSession(ctx, login);
  if (session === null) return null;
  const [blocked] = findBlocked(catalogue.blocked.current ?? nothingBlocked, { authors: [session.id] });
  const answered = proposals?.listAnswered(session.id, session.readAt) ?? [];
  const viewer = { ...session, blocked, answered, createdAt: login?.findCreation(session.id) };
  // Without Git, pages are shown all the same.
  if (proposals === null || !(await proposals.isMaintainer(session.id).catch(() => false))) return viewer;
  return { ...viewer, toReview: proposals.waiting.length + reports.list().length };
}

/** Adds the pages that anyone can read: lists, bots, what the site says about itself. */
export function addOpenPages(
  router: Router,
  parts: ListParts & BotPageParts & AboutParts & PageOptions,
): void {
  const { site, bots } = parts;
  const respond = createPageResponder(parts);
  const lists = new FrontLists(parts);
  const respondWithList = async (ctx: Context, query: FrontQuery): Promise<void> =>
    await respond(ctx, await listView(ctx, site, lists, query));
  router.get('/', async (ctx) => {
    const params = parseQuery(ctx);
    const query = readFrontQuery(params, undefined);
    const language = site.languages.of(ctx);
    const category = site.settings.categories.find((id) => id === params.get('category'));
    if (category !== undefined) ctx.redirect(language.href(formatFrontPath({ ...query, category })));
    else if (isFront(query))
      await respond(ctx, await createFrontView(ctx, site, lists, parts.authors, language));
    else await respondWithList(ctx, query);
  });
  router.get(categoriesPath, async (ctx) => await respond(ctx, await createCategoriesView(parts.lists)));
  router.get(`${categoriesPath}/:category`, async (ctx) => {
    const category = parseCategory(ctx.params['category'] ?? '', site.settings);
    await respondWithList(ctx, readFrontQuery(parseQuery(ctx), category));
  });
  router.get(collectionsPath, async (ctx) => await respond(ctx, createCollectionsView(ctx, site, parts)));
  router.get(toCollectionPath(':name'), async (ctx) => {
    await respond(ctx, createCollectionView(ctx, parts, lists, ctx.params['name'] ?? ''));
  });
  addLanguageRoute(router, site);
  router.get(feedsPath, async (ctx) => {
    const sizes = await parts.lists.sizes(false);
    const render = async (props: PageProps): Promise<VNode> => <FeedsPage {...{ ...props, ...sizes }} />;
    await respond(ctx, { key: { page: feedsPath }, render });
  });
  router.get(aboutPath, async (ctx) => await respond(ctx, createAboutView(parts)));
  for (const path of docsPaths) {
    let guide: ReturnType<typeof renderGuide> | undefined;
    let named: BotId | undefined;
    const render = async (props: PageProps): Promise<VNode> => {
      const id = await findExample(bots);
      // Pages that wait share one rendering, because each takes a thread.
      if (named !== id) guide = undefined;
      guide ??= renderGuide(path, site.canonicalUrl, (named = id));
      const rendered = await guide.catch((error: unknown) => {
        guide = undefined;
        throw error;
      });
      // On a busy machine the time may be over.
      if (rendered.html === null) guide = undefined;
      return <DocsPage {...props} {...rendered} path={path} />;
    };
    router.get(path, async (ctx) => await respond(ctx, { key: { page: path }, render }));
  }
  router.get('/authors/:id', async (ctx) => {
    const author = await findKnownAuthor(parts.authors, ctx.params['id'] ?? '');
    await respond(ctx, await createAuthorView(ctx, site, lists, author));
  });
  // The address of a bot without its end, or the public address.
  const shortened = basePathOf(site.baseUrl) === '/bots' ? '/' : '/?sort=popular';
  router.get('/bots', (ctx) => {
    ctx.redirect(site.languages.of(ctx).href(shortened));
    ctx.status = 301;
  });
  router.get('/bots/:id', async (ctx) => {
    const id = ctx.params['id'] ?? '';
    const named = parseBotId(id) ? undefined : (await readGroups(parts)).named(toNameSlug(id));
    const { href } = site.languages.of(ctx);
    if (named) ctx.redirect(href(`/bots/${named.id}${ctx.search}`));
    else if (named === null) ctx.redirect(href(formatFrontPath({ ...noQuery, q: id })));
    else if (!sendFaults(ctx, parts, parseBotId(id)))
      await respond(ctx, await createBotView(ctx, parts, findKnownBot(bots, id)));
  });
  addChangesPage(router, parts, respond);
  router.get('/compare', async (ctx) => await respond(ctx, await createCompareView(ctx, parts)));
  addBadgeRoute(router, parts);
  addShareRoute(router, parts);
}

/** Adds the links of the menu of languages. The address names the language too, for browsers that refuse cookies. */
function addLanguageRoute(router: Router, { baseUrl, languages }: Site): void {
  router.get(languagePath, (ctx) => {
    const from = ctx.get('Referer');
    const isOwn = ctx.get('Sec-Fetch-Site') === 'same-origin' || from.startsWith(`${baseUrl}/`);
    const page = isOwn ? parseUrl(from) : undefined;
    page?.searchParams.delete('locale');
    const path = parseReturnPath(page && toFormPage(page.pathname + page.search), basePathOf(baseUrl));
    redirectTo(ctx, withLocale(path, languages.findChosen(ctx, page !== undefined)));
  });
}

/** With BOTSHELF_DEV, responds with the faults of a bot that has never been valid; returns false if it has none. */
function sendFaults(ctx: Context, { site, bots, store }: BotPageParts, id: BotId | undefined): boolean {
  if (!site.live || id === undefined || bots.get(id) !== undefined) return false;
  const faults = store.faultsOf(id);
  if (faults.length > 0)
    sendOnce(ctx, <FaultyBotPage {...{ site, id, faults }} />, site.languages.of(ctx), 404);
  return faults.length > 0;
}
