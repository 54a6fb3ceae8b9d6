import { hash } from 'node:crypto';
import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { formatIsoTime, msPerDay } from '../../bot/clock.ts';
import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { maskTokens } from '../../bot/token.ts';
import { type BotChange, readBotChanges, ensureComplete } from '../../catalogue/changes/bot-changes.ts';
import { type AuthorIndex, findKnownAuthor } from '../../catalogue/lists/authors.ts';
import type { FilterValues } from '../../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement, findKnownBot } from '../../catalogue/store/bot-index.ts';
import { createDocument, send, type WholeDocument } from '../../http/representation.ts';
import { parseQuery, readIds, refuseIds } from '../../http/request.ts';
import type { ReadWatched, WatchedBot, WatchWarning } from '../bot/watched-bots.ts';
import { formatFieldName, toShownPages } from '../changes/changed-fields.tsx';
import { toMessage } from '../changes/trust.tsx';
import { findCollection, findListedBots, showCollection } from '../front/collections.tsx';
import { parseCategory, sorts } from '../front/front-query.ts';
import type { PageLanguage } from '../language/languages.ts';
import {
  toAttentionPath,
  toAuthorPath,
  toChangesPath,
  toFeedPath,
  toCollectionPath,
  toPathInLanguage,
  toWatchPath,
  watchFeedPath,
  sitePaths,
} from '../page/addresses.ts';
import { listNamedAuthors, nameAccount } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { type ListOwn, type OwnItem, toMessageValues } from './attention.ts';
import { formatElement, formatTextElement, type Xml, formatXmlDocument } from './xml.ts';
import type { PageParts } from '../page/page-context.tsx';

export interface FeedsOptions extends PageParts {
  readonly ownAttention: ListOwn;
  readonly readWatched: ReadWatched;
}

/**
 * Adds the feeds: new bots, a category, an author, a collection, the changes of a bot, watched bots. Titles are in a
 * language of the interface, bots in their own. Each feed is created when it is first requested and cached for some seconds.
 */
export function addFeedRoutes(router: Router, options: FeedsOptions): void {
  const { authors, bots, cache, changes, collections, lists, site } = options;
  const sendFeed = async (
    ctx: Context,
    { title, ...paths }: FeedText,
    make: (common: CommonOptions) => Promise<WholeDocument>,
  ): Promise<void> => {
    const messages = site.languages.inAddress(ctx);
    const { locale } = messages;
    const key = `feed ${paths.path} ${locale}`;
    const inputs = [() => site.settings];
    const makeCommon = async (): Promise<WholeDocument> => {
      const { name, language } = site.settings;
      const path = toPathInLanguage(paths.path, locale, language);
      const page = toPathInLanguage(paths.page, locale, language);
      return await make({ title, path, page, name, messages, baseUrl: site.baseUrl });
    };
    await send(ctx, await cache.get(key, makeCommon, { inputs }));
  };
  const sendNewest = async (ctx: Context, text: FeedText, filters: FilterValues): Promise<void> =>
    await sendFeed(ctx, text, async (common) => {
      const query = { ...filters, sort: sorts.newest, after: 0, limit: maxEntries };
      return makeFeed({ ...common, authors, bots: (await lists.page(query, ctx.ip)).bots });
    });
  router.get(sitePaths.newBots, async (ctx) => {
    const title = site.languages.inAddress(ctx).text('feed.newBots');
    await sendNewest(ctx, { title, path: sitePaths.newBots, page: '/?sort=newest' }, { nsfw: false });
  });
  router.get(toFeedPath('category', ':name'), async (ctx) => {
    const { text, categoryName } = site.languages.inAddress(ctx);
    const category = parseCategory(ctx.params['name'] ?? '', site.settings);
    const title = text('feed.newInCategory', { category: categoryName(category) });
    const paths = { path: toFeedPath('category', category), page: `/categories/${category}?sort=newest` };
    await sendNewest(ctx, { title, ...paths }, { nsfw: false, category: [category] });
  });
  router.get(toFeedPath('author', ':id'), async (ctx) => {
    const { id: author } = await findKnownAuthor(authors, ctx.params['id'] ?? '');
    const name = nameAccount(authors, author);
    const title = site.languages.inAddress(ctx).text('feed.byAuthor', { author: name });
    const paths = { path: toFeedPath('author', author), page: toAuthorPath(author) };
    await sendNewest(ctx, { title, ...paths }, { author });
  });
  router.get(toAttentionPath(':id'), async (ctx) => {
    const author = await findKnownAuthor(authors, ctx.params['id'] ?? '');
    const name = nameAccount(authors, author.id);
    const title = site.languages.inAddress(ctx).text('feed.attention', { author: name });
    const text = { title, path: toAttentionPath(author.id), page: toAuthorPath(author.id) };
    ctx.set('X-Robots-Tag', 'noindex');
    await sendFeed(ctx, text, async (common) => {
      const items = (await options.ownAttention(author.bots))
        .toSorted((a, b) => Number(b.values['since']) - Number(a.values['since']))
        .slice(0, maxEntries);
      const updated = Math.max(author.since ?? 0, ...items.map(({ values }) => Number(values['since'])));
      const entries = items.map((item) => formatAttention(item, common));
      return formatFeed(common, updated, entries);
    });
  });
  router.get(toFeedPath('collection', ':name'), async (ctx) => {
    const collection = findCollection(collections, ctx.params['name'] ?? '');
    const { title, name } = showCollection(collection, [site.languages.inAddress(ctx).locale]);
    const text = { title, path: toFeedPath('collection', name), page: toCollectionPath(name) };
    await sendFeed(ctx, text, async (common) => {
      const newest = findListedBots(collection, bots).toSorted((a, b) => b.facts.created - a.facts.created);
      return makeFeed({ ...common, authors, bots: newest });
    });
  });
  router.get(watchFeedPath, async (ctx) => {
    const ids = readIds(parseQuery(ctx)) ?? refuseIds('it is not there: send the ids of bots');
    ensureComplete(changes);
    const title = site.languages.inAddress(ctx).text('watch.feed');
    const text = { title, path: toWatchPath(ids, watchFeedPath), page: toWatchPath(ids) };
    ctx.set('X-Robots-Tag', 'noindex');
    await sendFeed(ctx, text, async (common) => {
      const read = await options.readWatched(ids, ctx.ip);
      const entries = read
        .flatMap((bot) => bot.warnings.map((warning) => ({ bot, warning })))
        .toSorted((a, b) => b.warning.time - a.warning.time)
        .slice(0, maxEntries);
      const formatted = entries.map((entry) => formatWatched(entry, common));
      return formatFeed(common, entries[0]?.warning.time ?? 0, formatted);
    });
  });
  router.get(toFeedPath('bot', ':id'), async (ctx) => {
    const bot = findKnownBot(bots, ctx.params['id'] ?? '');
    const { id, facts } = bot;
    ensureComplete(changes);
    const title = site.languages.inAddress(ctx).text('changes.of', { name: withoutBidiControls(facts.name) });
    const text = { title, path: toFeedPath('bot', id), page: toChangesPath(id) };
    await sendFeed(ctx, text, async (common) => {
      const read = (await readBotChanges(changes, id)).changes;
      const entries = read.map((change) => formatChange(change, bot, { ...common, authors }));
      return formatFeed(common, read[0]?.time ?? facts.created, entries);
    });
  });
}

