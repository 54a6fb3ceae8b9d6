import { hash } from 'node:crypto';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { send } from '../../http/representation.ts';

/** A page as bytes, and whether it would still be made the same. */
export interface RenderedPage {
  readonly body: Buffer;
  readonly digest: string;
  readonly current: () => boolean;
}

/** Renders a whole page, a `Layout`, which stays right for as long as `current` says so. */
export function renderPage(page: VNode, current: () => boolean): RenderedPage {
  const body = Buffer.from(`<!doctype html>\n${renderToString(page)}\n`);
  return { body, digest: hash('sha1', body, 'base64url'), current };
}

/**
 * Answers with a page that is the same for everybody who asks in the same way: ETag, 304, compression, and
 * the very same bytes again for as long as the page is current. Never for a page about who asks.
 */
export async function sendPage(ctx: Context, { body, digest, current }: RenderedPage): Promise<void> {
  const common = { ...pageHeaders, 'Cache-Control': 'no-cache' };
  await send(ctx, { type: htmlType, digest, body, common, current });
}

/** Answers with a page for this one request: of somebody who is logged in, of a form, of an error. Nobody keeps it. */
export function sendOnce(ctx: Context, page: VNode, status = 200): void {
  ctx.status = status;
  ctx.set({ ...pageHeaders, 'Cache-Control': 'private, no-store' });
  ctx.body = `<!doctype html>\n${renderToString(page)}\n`;
  ctx.type = htmlType;
}

const htmlType = 'text/html; charset=utf-8';

const pageHeaders = {
  Vary: 'Accept-Encoding, Accept-Language, Cookie',
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "script-src 'self'",
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};
