import type { Router } from '@koa/router';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import {
  type Representation,
  readHeaders,
  send,
  createDocument,
  type Document,
} from '../../http/representation.ts';
import { basePathOf, originOf } from '../../lib/network.ts';
import type { Messages } from '../language/messages.tsx';
import { sitePaths, toPathInLanguage } from '../page/addresses.ts';
import { assets, createOwnAssets } from '../page/assets.ts';
import { addFeedRoutes, type FeedsOptions } from './feeds.ts';
import { readSitemap } from './sitemap.ts';
import { formatElement, formatTextElement, formatXmlDocument } from './xml.ts';

/**
 * Adds the files that search engines, feed readers and browsers read in addition to the pages.
 * @param securityContact a URI to which people report vulnerabilities; null if not configured
 */
export function addDiscoverRoutes(
  router: Router,
  options: FeedsOptions,
  securityContact: string | null,
): void {
  const { site } = options;
  const { baseUrl, canonicalUrl, languages } = site;
  addFeedRoutes(router, options);

  const sitemapOptions = { ...options, baseUrl, locales: languages.locales };
  router.get('/sitemap.xml', async (ctx) => {
    const { main, current } = await readSitemap(sitemapOptions);
    await send(ctx, { ...main, current });
  });
  router.get('/sitemaps/:number.xml.gz', async (ctx) => {
    const { parts, current } = await readSitemap(sitemapOptions);
    const number = ctx.params['number'] ?? '';
    const part = /^[1-9]\d{0,6}$/.test(number) ? parts[Number(number) - 1] : undefined;
    if (part === undefined)
      throw new ProblemError(
        'not-found',
        `the sitemap has no part ${number.slice(0, 20)}: read ${baseUrl}/sitemap.xml`,
      );
    await send(ctx, { ...part, current });
  });

  const headers = { ...readHeaders, 'Cache-Control': 'public, max-age=86400' };
  const files: Readonly<Record<string, FileMaker>> = {
    '/robots.txt': () => createRobotsFile(baseUrl, canonicalUrl === baseUrl),
    [sitePaths.manifest]: (settings, messages) => createManifest(baseUrl, messages, settings),
    [sitePaths.openSearch]: (settings, messages) => openSearchFile(baseUrl, messages, settings),
    [sitePaths.favicon]: (settings) => ({ ...(createOwnAssets(settings).logo ?? assets.favicon), headers }),
    [sitePaths.touchIcon]: (settings) => ({
      ...(createOwnAssets(settings).logo ?? assets.touchIcon),
      headers,
    }),
  };
  for (const [path, makeFile] of Object.entries(files))
    router.get(path, async (ctx) => {
      const { settings } = site;
      const file = makeFile(settings, languages.inAddress(ctx));
      await send(ctx, { ...file, current: () => site.settings === settings });
    });
  router.get('/.well-known/security.txt', async (ctx) => {
    if (securityContact === null)
      throw new ProblemError('not-found', 'the operator has not configured a contact for security');
    await send(ctx, createSecurityFile(baseUrl, securityContact));
  });
}

type FileMaker = (settings: CatalogueSettings, messages: Messages) => Omit<Representation, 'current'>;

/**
 * Creates robots.txt: crawlers may read pages, but not the API or results of searches. Crawlers request it only at the
 * top of the host; if the public address has a path, the operator has to serve it there. A copy of a list has no
 * sitemap, because its pages refer to those of the original.
 */
function createRobotsFile(baseUrl: string, hasSitemap = true): Document {
  const basePath = basePathOf(baseUrl);
  const closed = [
    '/api/',
    '/hooks/',
    '/language',
    '/login',
    '/logout',
    '/proposals/',
    '/review',
    '/watch?',
    '/bots/*/token',
    '/bots/*/edit',
    '/bots/*/translate',
    '/bots/*/report',
    '/collections/*/edit',
    '/collections/*/translate',
    '/*?q=',
    '/*&q=',
  ];
  return createTextFile([
    'User-agent: *',
    ...closed.map((path) => `Disallow: ${basePath}${path}`),
    ...(hasSitemap ? ['', `Sitemap: ${baseUrl}/sitemap.xml`] : []),
  ]);
}

/** Creates the manifest with which a browser puts the site on a home screen. */
function createManifest(
  baseUrl: string,
  { locale, dir, text }: Messages,
  settings: CatalogueSettings,
): Document {
  const { logo } = createOwnAssets(settings);
  const basePath = basePathOf(baseUrl);
  const manifest = {
    name: settings.name,
    short_name: settings.name,
    description: settings.tagline ?? text('front.title'),
    lang: locale,
    dir,
    id: `${basePath}/`,
    start_url: basePath + toPathInLanguage('/', locale, settings.language),
    scope: `${basePath}/`,
    display: 'minimal-ui',
    background_color: '#f8f8f6',
    theme_color: '#ffffff',
    icons: logo
      ? [{ src: basePath + logo.path, sizes: 'any', type: logo.type }]
      : [
          { src: basePath + assets.icon.path, sizes: 'any', type: 'image/svg+xml' },
          { src: basePath + assets.touchIcon.path, sizes: '180x180', type: 'image/png' },
          { src: basePath + assets.largeIcon.path, sizes: '512x512', type: 'image/png' },
        ],
  };
  return createDocument('application/manifest+json; charset=utf-8', Buffer.from(JSON.stringify(manifest)));
}

/** Creates the description of the search, with which a browser offers it in its address bar. */
function openSearchFile(baseUrl: string, { locale, text }: Messages, settings: CatalogueSettings): Document {
  const { name, tagline, language } = settings;
  const description = formatElement(
    'OpenSearchDescription',
    { xmlns: 'http://a9.com/-/spec/opensearch/1.1/' },
    formatTextElement('ShortName', name.slice(0, 16)),
    formatTextElement('Description', tagline ?? text('front.title')),
    formatTextElement('InputEncoding', 'UTF-8'),
    formatTextElement('Image', `${baseUrl}${sitePaths.favicon}`, {
      width: '16',
      height: '16',
      type: (createOwnAssets(settings).logo ?? assets.favicon).type,
    }),
    formatElement('Url', {
      type: 'text/html',
      template: baseUrl + toPathInLanguage('/?q={searchTerms}', locale, language),
    }),
    formatElement('Url', {
      type: 'application/opensearchdescription+xml',
      rel: 'self',
      template: baseUrl + toPathInLanguage(sitePaths.openSearch, locale, language),
    }),
  );
  return createDocument('application/opensearchdescription+xml', formatXmlDocument(description));
}

/**
 * Creates security.txt (RFC 9116), for the top of the host, where it is requested. It expires at the start of a month,
 * half a year ahead, so that the file changes once a month.
 * @param contact a URI
 */
function createSecurityFile(baseUrl: string, contact: string): Document {
  const now = new Date();
  const expires = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 6, 1));
  return createTextFile([
    `Contact: ${contact}`,
    `Expires: ${expires.toISOString()}`,
    `Preferred-Languages: en`,
    `Canonical: ${originOf(baseUrl)}/.well-known/security.txt`,
  ]);
}

function createTextFile(lines: readonly string[]): Document {
  return createDocument('text/plain; charset=utf-8', Buffer.from(`${lines.join('\n')}\n`));
}
