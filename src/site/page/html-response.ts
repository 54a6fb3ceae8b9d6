import type { Context } from 'koa';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { provideLanguage, type PageLanguage } from '../language/page-language.tsx';
import type { Current } from '../../lib/current-cache.ts';
import { createDocument, send, type WholeDocument } from '../../http/representation.ts';

/** Renders a whole page, a `Layout`. */
export function renderPage(page: VNode, language: PageLanguage): WholeDocument {
  return createDocument(htmlType, Buffer.from(renderHtml(page, language)));
}

/**
 * Responds with a page that is the same for every visitor who is not logged in: ETag, 304, compression, and the same
 * bytes again for as long as the page is current.
 */
export async function sendPage(ctx: Context, page: WholeDocument & Current): Promise<void> {
  await send(ctx, { ...page, headers: { ...pageHeaders, 'Cache-Control': 'no-cache' } });
}

/** Responds with a page for this one request: for someone who is logged in, a form, an error. No cache keeps it. */
export function sendOnce(ctx: Context, page: VNode, language: PageLanguage, status = 200): void {
  ctx.status = status;
  ctx.set({ ...pageHeaders, 'Cache-Control': 'private, no-store' });
  ctx.body = renderHtml(page, language);
  ctx.type = htmlType;
}

/** Responds with a redirect to a page, which no cache keeps. */
export function redirectTo(ctx: Context, url: string): void {
  ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.redirect(url);
  ctx.status = 303;
}

function renderHtml(page: VNode, language: PageLanguage): string {
  return `<!doctype html>\n${renderToString(provideLanguage(language, page))}\n`;
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
    "manifest-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'Referrer-Policy': 'strict-origin-when-cross-origin',
  'Cross-Origin-Opener-Policy': 'same-origin',
};
