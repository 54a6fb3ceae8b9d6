import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { findDefaultLocale } from '../../bot/record.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import type { FilterValues } from '../../catalogue/lists/filters.ts';
import { CurrentCache } from '../../lib/current-cache.ts';
import { ProblemError } from '../../http/problem.ts';
import { createDocument, send, type WholeDocument } from '../../http/representation.ts';
import { parseCategory } from '../front/front-query.ts';
import { toCategoryFeed, toPathInLanguage, sitePaths } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { formatIsoDate } from '../page/iso-date.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { Site } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { formatElement, formatTextElement, type Xml, formatXmlDocument } from './xml.ts';

export interface FeedsOptions extends Pick<SiteParts, 'bots' | 'lists'> {
  readonly site: Pick<Site, 'baseUrl' | 'languages' | 'settings'>;
}

/**
 * Adds the feeds of new bots, of a category and of an author: titles in a language of the interface, bots in their own.
 * Each is made when it is first requested and kept while it is current.
 */
export function addFeedRoutes(router: Router, { bots, lists, site }: FeedsOptions): void {
  const kept = new CurrentCache<WholeDocument>(8 * 1024 * 1024, ({ body }) => body.length, minRebuildRatio);
  const inputs = [() => bots.version, () => site.settings];
  const sendFeed = async (
    ctx: Context,
    text: Pick<FeedOptions, 'title' | 'path' | 'page'>,
    filters: FilterValues,
  ): Promise<void> => {
    const messages = site.languages.inAddress(ctx);
    const { locale } = messages;
    const feed = await kept.get(`${text.path} ${locale}`, inputs, async () => {
      const { name, language } = site.settings;
      const sort = { key: 'created', descending: true } as const;
      const newest = await lists.select({ ...filters, sort, limit: maxEntries });
      if (filters.author !== undefined && newest.total === 0)
        throw new ProblemError(
          'not-found',
          `there is no bot by ${JSON.stringify(filters.author.slice(0, 60))}`,
        );
      const path = toPathInLanguage(text.path, locale, language);
      const page = toPathInLanguage(text.page, locale, language);
      return makeFeed({ ...text, path, page, name, messages, bots: newest.bots, baseUrl: site.baseUrl });
    });
    await send(ctx, feed);
  };
  router.get(sitePaths.newBots, async (ctx) => {
    const title = site.languages.inAddress(ctx).text('feed.newBots');
    await sendFeed(ctx, { title, path: sitePaths.newBots, page: '/?sort=newest' }, { nsfw: false });
  });
  router.get('/feeds/category/:name.atom', async (ctx) => {
    const { text, categoryName } = site.languages.inAddress(ctx);
    const category = parseCategory(ctx.params['name'] ?? '', site.settings);
    const title = text('feed.newInCategory', { category: categoryName(category) });
    const page = `/categories/${category}?sort=newest`;
    const filters = { nsfw: false, category: [category] };
    await sendFeed(ctx, { title, path: toCategoryFeed(category), page }, filters);
  });
  router.get('/feeds/author/:id.atom', async (ctx) => {
    const author = ctx.params['id'] ?? '';
    const title = site.languages.inAddress(ctx).text('feed.byAuthor', { author });
    await sendFeed(ctx, { title, path: `/feeds/author/${author}.atom`, page: '/' }, { author });
  });
}

const maxEntries = 50;

/** The time between rebuilds is at least this many times the build time. */
const minRebuildRatio = 20;

export interface FeedOptions {
  readonly title: string;
  /** The path of the feed itself. */
  readonly path: string;
  /** The path of the page with the same bots. */
  readonly page: string;
  /** What the site is called. */
  readonly name: string;
  /** Newest first. */
  readonly bots: readonly IndexedBot[];
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  readonly messages: PageLanguage;
}

/** Makes an Atom feed (RFC 4287) with an entry for each bot, in the bot's default language. */
export function makeFeed({ name, title, path, page, bots, baseUrl, messages }: FeedOptions): WholeDocument {
  const self = `${baseUrl}${path}`;
  const updated = bots.reduce((latest, { facts }) => Math.max(latest, facts.edited), 0);
  const root = formatElement(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': messages.locale },
    formatTextElement('id', self),
    formatTextElement('title', `${title} · ${name}`),
    formatTextElement('updated', formatIsoDate(updated)),
    formatElement('author', {}, formatTextElement('name', name), formatTextElement('uri', `${baseUrl}/`)),
    formatTextElement('icon', `${baseUrl}/favicon.ico`),
    formatElement('link', { rel: 'self', type: feedType, href: self }),
    formatElement('link', { rel: 'alternate', type: 'text/html', href: `${baseUrl}${page}` }),
    ...bots.map((bot) => formatEntry(bot, baseUrl, messages)),
  );
  return createDocument(`${feedType}; charset=utf-8`, formatXmlDocument(root));
}

const feedType = 'application/atom+xml';

function formatEntry(indexed: IndexedBot, baseUrl: string, { categoryName }: PageLanguage): Xml {
  const bot = parseListElement(indexed);
  const locale = findDefaultLocale(bot);
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const address = `${baseUrl}/bots/${indexed.id}`;
  return formatElement(
    'entry',
    { 'xml:lang': locale },
    formatTextElement('id', address),
    formatTextElement('title', withoutBidiControls(name)),
    formatTextElement('summary', withoutBidiControls(description)),
    formatTextElement('published', formatIsoDate(bot.created)),
    formatTextElement('updated', formatIsoDate(bot.edited)),
    formatElement('link', { rel: 'alternate', type: 'text/html', href: address }),
    formatElement('category', { term: bot.category, label: categoryName(bot.category) }),
  );
}
