import { Readable } from 'node:stream';
import type { Category } from '../../../schemas/types.ts';
import { formatIsoTime } from '../../bot/clock.ts';
import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { compressPieces, createDocument, type WholeDocument } from '../../http/representation.ts';
import type { Current } from '../../lib/current-cache.ts';
import { escapeXml } from '../../lib/text.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type CollectionParts, type LinkedCollection, listLinkedCollections } from '../front/collections.tsx';
import {
  categoriesPath,
  collectionsPath,
  type LanguageAddress,
  listLanguages,
  toAuthorPath,
  listPageLanguages,
  toCollectionPath,
  toPathInLanguage,
  withLocale,
} from '../page/addresses.ts';
import { formatElement, formatTextElement, type Xml, xmlDeclaration, formatXmlDocument } from './xml.ts';
import type { PageParts } from '../page/page-context.tsx';

/** The addresses of all pages, for search engines. */
export interface Sitemap {
  /** All addresses or, if they do not fit in one file, the addresses of the parts. */
  readonly main: WholeDocument;
  /** Compressed with gzip; empty if the main file has all addresses. */
  readonly parts: readonly WholeDocument[];
}

export interface SitemapOptions extends CollectionParts, Pick<PageParts, 'cache'> {
  /** The public address, without a final slash. */
  readonly baseUrl: string;
  /** The languages of the interface; none by default. */
  readonly locales?: readonly Locale[];
  /** The limit of a file before compression. The protocol allows more, but a larger file would delay requests. */
  readonly maxFileBytes?: number;
}

/** Returns the sitemap, which is created when it is first requested and cached for a while. */
export async function readSitemap(options: SitemapOptions): Promise<Sitemap & Current> {
  return await options.cache.get('sitemap', async () => await makeSitemap(options), { sizeOf: computeSize });
}

function computeSize({ main, parts }: Sitemap): number {
  return [main, ...parts].reduce((sum, { body }) => sum + body.length, 0);
}

async function makeSitemap(options: SitemapOptions): Promise<Sitemap> {
  const { bots, baseUrl, locales = [], maxFileBytes = 1024 * 1024 } = options;
  const collections = listLinkedCollections(options);
  const entries = generateEntries(await bots.sorted(), collections, escapeXml(baseUrl), locales);
  let file = Buffer.alloc(0);
  const parts: WholeDocument[] = [];
  const index: Xml[] = [];
  for await (const { xml, edited } of joinEntries(entries, maxFileBytes - head.length - tail.length)) {
    file = Buffer.from(head + xml + tail);
    parts.push(createDocument('application/gzip', await compressPieces(Readable.from([file]), 'gzip')));
    const address = formatTextElement('loc', `${baseUrl}/sitemaps/${parts.length}.xml.gz`);
    const lastmod = edited === 0 ? '' : formatTextElement('lastmod', formatIsoTime(edited));
    index.push(formatElement('sitemap', {}, address, lastmod));
  }
  if (parts.length === 1) return { main: createDocument(xmlType, file), parts: [] };
  const root = formatElement('sitemapindex', { xmlns: sitemapNamespace }, ...index);
  return { main: createDocument(xmlType, formatXmlDocument(root)), parts };
}

/** Joins entries up to this length, in slices of time. A longer entry stays alone. */
async function* joinEntries(
  entries: Iterable<SitemapEntry>,
  maxLength: number,
): AsyncGenerator<SitemapEntry> {
  const slice = new TimeSlice();
  let joined: SitemapEntry = { xml: '', edited: 0 };
  for (const entry of entries) {
    if (slice.isOver) await slice.next();
    const { xml, edited } = joined;
    const fits = xml.length + entry.xml.length <= maxLength;
    if (!fits && xml !== '') yield joined;
    joined = fits ? { xml: xml + entry.xml, edited: Math.max(edited, entry.edited) } : entry;
  }
  yield joined;
}

/** The address of a page, or those of several. */
interface SitemapEntry {
  readonly xml: Xml;
  /** When a page was last edited; 0 if unknown. */
  readonly edited: number;
}

/**
 * Yields an entry for each address of the site. Ids, locales, and names of categories and collections have
 * no characters that XML escapes; escaping each of them would double the work.
 * @param base the public address, escaped
 */
function* generateEntries(
  bots: readonly IndexedBot[],
  collections: readonly LinkedCollection[],
  base: Xml,
  locales: readonly Locale[],
): Generator<SitemapEntry> {
  const page = (path: string, links: Xml = '', edited = 0): SitemapEntry => {
    const lastmod = edited === 0 ? '' : formatTextElement('lastmod', formatIsoTime(edited));
    return { xml: `<url><loc>${base}${path}</loc>${lastmod}${links}</url>\n`, edited };
  };
  const list = (path: string): SitemapEntry =>
    page(path, formatLinks(listLanguages(locales, (locale) => base + withLocale(path, locale))));
  /** Each language has its own address, and each address lists all of them. */
  const inLanguages = (path: string, own: readonly Locale[], edited?: number): SitemapEntry[] => {
    const links = formatLinks(listPageLanguages(base + path, own));
    return own.map((locale) => page(toPathInLanguage(path, locale, own[0] ?? locale), links, edited));
  };
  yield list('/');
  yield page('/add');
  yield page('/docs');
  const categories = new Set<Category>();
  const authors = new Set<string>();
  for (const bot of bots) {
    categories.add(bot.facts.category);
    for (const author of bot.facts.authors) authors.add(author);
    yield* inLanguages(`/bots/${bot.id}`, bot.facts.locales, bot.facts.edited);
  }
  if (categories.size > 0) yield list(categoriesPath);
  yield* [...categories].toSorted().map((name) => list(`/categories/${name}`));
  if (collections.length > 0) yield list(collectionsPath);
  for (const { collection } of collections)
    yield* inLanguages(toCollectionPath(collection.name), [...collection.contents.keys()]);
  for (const author of authors) yield page(toAuthorPath(author));
}

function formatLinks(languages: readonly LanguageAddress[]): Xml {
  return languages
    .map(({ language, address }) => `<xhtml:link rel="alternate" hreflang="${language}" href="${address}"/>`)
    .join('');
}

const sitemapNamespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const head = `${xmlDeclaration}<urlset xmlns="${sitemapNamespace}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
const tail = '</urlset>\n';
const xmlType = 'application/xml; charset=utf-8';
