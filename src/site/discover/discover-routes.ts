import type { Router } from '@koa/router';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import { type Representation, readHeaders, send } from '../../http/representation.ts';
import type { Site } from '../page/layout.tsx';
import { sitePaths } from '../page/addresses.ts';
import type { Messages } from '../language/messages.tsx';
import { assets, createOwnAssets } from '../page/assets.ts';
import { addFeedRoutes, type FeedsOptions } from './feeds.ts';
import { readSitemap } from './sitemap.ts';
import {
  createManifest,
  openSearchFile,
  createRobotsFile,
  computeSecurityExpiry,
  createSecurityFile,
} from './site-files.ts';

/**
 * Adds what search engines, feed readers and browsers read beside the pages.
 * @param securityContact a URI to which people report vulnerabilities; null where none is configured
 */
export function addDiscoverRoutes(
  router: Router,
  options: FeedsOptions & { readonly site: Pick<Site, 'canonicalUrl'> },
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
    const expires = computeSecurityExpiry(Date.now());
    const current = (): boolean => computeSecurityExpiry(Date.now()) === expires;
    await send(ctx, { ...createSecurityFile(baseUrl, securityContact, expires), current });
  });
}

type FileMaker = (settings: CatalogueSettings, messages: Messages) => Omit<Representation, 'current'>;
