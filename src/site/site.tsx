import { Router } from '@koa/router';
import type { Middleware } from 'koa';
import type { Catalogue, OpenCatalogue } from '../catalogue/catalogue.ts';
import { nothingBlocked } from '../catalogue/settings/blocked.ts';
import type { OpenCounts } from '../counts/counts.ts';
import type { Origin } from '../git/branch/clone.ts';
import type { ReportError } from '../http/problem.ts';
import type { OpenImages } from '../images/images.ts';
import type { Closers } from '../lib/closers.ts';
import type { Log } from '../lib/log.ts';
import { basePathOf, parseUrl } from '../lib/network.ts';
import { parseReturnPath } from '../login/session.ts';
import { addBotPages } from './bot/bot-page.tsx';
import { addComparePage } from './bot/compare-page.tsx';
import { createRemovedFinder, trackRemovedBots } from './bot/removed-bots.ts';
import { addShareRoutes } from './bot/share.tsx';
import { addWatchPage } from './bot/watch-page.tsx';
import { createWatchReader } from './bot/watched-bots.ts';
import { addChangesPage } from './changes/changes-page.tsx';
import { createOwnAttention } from './discover/attention.ts';
import { addDiscoverRoutes } from './discover/discover-routes.ts';
import { addFeedsPage } from './discover/feeds-page.tsx';
import type { FeedsOptions } from './discover/feeds.ts';
import { addAuthorPage } from './front/author-page.tsx';
import { addCategoryPages } from './front/categories-page.tsx';
import { addCollectionPages } from './front/collections.tsx';
import { showErrorPages, createNearLister } from './front/error-pages.tsx';
import { FrontLists } from './front/front-list.ts';
import { addFrontPage } from './front/front-page.tsx';
import { Languages } from './language/languages.ts';
import { type FindImage, Markdown } from './markdown/markdown.ts';
import { addAboutPage } from './page/about-page.tsx';
import { formPaths, languagePath, toFormPage, withLocale } from './page/addresses.ts';
import { addAssetRoutes } from './page/assets.ts';
import { addDocsPages } from './page/docs-page.tsx';
import { createPageAdder, redirectTo } from './page/html-response.ts';
import { addLivePreview } from './page/live-preview.ts';
import type { PageParts, Site } from './page/page-context.tsx';
import { createNamedLinks, createRepositoryLinks } from './page/repository-links.ts';

/** The settings of the service that pages depend on. */
interface SiteConfig {
  /** The folder of the catalogue. */
  readonly catalogue: string;
  /** The private block list that replaces the catalogue's; null for the catalogue's own. */
  readonly blocked: string | null;
  readonly contact: string | null;
  readonly demo: object | null;
  readonly dev: boolean;
  /** Null if nobody can log in. */
  readonly login: object | null;
  readonly baseUrl: string;
  readonly securityContact: string | null;
  /** Set if this is a copy of a list. */
  readonly readOnly: { readonly original: string | null } | null;
}

interface SiteOptions extends Pick<OpenCatalogue, 'catalogue' | 'cache'>, Pick<OpenCounts, 'state'> {
  readonly config: SiteConfig;
  /** The remote of the clone, from which the links to the repository are made if the settings have none. */
  readonly origin: Origin | null;
  /** Null if images are not cached. */
  readonly images: OpenImages['cache'] | null;
  readonly log: Log;
}

type SharedParts = Pick<FeedsOptions, 'site' | 'findImage' | 'markdown' | 'shareCards' | 'ownAttention'>;

/** Opens the parts that all pages share, also those of the desk. */
export function openSite(options: SiteOptions, closers: Closers): SharedParts {
  const { config, catalogue, cache, images, state } = options;
  const findImage: FindImage = (url) => images?.copyOf(url);
  return {
    site: createSite(options),
    findImage,
    markdown: closers.own(new Markdown(cache, findImage)),
    shareCards: images?.shareCards ?? null,
    ownAttention: createOwnAttention({ store: catalogue.store, images, state }, config.catalogue),
  };
}

/** Returns the properties that all pages share, with the settings in force at each request. */
function createSite({ config, catalogue, origin, log }: SiteOptions): Site {
  const { contact, demo, dev, login, baseUrl, readOnly } = config;
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

/** The pages, in separate routers, because a router matches a path against all of its routes. */
export interface Pages {
  readonly assets: Router;
  readonly pages: Router;
  /** Middleware: if a later one throws, responds to a browser with an error page; 410 to requests for removed bots. */
  readonly showErrors: (report: ReportError) => Middleware;
  /** Ends the streams of open pages that reload on edits; undefined if pages do not. */
  readonly endLive: (() => void) | undefined;
}

interface SiteParts extends Omit<FeedsOptions, 'readWatched'>, Pick<Catalogue, 'blocked'> {
  readonly config: SiteConfig;
  readonly store: Catalogue['store'];
}

/** Creates the public pages, with assets, feeds and the sitemap. */
export function createPages(parts: SiteParts): Pages {
  const { config, site, store } = parts;
  const assets = new Router();
  addAssetRoutes(assets, site);
  const pages = new Router();
  const endLive = config.dev ? addLivePreview(pages, store) : undefined;
  const removedAt = trackRemovedBots(store, parts.changes);
  const publicBlocked = config.blocked === null ? parts.blocked : { current: nothingBlocked };
  const readWatched = createWatchReader({ ...parts, publicBlocked, removedAt });
  addDiscoverRoutes(pages, { ...parts, readWatched }, config.securityContact);
  addWatchPage(createPageAdder(pages, parts), parts, readWatched);
  addOpenPages(pages, parts);
  const listNear = createNearLister(new FrontLists(parts), parts);
  const findRemoved = createRemovedFinder(parts, removedAt);
  const showErrors: Pages['showErrors'] = (report) => showErrorPages(parts, report, findRemoved, listNear);
  return { assets, pages, showErrors, endLive };
}

/** Adds the public pages: lists, bots, and pages about the site. */
export function addOpenPages(router: Router, parts: PageParts): void {
  const addPage = createPageAdder(router, parts);
  const lists = new FrontLists(parts);
  addFrontPage(addPage, parts, lists);
  addCategoryPages(addPage, parts, lists);
  addCollectionPages(addPage, parts);
  addAuthorPage(addPage, parts, lists);
  addBotPages(addPage, parts);
  addChangesPage(addPage, parts);
  addComparePage(addPage, parts, createNearLister(lists, parts));
  addFeedsPage(addPage, parts);
  addAboutPage(addPage, parts);
  addDocsPages(addPage, parts);
  addLanguageRoute(router, parts.site);
  addShareRoutes(router, parts);
}

/** Adds the links of the language menu. The address has the language too, for browsers that refuse cookies. */
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
