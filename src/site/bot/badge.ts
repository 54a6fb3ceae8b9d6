import type { Router } from '@koa/router';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { createDocument, readHeaders, send } from '../../http/representation.ts';
import { escapeXml } from '../../lib/escape-xml.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { SiteParts } from '../page/site-parts.ts';

/** `/bots/:id/badge.svg`: a small picture for a bot's own site, with its count or, without one, its name. In English. */
export function addBadgeRoute(router: Router, { bots, counts, site }: SiteParts): void {
  const { text } = site.languages.choose(undefined, 'en');
  router.get('/bots/:id/badge.svg', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const count = counts.count(bot.id);
    const label =
      count === undefined ? withoutBidiControls(bot.facts.name) : text('bot.shortServers', { count });
    const body = Buffer.from(formatBadge(site.settings.name, label));
    await send(ctx, {
      ...createDocument('image/svg+xml; charset=utf-8', body),
      headers: {
        ...readHeaders,
        'Content-Security-Policy': "default-src 'none'; style-src 'unsafe-inline'; sandbox",
      },
    });
  });
}

export function toBadgePath(id: string): string {
  return `/bots/${id}/badge.svg`;
}

/** The accent colour of assets/site.css in light pages. */
export const defaultAccent = '#3f4dba';

/** Draws two texts beside each other, the second on a colour. */
function formatBadge(left: string, right: string): string {
  const [first, second] = [estimateWidth(left), estimateWidth(right)];
  const width = first + second;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img">
<title>${escapeXml(`${left}: ${right}`)}</title>
<clipPath id="edge"><rect width="${width}" height="20" rx="4"/></clipPath>
<g clip-path="url(#edge)"><rect width="${first}" height="20" fill="#3b3d46"/><rect x="${first}" width="${second}" height="20" fill="${defaultAccent}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="${first / 2}" y="14" textLength="${first - paddingPx}" lengthAdjust="spacingAndGlyphs">${escapeXml(left)}</text>
<text x="${first + second / 2}" y="14" textLength="${second - paddingPx}" lengthAdjust="spacingAndGlyphs">${escapeXml(right)}</text>
</g></svg>
`;
}

/** Pixels, left and right of a text together. */
const paddingPx = 14;

/** Estimates the width of a text of 11 pixels with its padding: letters of Chinese, Japanese and Korean are twice as wide. */
function estimateWidth(text: string): number {
  const letters = [...new Intl.Segmenter().segment(text)];
  const width = letters.reduce((sum, { segment }) => sum + (wide.test(segment) ? 11.5 : 6.8), 0);
  return Math.round(width) + paddingPx;
}

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\p{Lu}]/u;
