import { defaultLocale } from '../../bot/record.ts';
import { elementOf, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { isoDate } from '../page/iso-date.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import { documentOf, type WholeDocument } from '../../http/representation.ts';
import { element, textElement, type Xml, xmlDocument } from './xml.ts';

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
  const root = element(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': messages.locale },
    textElement('id', self),
    textElement('title', `${title} · ${name}`),
    textElement('updated', isoDate(updated)),
    element('author', {}, textElement('name', name), textElement('uri', `${baseUrl}/`)),
    textElement('icon', `${baseUrl}/favicon.ico`),
    element('link', { rel: 'self', type: feedType, href: self }),
    element('link', { rel: 'alternate', type: 'text/html', href: `${baseUrl}${page}` }),
    ...bots.map((bot) => entryOf(bot, baseUrl, messages)),
  );
  return documentOf(`${feedType}; charset=utf-8`, xmlDocument(root));
}

const feedType = 'application/atom+xml';

function entryOf(indexed: IndexedBot, baseUrl: string, { categoryName }: PageLanguage): Xml {
  const bot = elementOf(indexed);
  const locale = defaultLocale(bot);
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const address = `${baseUrl}/bots/${indexed.id}`;
  return element(
    'entry',
    { 'xml:lang': locale },
    textElement('id', address),
    textElement('title', withoutBidiControls(name)),
    textElement('summary', withoutBidiControls(description)),
    textElement('published', isoDate(bot.created)),
    textElement('updated', isoDate(bot.edited)),
    element('link', { rel: 'alternate', type: 'text/html', href: address }),
    element('category', { term: bot.category, label: categoryName(bot.category) }),
  );
}
