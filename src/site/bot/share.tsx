import type { Router } from '@koa/router';
import type { VNode } from 'preact';
import type { BotListElement, Category } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import { readInvite } from '../../bot/invite.ts';
import { type Locale, chooseLocale, directionOf } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { parseListElement, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { createDocument, readHeaders, send } from '../../http/representation.ts';
import { parseQuery } from '../../http/request.ts';
import { type NamedShareCard, toShareCardVersion } from '../../images/share-cards.ts';
import { escapeXml, withoutBidiControls } from '../../lib/text.ts';
import { formatReview, type NamedReview, readBotTrust } from '../changes/trust.tsx';
import type { ListedBot } from '../front/card.tsx';
import { toPathInLanguage } from '../page/addresses.ts';
import { CopyField } from '../page/elements.tsx';
import { usePage, type PageParts } from '../page/page-context.tsx';

/**
 * Adds `/bots/:id/card.png`, the image of a bot in previews of links, and `/bots/:id/badge.svg`, a badge for the
 * bot's own site with its count or, without one, its name. Both are in English.
 */
export function addShareRoutes(router: Router, parts: PageParts): void {
  const { site, bots, counts, shareCards } = parts;
  router.get('/bots/:id/card.png', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    if (shareCards === null)
      throw new ProblemError('not-found', `no images are made here: use ${toBadgePath(bot.id)}`);
    const query = parseQuery(ctx);
    const locale = chooseLocale(bot.facts.locales, site.languages.inAddress(ctx).wanted) as Locale;
    const { review } = await readBotTrust(parts, bot.id, locale);
    const card = describeShareCard(parts, parseListElement(bot), locale, review);
    const isVersion = query.get('v') === toShareCardVersion(card);
    const headers = {
      ...readHeaders,
      'Cache-Control': isVersion ? 'public, max-age=31536000, immutable' : 'no-cache',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    };
    await send(ctx, {
      ...createDocument('image/png', await shareCards.get(card, ctx.ip)),
      headers,
    });
  });
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

/** Returns the address of a bot's share card in one language. The address changes with the content of the card. */
export function formatShareCardAddress(parts: PageParts, ...options: CardOptions): string {
  const [{ id }, locale] = options;
  const version = toShareCardVersion(describeShareCard(parts, ...options));
  return `${parts.site.baseUrl}/bots/${id}/card.png?locale=${locale}&v=${version}`;
}

type CardOptions = [bot: BotListElement, locale: Locale, review: NamedReview | undefined];

/** Previews are not blurred, so the card of a bot for adults does not have its avatar. */
function describeShareCard(
  { site: { languages, settings }, counts }: PageParts,
  ...[bot, locale, review]: CardOptions
): NamedShareCard {
  const { text, day, categoryName } = languages.choose(locale, '');
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const count = counts.count(bot.id as BotId);
  const facts = [
    categoryName(bot.category),
    count !== undefined && text('bot.shortServers', { count }),
    bot.nsfw && text('bot.adult'),
  ];
  const { joins, permissions, fullControl } = readInvite(bot.invite) ?? {};
  const isStated = joins === false || typeof permissions === 'object';
  const [wall = '#e4e6ea', tab = '#818693'] = categoryColours.get(bot.category) ?? [];
  return {
    site: settings.name,
    name: withoutBidiControls(name),
    description: withoutBidiControls(description),
    verified: bot.verified,
    facts: facts.filter(Boolean).join(' · '),
    control: isStated ? text(fullControl ? 'permissions.fullControl' : 'permissions.notAdministrator') : '',
    stamp: review === undefined ? [] : formatReview(review, text, day),
    isRightToLeft: directionOf(locale) === 'rtl',
    accent: settings.accent.light?.accent ?? defaultAccent,
    wall,
    tab,
    avatar: bot.nsfw ? null : bot.cachedImages.avatar,
  };
}

/** Category → the colours of its wall and its tab, as in assets/site.css in light pages. */
const categoryColours: ReadonlyMap<Category, readonly string[]> = new Map(
  `education #f3e4cc #b27a00, entertainment #fedddb #cd5f5f, fun #fce0d2 #c86830, games #e3e4fe #7d78d7,
  image #faddea #c15f95, moderation #d5eedb #329d5a, music #f0dff7 #a769be, news #d6e8fe #3e89d7,
  notifications #e4eacf #839007, productivity #cdecf8 #0097c2, utility #ccefeb #00a096`
    .split(/,\s+/)
    .map((line) => line.split(' '))
    .map(([category = '', ...colours]) => [category, colours]),
);

interface ShareCodesProps extends Pick<ListedBot, 'bot' | 'locale'> {
  readonly name: string;
}

/** The bot's address, and code that shows its badge on other sites, to copy. */
export function ShareCodes({ bot, locale, name }: ShareCodesProps): VNode {
  const { site, t } = usePage();
  const page = toPathInLanguage(`${site.baseUrl}/bots/${bot.id}`, locale, findDefaultLocale(bot));
  const badge = site.baseUrl + toBadgePath(bot.id);
  const codes = {
    URL: `${site.canonicalUrl}/bots/${bot.id}`,
    Markdown: `[![${name.replace(/[[\]\\]/g, '\\$&')}](${badge})](${page})`,
    HTML: `<a href="${page}"><img src="${badge}" alt="${escapeXml(name)}" height="20"></a>`,
  };
  return (
    <>
      <details class="share">
        <summary>{t('bot.share')}</summary>
        {Object.entries(codes).map(([form, code]) => (
          <CopyField
            key={form}
            id={`badge-${form}`}
            label={form === 'URL' ? form : [form, ' · ', t('bot.badge')]}
            value={code}
          />
        ))}
      </details>
      <p class="muted" role="status" id="copied" />
    </>
  );
}

function toBadgePath(id: string): string {
  return `/bots/${id}/badge.svg`;
}

/** The accent colour of assets/site.css in light pages. */
const defaultAccent = '#5a35a3';

/** Draws two texts next to each other, the second on a coloured background. */
function formatBadge(left: string, right: string): string {
  const [first, second] = [estimateWidth(left), estimateWidth(right)];
  const width = first + second;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="20" viewBox="0 0 ${width} 20" role="img">
<title>${escapeXml(`${left}: ${right}`)}</title>
<clipPath id="edge"><rect width="${width}" height="20" rx="4"/></clipPath>
<g clip-path="url(#edge)"><rect width="${first}" height="20" fill="#18211d"/><rect x="${first}" width="${second}" height="20" fill="${defaultAccent}"/></g>
<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11" text-anchor="middle">
<text x="${first / 2}" y="14" textLength="${first - paddingPx}" lengthAdjust="spacingAndGlyphs">${escapeXml(left)}</text>
<text x="${first + second / 2}" y="14" textLength="${second - paddingPx}" lengthAdjust="spacingAndGlyphs">${escapeXml(right)}</text>
</g></svg>
`;
}

/** Pixels to the left and right of a text together. */
const paddingPx = 14;

/** Estimates the width of a text of 11 pixels with its padding. Chinese, Japanese and Korean letters are twice as wide. */
function estimateWidth(text: string): number {
  const letters = [...new Intl.Segmenter().segment(text)];
  const width = letters.reduce((sum, { segment }) => sum + (wide.test(segment) ? 11.5 : 6.8), 0);
  return Math.round(width) + paddingPx;
}

const wide = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{Emoji_Presentation}\p{Lu}]/u;
