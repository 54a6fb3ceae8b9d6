import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/query.ts';
import { findKnownBot } from '../../http/api/read-routes.ts';
import { createDocument, readHeaders, send } from '../../http/representation.ts';
import { type NamedShareCard, toShareCardVersion } from '../../images/share-cards.ts';
import { escapeXml } from '../../lib/escape-xml.ts';
import { Card, type CardProps } from '../front/card.tsx';
import { chooseLocale, directionOf, listWantedRanges } from '../language/locales.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toPathInLanguage } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { DocumentHead, NoIndex } from '../page/head.tsx';
import { CopyButton } from '../page/links.tsx';
import { renderPage } from '../page/html-response.ts';
import type { Site } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { createBotCheck, defaultAccent, toBadgePath } from './badge.ts';
import type { ShownBotProps } from './bot-page.tsx';

/** Adds what other sites show of a bot: `/bots/:id/card` in a frame, `/bots/:id/card.png` in previews of links. */
export function addShareRoutes(router: Router, parts: SiteParts): void {
  const { bots, counts, site, shareCards } = parts;
  router.get('/bots/:id/card', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const current = createBotCheck(parts, bot);
    const card = {
      bot: parseListElement(bot),
      locale: chooseBotLocale(ctx, bot, ctx.get('Accept-Language')),
      count: counts.count(bot.id),
    };
    const page = renderPage(<FramedCard site={site} {...card} />, site.languages.of(ctx));
    await send(ctx, { ...page, headers: frameHeaders, current });
  });
  router.get('/bots/:id/card.png', async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const current = createBotCheck(parts, bot);
    if (shareCards === null)
      throw new ProblemError('not-found', `no images are made here: use ${toBadgePath(bot.id)}`);
    const card = describeShareCard(parts, parseListElement(bot), chooseBotLocale(ctx, bot, ''));
    const isVersion = parseQuery(ctx).get('v') === toShareCardVersion(card);
    const headers = {
      ...readHeaders,
      'Cache-Control': isVersion ? 'public, max-age=31536000, immutable' : 'no-cache',
      'Cross-Origin-Resource-Policy': 'cross-origin',
    };
    await send(ctx, { ...createDocument('image/png', await shareCards.get(card)), headers, current });
  });
}

/** @param accepted the value of Accept-Language, where it counts */
function chooseBotLocale(ctx: Context, bot: IndexedBot, accepted: string): Locale {
  const wanted = listWantedRanges(parseQuery(ctx).get('locale') ?? undefined, accepted);
  return chooseLocale(bot.facts.locales, wanted) as Locale;
}

/** Only styles and images, in a frame of any site. */
const frameHeaders = {
  'Cache-Control': 'public, max-age=300',
  Vary: 'Accept-Encoding, Accept-Language',
  'Content-Security-Policy':
    "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors *",
  'Cross-Origin-Resource-Policy': 'cross-origin',
};

/** The card of a list as a document of its own, whose links open outside of the frame. */
function FramedCard({
  site,
  ...card
}: { readonly site: Site } & Pick<CardProps, 'bot' | 'locale' | 'count'>): VNode {
  const { locale, dir, href } = useLanguage();
  const { name } = site.settings;
  return (
    <html lang={locale} dir={dir}>
      <DocumentHead settings={site.settings} title={name}>
        <base target="_blank" />
        <NoIndex />
      </DocumentHead>
      <body>
        <main class="framed">
          <ul class="cards">
            <Card {...card} growth={undefined} heading="h1" />
          </ul>
          <p>
            <a href={href('/')}>{name}</a>
          </p>
        </main>
      </body>
    </html>
  );
}

/** Returns the address of the picture of a bot in one of its languages, another one for each content of it. */
export function formatShareCardAddress(
  parts: Pick<SiteParts, 'site' | 'counts'>,
  bot: BotListElement,
  locale: Locale,
): string {
  const version = toShareCardVersion(describeShareCard(parts, bot, locale));
  return `${parts.site.baseUrl}/bots/${bot.id}/card.png?locale=${locale}&v=${version}`;
}

/** A preview is not blurred, so a bot for adults is without its avatar. */
function describeShareCard(
  { site: { languages, settings }, counts }: Pick<SiteParts, 'site' | 'counts'>,
  bot: BotListElement,
  locale: Locale,
): NamedShareCard {
  const { text, categoryName } = languages.choose(locale, '');
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const count = counts.count(bot.id as BotId);
  const facts = [
    categoryName(bot.category),
    count !== undefined && text('bot.shortServers', { count }),
    bot.nsfw && text('bot.adult'),
  ];
  return {
    site: settings.name,
    name: withoutBidiControls(name),
    description: withoutBidiControls(description),
    facts: facts.filter(Boolean).join(' · '),
    isRightToLeft: directionOf(locale) === 'rtl',
    accent: settings.accent.light ?? defaultAccent,
    avatar: bot.nsfw ? null : bot.cachedImages.avatar,
  };
}

/** Code to copy into other sites, which shows the bot's badge or card there. */
export function ShareCodes({ site, bot, locale, name, shareCard }: ShownBotProps): VNode {
  const { t } = useLanguage();
  const page = toPathInLanguage(`${site.baseUrl}/bots/${bot.id}`, locale, findDefaultLocale(bot));
  const badge = site.baseUrl + toBadgePath(bot.id);
  const card = `${site.baseUrl}/bots/${bot.id}/card`;
  const title = escapeXml(name);
  const linkImage = (image: string): string => `[![${name.replace(/[[\]\\]/g, '\\$&')}](${image})](${page})`;
  const codes = {
    badge: {
      Markdown: linkImage(badge),
      HTML: `<a href="${page}"><img src="${badge}" alt="${title}" height="20"></a>`,
    },
    embed: {
      ...(shareCard !== undefined && { Markdown: linkImage(`${card}.png?locale=${locale}`) }),
      HTML: `<iframe src="${card}?locale=${locale}" title="${title}" width="360" height="230" frameborder="0" loading="lazy"></iframe>`,
    },
  };
  return (
    <>
      {(['badge', 'embed'] as const).map((kind) => (
        <details key={kind} class="share">
          <summary>{t(`bot.${kind}`)}</summary>
          {Object.entries(codes[kind]).map(([form, code]) => (
            <>
              <label for={`${kind}-${form}`}>{form}</label>
              <div class="copy">
                <input id={`${kind}-${form}`} class="token" dir="ltr" readOnly value={code} />
                <CopyButton of={`${kind}-${form}`} />
              </div>
            </>
          ))}
        </details>
      ))}
      <p class="muted" role="status" id="copied" />
    </>
  );
}
