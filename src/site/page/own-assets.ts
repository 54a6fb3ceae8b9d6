import type { Router } from '@koa/router';
import { type Scheme, schemes, computeSoftAccent } from '../../catalogue/settings/contrast.ts';
import type { CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import { createDocument, send } from '../../http/representation.ts';
import { type Asset, assetHeaders } from './assets.ts';
import type { Site } from './layout.tsx';

/** The assets that the settings of a catalogue make; null where they leave them out. */
export interface OwnAssets {
  /** The colours that replace those of the stylesheet. */
  readonly colours: Asset | null;
  readonly logo: Asset | null;
}

/** Returns the assets of settings. */
export function createOwnAssets(settings: CatalogueSettings): OwnAssets {
  const known = made.get(settings);
  if (known !== undefined) return known;
  const { accent, logo } = settings;
  const css = (Object.entries(accent) as [Scheme, string][])
    .map(([scheme, colour]) => formatColours(scheme, colour))
    .join('');
  const assets = {
    colours:
      css === '' ? null : createOwnAsset('colours', 'css', 'text/css; charset=utf-8', Buffer.from(css)),
    logo: logo && createOwnAsset('logo', logo.extension, logo.type, logo.body),
  };
  made.set(settings, assets);
  return assets;
}

/** Serves the assets of the settings in force. */
export function addOwnAssetRoute(router: Router, site: Pick<Site, 'settings'>): void {
  router.get('/assets/own/:name', async (ctx) => {
    const { settings } = site;
    const { colours, logo } = createOwnAssets(settings);
    const found = [colours, logo].find((candidate) => candidate?.path === ctx.path);
    if (!found) throw new ProblemError('not-found', 'there is no such asset: the settings may have changed');
    await send(ctx, { ...found, common: assetHeaders, current: () => site.settings === settings });
  });
}

const made = new WeakMap<CatalogueSettings, OwnAssets>();

function formatColours(scheme: Scheme, accent: string): string {
  const colours = {
    accent,
    'accent-ink': schemes[scheme].accentInk,
    'accent-soft': computeSoftAccent(accent, scheme),
  };
  const lines = Object.entries(colours).map(([name, colour]) => `    --${name}: ${colour};\n`);
  return `@media (prefers-color-scheme: ${scheme}) {\n  :root {\n${lines.join('')}  }\n}\n`;
}

function createOwnAsset(name: string, extension: string, type: string, body: Buffer): Asset {
  const content = createDocument(type, body);
  return { path: `/assets/own/${name}.${content.digest.slice(0, 10)}.${extension}`, ...content };
}
