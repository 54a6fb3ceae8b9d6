import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import { renderToString } from 'preact-render-to-string';
import { holdsToken } from '../../bot/token.ts';
import { createDocument, send, setBodyOnce } from '../../http/representation.ts';
import type { Input } from '../../lib/current-cache.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import type { PageLanguage } from '../language/languages.ts';
import { providePage, type Visit, type PageParts } from './page-context.tsx';

/** The inputs of a page, and its rendering. */
export interface PageView {
  /** The selection of the request. Its JSON, with the language of the interface, is the key of the cached page. */
  readonly key: object;
  /** Reads the subject of the page; the page is rebuilt immediately if it is another object. */
  readonly entry?: Input;
  readonly render: () => Promise<VNode>;
}

/**
 * Adds a page.
 * @param toView returns the view for a request, or the path of another page to redirect to; undefined if it has
 * responded itself
 */
export type AddPage = (path: string, toView: (ctx: PageRequest) => ViewOrPath | Promise<ViewOrPath>) => void;

type ViewOrPath = PageView | string | undefined;

export type PageRequest = Context & { readonly params: Readonly<Record<string, string>> };

/**
 * Returns a function that adds pages to a router. For visitors who are not logged in, a page is cached for some
 * seconds, or until its entry or the settings change. For people who are logged in, it is rendered for each request.
 */
export function createPageAdder(router: Router, parts: PageParts): AddPage {
  const { site, cache } = parts;
  const readSettings = (): unknown => site.settings;
  const respond = async (ctx: Context, { key, entry = readSettings, render }: PageView): Promise<void> => {
    const language = site.languages.of(ctx);
    const viewer = ctx.get('Cookie') === '' ? null : await parts.viewerOf(ctx);
    const renderTree = async (): Promise<VNode> => {
      const tree = await render();
      await new TimeSlice().next();
      return tree;
    };
    const visit = { site, viewer };
    if (viewer !== null || site.live) return sendOnce(ctx, visit, await renderTree());
    const { locale, requested, datesTag } = language;
    const page = await cache.get(
      JSON.stringify(['page', key, locale, requested, datesTag]),
      async () => createDocument(htmlType, Buffer.from(renderHtml(visit, language, await renderTree()))),
      { inputs: [readSettings, entry] },
    );
    await send(ctx, { ...page, headers: { ...pageHeaders, 'Cache-Control': 'no-cache' } });
  };
  return (path, toView) =>
    void router.get(path, async (ctx) => {
      const view = await toView(ctx);
      if (typeof view === 'string') ctx.redirect(site.languages.of(ctx).href(view));
      else if (view !== undefined) await respond(ctx, view);
    });
}

/** Responds with a page for this request only: for people who are logged in, a form, an error. It is never cached. */
export function sendOnce(ctx: Context, visit: Visit, page: VNode, status = 200): void {
  ctx.status = status;
  ctx.set({ ...pageHeaders, 'Cache-Control': 'private, no-store' });
  const html = renderHtml(visit, visit.site.languages.of(ctx), page);
  // Not compressed: the length would show how much a guess elsewhere in the page has in common with the token (BREACH).
  if (!holdsToken(html)) return setBodyOnce(ctx, htmlType, Buffer.from(html));
  ctx.body = html;
  ctx.type = htmlType;
}

/** Responds with a redirect to a page; it is never cached. */
export function redirectTo(ctx: Context, url: string): void {
  ctx.set({ 'Cache-Control': 'no-store', 'Referrer-Policy': 'no-referrer' });
  ctx.redirect(url);
  ctx.status = 303;
}

function renderHtml(visit: Visit, language: PageLanguage, page: VNode): string {
  return `<!doctype html>\n${renderToString(providePage(visit, language, page))}\n`;
}

const htmlType = 'text/html; charset=utf-8';

const pageHeaders = {
  Vary: 'Accept-Encoding, Accept-Language, Cookie',
  'Content-Security-Policy': [
    "default-src 'none'",
    "style-src 'self'",
    "img-src 'self'",
    "font-src 'self'",
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
