import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import { type CatalogueSettings } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import { createDocument, send, type WholeDocument } from '../../http/representation.ts';
import type { Site } from './page-context.tsx';

/** A file that pages refer to. Its path contains a digest of its bytes, so caches may keep it forever. */
export interface Asset extends WholeDocument {
  readonly path: string;
}

/** The face of titles: Latin letters, and those with marks that fewer languages need. */
const fonts = {
  font: readAsset('fonts/besley.woff2', 'font/woff2'),
  markedFont: readAsset('fonts/besley-ext.woff2', 'font/woff2'),
};

export const assets = {
  ...fonts,
  /** Without comments and indentation, which are a fifth of its bytes; with the paths of the fonts. */
  stylesheet: readAsset('site.css', 'text/css; charset=utf-8', (css) =>
    css
      .replace(/\/\*.*?\*\//gs, '')
      .replace(/\n\s*/g, '\n')
      .replace('fonts/besley.woff2', toRelativePath(fonts.font))
      .replace('fonts/besley-ext.woff2', toRelativePath(fonts.markedFont)),
  ),
  /** Validates the form of /add while the user types. */
  addScript: readAsset('add.js', 'text/javascript; charset=utf-8'),
  /** Reloads the page when a file of the catalogue is saved. */
  liveScript: readAsset('live.js', 'text/javascript; charset=utf-8'),
  /** Deletes the stored text of a form once the form is sent. */
  sentScript: readAsset('sent.js', 'text/javascript; charset=utf-8'),
  /** The keyboard shortcuts of the review. */
  reviewScript: readAsset('review.js', 'text/javascript; charset=utf-8'),
  /** Copies a token or a code sample. */
  copyScript: readAsset('copy.js', 'text/javascript; charset=utf-8'),
  icon: readAsset('icon.svg', 'image/svg+xml'),
  favicon: readAsset('favicon.ico', 'image/x-icon'),
  /** Square, for home screens. */
  touchIcon: readAsset('apple-touch-icon.png', 'image/png'),
  largeIcon: readAsset('icon-512.png', 'image/png'),
};

/** Returns the assets that the settings define; null for those that they do not. */
export function createOwnAssets(settings: CatalogueSettings): OwnAssets {
  const known = made.get(settings);
  if (known !== undefined) return known;
  const { accent, logo } = settings;
  const css = Object.entries(accent)
    .map(([scheme, colour]) => formatColours(scheme, colour))
    .join('');
  const own = {
    colours: css === '' ? null : createAsset('own/colours.css', 'text/css; charset=utf-8', Buffer.from(css)),
    logo: logo && createAsset(`own/logo.${logo.extension}`, logo.type, logo.body),
  };
  made.set(settings, own);
  return own;
}

interface OwnAssets {
  /** The colours that replace those of the stylesheet. */
  readonly colours: Asset | null;
  readonly logo: Asset | null;
}

const made = new WeakMap<CatalogueSettings, OwnAssets>();

/** Serves the assets, including those of the settings in force. */
export function addAssetRoutes(router: Router, site: Pick<Site, 'settings'>): void {
  for (const found of Object.values(assets)) {
    const representation = { ...found, headers, current: () => true };
    router.get(found.path, async (ctx) => await send(ctx, representation));
  }
  router.get('/assets/own/:name', async (ctx) => {
    const { settings } = site;
    const { colours, logo } = createOwnAssets(settings);
    const found = [colours, logo].find((candidate) => candidate?.path === ctx.path);
    if (!found) throw new ProblemError('not-found', 'there is no such asset: the settings may have changed');
    await send(ctx, { ...found, headers, current: () => site.settings === settings });
  });
}

const headers = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function readAsset(name: string, type: string, shorten?: (text: string) => string): Asset {
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(`#assets/${name}`)));
  return createAsset(name, type, shorten === undefined ? bytes : Buffer.from(shorten(bytes.toString())));
}

/** Returns the path of an asset from the stylesheet. */
function toRelativePath({ path }: Asset): string {
  return path.slice('/assets/'.length);
}

function createAsset(name: string, type: string, body: Buffer): Asset {
  const content = createDocument(type, body);
  const extension = extname(name);
  const path = `/assets/${name.slice(0, -extension.length)}.${content.digest.slice(0, 10)}${extension}`;
  return { path, ...content };
}

function formatColours(scheme: string, colours: Readonly<Record<string, string>>): string {
  const lines = Object.entries(colours).map(([name, colour]) => `    --${name}: ${colour};\n`);
  return `@media (prefers-color-scheme: ${scheme}) {\n  :root {\n${lines.join('')}  }\n}\n`;
}
