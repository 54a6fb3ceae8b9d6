import { findDefaultLocale } from '../../bot/record.ts';
import { parseListElement, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { formatIsoDate } from '../page/iso-date.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import { createDocument, type WholeDocument } from '../../http/representation.ts';
import { formatElement, formatTextElement, type Xml, formatXmlDocument } from './xml.ts';

export interface FeedOptions {
  /** What the site is called. */
  readonly name: string;
  readonly title: string;
  /** The path of the feed itself. */
  readonly path: string;
  /** The path of the page with the same bots. */
  readonly page: string;
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
