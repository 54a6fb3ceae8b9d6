import { createHash } from 'node:crypto';
import type { Category } from '../../../schemas/types.ts';
import { formatIsoTime } from '../../bot/clock.ts';
import type { Locale } from '../../bot/locale.ts';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import {
  type Body,
  compressPieces,
  createDocument,
  type Document,
  type WholeDocument,
} from '../../http/representation.ts';
import type { Current } from '../../lib/current-cache.ts';
import { escapeXml } from '../../lib/text.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { type CollectionParts, type LinkedCollection, listLinkedCollections } from '../front/collections.ts';
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
  /** All addresses or, if there are too many for one file, the addresses of the parts. */
  readonly main: Document;
  /** Compressed with gzip; empty if the main file has all addresses. */
  readonly parts: readonly WholeDocument[];
}

/** The limits of the protocol for one file. */
export interface SitemapLimits {
  readonly addresses: number;
  readonly bytes: number;
}

export interface SitemapOptions extends CollectionParts, Pick<PageParts, 'cache'> {
  /** The public address, without a final slash. */
  readonly baseUrl: string;
  /** The languages of the interface; none by default. */
  readonly locales?: readonly Locale[];
  readonly limits?: SitemapLimits;
}

/** Returns the sitemap, which is created when it is first requested and cached for a while. */
export async function readSitemap(options: SitemapOptions): Promise<Sitemap & Current> {
  const make = async (): Promise<Sitemap> => await makeSitemap(await options.bots.sorted(), options);
  return await options.cache.get('sitemap', make, { sizeOf: computeSize });
}

function computeSize({ main, parts }: Sitemap): number {
  const bodies: Body[] = [main, ...parts].map(({ body }) => body);
  return bodies.reduce((sum, body) => sum + (Buffer.isBuffer(body) ? body.length : body.bytes), 0);
}

async function makeSitemap(bots: readonly IndexedBot[], options: SitemapOptions): Promise<Sitemap> {
  const parts: WholeDocument[] = [];
  const entries: Xml[] = [];
  for await (const part of generateParts(bots, options)) {
    if (part.isLast && parts.length === 0) return { main: toDocument(part), parts };
    parts.push(createDocument('application/gzip', await compressPieces(streamPieces(part.pieces), 'gzip')));
    const address = formatTextElement('loc', `${options.baseUrl}/sitemaps/${parts.length}.xml.gz`);
    const lastmod = part.edited === 0 ? '' : formatTextElement('lastmod', formatIsoTime(part.edited));
    entries.push(formatElement('sitemap', {}, address, lastmod));
  }
  const index = formatElement('sitemapindex', { xmlns: sitemapNamespace }, ...entries);
  return { main: createDocument(xmlType, formatXmlDocument(index)), parts };
}

/** A part of the sitemap before compression. */
interface Part {
  readonly pieces: readonly Buffer[];
  readonly bytes: number;
  readonly digest: string;
  /** When a page of this part was last edited; 0 if unknown. */
  readonly edited: number;
  readonly isLast: boolean;
}

/** The response cache only keeps bodies in one piece; joining a large body would delay every request. */
function toDocument({ pieces, bytes, digest }: Part): Document {
  const isLarge = bytes >= minLargeBytes;
  const body = isLarge ? { bytes, read: () => streamPieces(pieces) } : Buffer.concat(pieces);
  return { type: xmlType, body, digest };
}

async function* streamPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

const minLargeBytes = 1024 * 1024;