const maxEntries = 50;

export interface FeedOptions {
  readonly title: string;
  /** The path of the feed. */
  readonly path: string;
  /** The path of the page with the same bots. */
  readonly page: string;
  /** The name of the site. */
  readonly name: string;
  readonly authors: AuthorIndex;
  /** Newest first. */
  readonly bots: readonly IndexedBot[];
  /** The public address, without a final slash. */
  readonly baseUrl: string;
  readonly messages: PageLanguage;
}

type FeedText = Pick<FeedOptions, 'title' | 'path' | 'page'>;
type CommonOptions = Omit<FeedOptions, 'authors' | 'bots'>;

/** Creates an Atom feed (RFC 4287) with an entry for each bot, in the bot's default language. */
export function makeFeed({ bots, ...options }: FeedOptions): WholeDocument {
  const updated = bots.reduce((latest, { facts }) => Math.max(latest, facts.edited), 0);
  const entries = bots.map((bot) => formatBot(bot, options));
  return formatFeed(options, updated, entries);
}

/**
 * Formats an Atom feed. No `id` depends on the public address or the name of the list, because readers would show all
 * entries as new after a change.
 * @param updated milliseconds since the epoch
 */
function formatFeed(
  { name, title, path, page, baseUrl, messages }: CommonOptions,
  updated: number,
  entries: readonly Xml[],
): WholeDocument {
  const self = `${baseUrl}${path}`;
  const root = formatElement(
    'feed',
    { xmlns: 'http://www.w3.org/2005/Atom', 'xml:lang': messages.locale },
    formatTextElement('id', `urn:botshelf:feed:${path}`),
    formatTextElement('title', `${title} · ${name}`),
    formatTextElement('updated', formatIsoTime(updated)),
    formatPerson(name, `${baseUrl}/`),
    formatTextElement('icon', `${baseUrl}/favicon.ico`),
    formatElement('link', { rel: 'self', type: feedType, href: self }),
    formatElement('link', { rel: 'alternate', type: 'text/html', href: `${baseUrl}${page}` }),
    ...entries,
  );
  return createDocument(`${feedType}; charset=utf-8`, formatXmlDocument(root));
}

const feedType = 'application/atom+xml';

function formatBot(indexed: IndexedBot, { authors, baseUrl, messages }: Omit<FeedOptions, 'bots'>): Xml {
  const bot = parseListElement(indexed);
  const locale = findDefaultLocale(bot);
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  const address = `${baseUrl}/bots/${indexed.id}`;
  const named = listNamedAuthors(authors, bot.authors).map((author) =>
    formatPerson(author.name, baseUrl + author.path),
  );
  const all = formatPerson(messages.text('bot.authors', { count: bot.authors.length }));
  return formatEntry(
    // Another list has another time of creation.
    { id: `bot:${indexed.id}:${bot.created}`, title: name, time: bot.edited, address, locale },
    formatTextElement('summary', withoutBidiControls(description)),
    ...(named.length < bot.authors.length ? [...named, all] : named),
    formatTextElement('published', formatIsoTime(bot.created)),
    formatElement('category', { term: bot.category, label: messages.categoryName(bot.category) }),
  );
}

