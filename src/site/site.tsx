import { Router } from '@koa/router';
import type { Context, Middleware } from 'koa';
import type { OpenCatalogue, Catalogue } from '../catalogue/catalogue.ts';
import { trackRemovedBots } from '../catalogue/changes/change-index.ts';
import { readFileText } from '../catalogue/page/page-file.ts';
import { findBlocked, nothingBlocked } from '../catalogue/settings/blocked.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { Origin } from '../git/remotes.ts';
import type { RepositoryOpener } from '../git/repository.ts';
import { formPaths } from '../http/middleware.ts';
import type { ReportError } from '../http/problem.ts';
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
import { addBotPages, type BotPageParts } from './bot/bot-page.tsx';
import { addComparePage } from './bot/compare-page.tsx';
import { refuseRemovedBots } from './bot/removed-bot-page.tsx';
import { addReportRoutes } from './bot/report-routes.tsx';
import { addShareRoutes } from './bot/share.tsx';
import { addChangesPage } from './changes/changes-page.tsx';
import { addDiscoverRoutes } from './discover/discover-routes.ts';
import { addFeedsPage } from './discover/feeds-page.tsx';
import { addAuthorPage } from './front/author-page.tsx';
import { addCategoryPages } from './front/categories-page.tsx';
import { addCollectionPages } from './front/collection-pages.tsx';
import { FrontLists, type ListParts } from './front/front-list.ts';
import { addFrontPage } from './front/front-page.tsx';
import { Languages } from './language/languages.ts';
import { withLocale } from './language/locales.ts';
import type { Markdown } from './markdown/markdown.ts';
import { type AboutParts, addAboutPage } from './page/about-page.tsx';
import { languagePath, toFormPage } from './page/addresses.ts';
import { addAssetRoutes, addClientRoutes } from './page/assets.ts';
import { addDocsPages } from './page/docs-page.tsx';
import { showErrorPages } from './page/error-pages.tsx';
import { createPageAdder, redirectTo } from './page/html-response.ts';
import { LivePreview } from './page/live-preview.ts';
import type { PageOptions, Site, Viewer } from './page/page-context.tsx';
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
  const answered = proposals?.list.listAnswered(session.id, session.readAt) ?? [];
  const viewer = { ...session, blocked, answered, createdAt: login?.findCreation(session.id) };
  // Without Git, pages are shown all the same.
  if (proposals === null || !(await proposals.isMaintainer(session.id).catch(() => false))) return viewer;
  return { ...viewer, toReview: proposals.list.waiting.length + reports.list().length };
}

/** What the pages that anyone can read are made from. */
export type OpenPagesParts = ListParts & BotPageParts & AboutParts & PageOptions;

/** Adds the pages that anyone can read: lists, bots, what the site says about itself. */
export function addOpenPages(router: Router, parts: OpenPagesParts): void {
  const addPage = createPageAdder(router, parts);
  const lists = new FrontLists(parts);
  addFrontPage(addPage, parts, lists);
  addCategoryPages(addPage, parts, lists);
  addCollectionPages(addPage, parts, lists);
  addAuthorPage(addPage, parts, lists);
  addBotPages(addPage, parts);
  addChangesPage(addPage, parts);
  addComparePage(addPage, parts);
  addFeedsPage(addPage, parts);
  addAboutPage(addPage, parts);
  addDocsPages(addPage, parts);
  addLanguageRoute(router, parts.site);
  addShareRoutes(router, parts);
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