/** Yields the parts of the sitemap, in slices of time. */
async function* generateParts(bots: readonly IndexedBot[], options: SitemapOptions): AsyncGenerator<Part> {
  const { baseUrl, locales = [], limits = protocolLimits } = options;
  const slice = new TimeSlice();
  const linked = listLinkedCollections(options);
  const entries = generateEntries(bots, linked, escapeXml(baseUrl), locales);
  for (let next = entries.next(); next.done !== true;) {
    let [text, bytes, addresses, edited] = [head, head.length + tail.length, 0, 0];
    const pieces: Buffer[] = [];
    const digest = createHash('sha1');
    const flush = (): void => {
      const piece = Buffer.from(text);
      pieces.push(piece);
      digest.update(piece);
      text = '';
    };
    for (; next.done !== true; next = entries.next()) {
      if (slice.isOver) await slice.next();
      const { value } = next;
      const isFull =
        addresses + value.addresses > limits.addresses || bytes + value.xml.length > limits.bytes;
      if (isFull && addresses > 0) break;
      addresses += value.addresses;
      edited = Math.max(edited, value.edited);
      bytes += value.xml.length;
      text += value.xml;
      if (text.length > minPieceLength) flush();
    }
    text += tail;
    flush();
    yield { pieces, bytes, digest: digest.digest('base64url'), edited, isLast: next.done === true };
  }
}

const protocolLimits: SitemapLimits = { addresses: 50_000, bytes: 50 * 1024 * 1024 };

/** The addresses of one page in all its languages. */
interface SitemapEntry {
  readonly xml: Xml;
  readonly addresses: number;
  readonly edited: number;
}

/**
 * Yields an entry for each page of the site and each bot. Ids, locales, and names of categories and collections have
 * no characters that XML escapes; escaping each of them would double the work.
 * @param base the public address, escaped
 */
function* generateEntries(
  bots: readonly IndexedBot[],
  collections: readonly LinkedCollection[],
  base: Xml,
  locales: readonly Locale[],
): Generator<SitemapEntry> {
  const page = (path: string, languages: readonly LanguageAddress[] = []): SitemapEntry => {
    const links = languages.map(formatAlternateLink).join('');
    return { xml: formatAddressElement(`${base}${path}`, links), addresses: 1, edited: 0 };
  };
  const list = (path: string): SitemapEntry =>
    page(
      path,
      listLanguages(locales, (locale) => base + withLocale(path, locale)),
    );
  yield list('/');
  yield page('/add');
  yield page('/docs');
  const categories = new Set<Category>();
  const authors = new Set<string>();
  for (const bot of bots) {
    categories.add(bot.facts.category);
    for (const author of bot.facts.authors) authors.add(author);
    yield createSitemapEntry(bot, base);
  }
  if (categories.size > 0) yield list(categoriesPath);
  yield* [...categories].toSorted().map((name) => list(`/categories/${name}`));
  if (collections.length > 0) yield list(collectionsPath);
  for (const { collection } of collections) {
    const path = toCollectionPath(collection.name);
    const own = [...collection.contents.keys()];
    const others = listPageLanguages(base + path, own);
    yield* own.map((locale) => page(toPathInLanguage(path, locale, collection.locale), others));
  }
  for (const author of authors) yield page(toAuthorPath(author));
}

/** Each language has its own address, and each address lists all of them. */
function createSitemapEntry({ id, facts: { locales, edited } }: IndexedBot, base: Xml): SitemapEntry {
  const main = `${base}/bots/${id}`;
  const others = listPageLanguages(main, locales).map(formatAlternateLink);
  const rest = `<lastmod>${formatIsoTime(edited)}</lastmod>${others.join('')}`;
  const [first] = locales;
  const xml = locales.map((locale) =>
    formatAddressElement(toPathInLanguage(main, locale, first ?? locale), rest),
  );
  return { xml: xml.join(''), addresses: locales.length, edited };
}

function formatAlternateLink({ language, address }: LanguageAddress): Xml {
  return `<xhtml:link rel="alternate" hreflang="${language}" href="${address}"/>`;
}

function formatAddressElement(address: Xml, rest: Xml): Xml {
  return `<url><loc>${address}</loc>${rest}</url>\n`;
}

const sitemapNamespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const head = `${xmlDeclaration}<urlset xmlns="${sitemapNamespace}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
const tail = '</urlset>\n';
const minPieceLength = 64 * 1024;
const xmlType = 'application/xml; charset=utf-8';