/** Creates an entry whose title names the change; the summary has the details. */
function formatChange(
  change: BotChange,
  { id, facts }: IndexedBot,
  { baseUrl, page, messages, authors }: CommonOptions & Pick<FeedOptions, 'authors'>,
): Xml {
  const { commit, time, pages, hasOtherCommands, invite, isNewBot, by } = change;
  const { text, languageName, categoryName } = messages;
  const address = `${baseUrl}${page}#${commit}`;
  const changed = pages.flatMap(({ locale, state, fields }) =>
    state === 'edited'
      ? fields.map(({ name }) => formatFieldName(name, text))
      : `${languageName(locale)}: ${text(`changes.${state}`)}`,
  );
  if (hasOtherCommands) changed.push(text('bot.commands'));
  if (invite.isOtherBot) changed.unshift(text('review.otherBot'));
  if (invite.added.administrator) changed.unshift(text('permissions.fullControl'));
  const title = isNewBot ? text('changes.listed') : [...new Set(changed)].join(', ');
  const summary = toShownPages(pages).flatMap(({ locale, fields }) =>
    fields.map(({ name, ...values }) => {
      const [before, after] = [values.before, values.after].map((value) =>
        name === 'category' ? categoryName(value) : value.slice(0, maxValueLength),
      );
      const value = before || after ? `${before} → ${after}` : text('changes.edited');
      return `${pages.length > 1 ? `${languageName(locale)}, ` : ''}${formatFieldName(name, text)}: ${value.trim()}`;
    }),
  );
  if (hasOtherCommands) summary.push(`${text('bot.commands')}: ${text('changes.edited')}`);
  const author =
    by.kind === 'person'
      ? by.name
      : by.kind === 'api'
        ? text('changes.api')
        : nameAccount(authors, by.account);
  return formatEntry(
    { id: `change:${commit}:${id}`, title: `${facts.name}: ${title}`, time, address },
    ...(summary.length > 0 ? [formatTextElement('summary', summary.join('\n'))] : []),
    formatPerson(withoutBidiControls(author)),
  );
}

/** Maximum number of characters of a value in a summary. */
const maxValueLength = 200;

/** Creates an entry whose title names the problem; the summary says what to do. */
function formatAttention(item: OwnItem, { baseUrl, messages }: CommonOptions): Xml {
  const { kind, bot, name, fixPath, values } = item;
  const { key = '', url = '', path = '', message = '', since } = values;
  const text = messages.text(`attention.${kind}.text`, { url, ...toMessageValues(item, messages) });
  const summary = `${message} ${messages.text(`attention.${kind}.advice`)}`.trim();
  // A problem that returns later gets another id. A restart may change the time by an hour.
  const week = Math.floor(Number(since) / msPerWeek);
  const subject = hash('sha1', `${key} ${url}${path} ${week}`);
  return formatEntry(
    {
      id: `attention:${bot}:${kind}:${subject}`,
      title: `${name}: ${text}`,
      time: Number(since),
      address: baseUrl + (fixPath ?? `/bots/${bot}`),
    },
    formatTextElement('summary', maskTokens(withoutBidiControls(summary))),
  );
}

const msPerWeek = 7 * msPerDay;

type WatchEntry = { readonly bot: WatchedBot; readonly warning: WatchWarning };

function formatWatched({ bot, warning }: WatchEntry, { baseUrl, messages }: CommonOptions): Xml {
  const { id, name } = bot;
  const { commit, time } = warning;
  const path = commit === undefined ? `/bots/${id}` : `${toChangesPath(id)}#${commit}`;
  const title = `${name}: ${messages.text(...toMessage(warning, messages))}`;
  return formatEntry({ id: `watch:${id}:${warning.id}`, title, time, address: baseUrl + path });
}

interface FeedEntry {
  /** Unique in all feeds. */
  readonly id: string;
  readonly title: string;
  /** Milliseconds since the epoch. */
  readonly time: number;
  /** The address of the page that tells more. */
  readonly address: string;
  /** The language of its texts, if it is not that of the feed. */
  readonly locale?: Locale;
}

/** Creates an entry about a bot or something that happened. */
function formatEntry({ id, title, time, address, locale }: FeedEntry, ...others: readonly Xml[]): Xml {
  return formatElement(
    'entry',
    locale === undefined ? {} : { 'xml:lang': locale },
    formatTextElement('id', `urn:botshelf:${id}`),
    formatTextElement('title', maskTokens(withoutBidiControls(title))),
    ...others,
    formatTextElement('updated', formatIsoTime(time)),
    formatElement('link', { rel: 'alternate', type: 'text/html', href: address }),
  );
}

function formatPerson(name: string, uri?: string): Xml {
  const address = uri === undefined ? [] : [formatTextElement('uri', uri)];
  return formatElement('author', {}, formatTextElement('name', name), ...address);
}
