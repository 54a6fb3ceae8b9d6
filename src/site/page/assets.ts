import { readFileSync } from 'node:fs';
import { extname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Router } from '@koa/router';
import { createDocument, send, type WholeDocument } from '../../http/representation.ts';

/** A file that pages refer to. Its path has a digest of its bytes, so caches may keep it for ever. */
export interface Asset extends WholeDocument {
  readonly path: string;
}

const types: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.ico': 'image/x-icon',
};

export const assets = {
  /** Without its comments and indentation: a fifth of its bytes. */
  stylesheet: readAsset('site.css', (css) => css.replace(/\/\*.*?\*\//gs, '').replace(/\s*\n\s*/g, '\n')),
  /** Validates the form of /add while the user types. */
  addScript: readAsset('add.js'),
  /** Reloads the page when a file of the catalogue is saved. */
  liveScript: readAsset('live.js'),
  /** Copies a token. */
  copyScript: readAsset('copy.js'),
  icon: readAsset('icon.svg'),
  favicon: readAsset('favicon.ico'),
  /** Square, for home screens. */
  touchIcon: readAsset('apple-touch-icon.png'),
  largeIcon: readAsset('icon-512.png'),
};

/** Serves the assets. */
export function addAssetRoutes(router: Router): void {
  for (const found of Object.values(assets)) {
    const representation = { ...found, common: assetHeaders, current: () => true };
    router.get(found.path, async (ctx) => await send(ctx, representation));
  }
}

export const assetHeaders = {
  'Cache-Control': 'public, max-age=31536000, immutable',
  Vary: 'Accept-Encoding',
  'Cross-Origin-Resource-Policy': 'same-origin',
};

function readAsset(name: string, shorten?: (text: string) => string): Asset {
  const bytes = readFileSync(fileURLToPath(import.meta.resolve(`#assets/${name}`)));
  const body = shorten === undefined ? bytes : Buffer.from(shorten(bytes.toString()));
  const extension = extname(name);
  const content = createDocument(types[extension] ?? 'application/octet-stream', body);
  const path = `/assets/${name.slice(0, -extension.length)}.${content.digest.slice(0, 10)}${extension}`;
  return { path, ...content };
}
