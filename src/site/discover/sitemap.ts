import { createHash } from 'node:crypto';
import type { Locale } from '../../bot/locale.ts';
import type { Category } from '../../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { type Current, CurrentCache } from '../../lib/current-cache.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { compressPieces } from '../../http/compression.ts';
import {
  formatBotAddress,
  listBotLanguages,
  type LanguageAddress,
  listPageLanguages,
} from '../page/addresses.ts';
import { formatIsoDate } from '../page/iso-date.ts';
import { createDocument, type Document, type WholeDocument } from '../../http/representation.ts';
import {
  formatElement,
  formatTextElement,
  type Xml,
  xmlDeclaration,
  formatXmlDocument,
  escapeXml,
} from './xml.ts';

/** Every address of the site, for search engines. */
export interface Sitemap {
  /** All addresses, or where there are too many for one file, the addresses of the parts. */
  readonly main: Document;
  /** Compressed with gzip; empty where the main file has all addresses. */
  readonly parts: readonly WholeDocument[];
  /** Bytes. */
  readonly size: number;
}

/** What the protocol allows in one file. */
export interface SitemapLimits {
  readonly addresses: number;
  readonly bytes: number;
}

export interface SitemapOptions {
  readonly bots: BotIndex;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** The languages of the interface: none where left out. */
  readonly locales?: readonly Locale[];
  readonly limits?: SitemapLimits;
}

/** The sitemap, made when it is first requested and kept until the catalogue changes. */
export class SitemapCache {
  readonly #options: Required<SitemapOptions>;
  readonly #kept = new CurrentCache<Sitemap>(256 * 1024 * 1024, ({ size }) => size, minRebuildRatio);

  constructor(options: SitemapOptions) {
    this.#options = { locales: [], limits: { addresses: 50_000, bytes: 50 * 1024 * 1024 }, ...options };
  }

  async get(): Promise<Sitemap & Current> {
    const { bots } = this.#options;
    return await this.#kept.get(
      '',
      [() => bots.version],
      async () => await makeSitemap(await bots.sorted(), this.#options),
    );
  }
}

/** The time between rebuilds is at least this many times the build time. */
const minRebuildRatio = 20;

/** A part before it is compressed. */
interface Part {
  readonly pieces: readonly Buffer[];
  /** When a page of this part was last edited; 0 where that is not known. */
  readonly edited: number;
  /** Bytes. */
  readonly size: number;
}

async function makeSitemap(bots: readonly IndexedBot[], options: Required<SitemapOptions>): Promise<Sitemap> {
  const { baseUrl } = options;
  const parts: WholeDocument[] = [];
  const entries: Xml[] = [];
  const add = async ({ pieces, edited }: Part): Promise<void> => {
    const body = await compressPieces(streamPieces(pieces), 'gzip');
    parts.push(createDocument('application/gzip', body));
    const address = formatTextElement('loc', `${baseUrl}/sitemaps/${parts.length}.xml.gz`);
    const lastmod = edited === 0 ? '' : formatTextElement('lastmod', formatIsoDate(edited));
    entries.push(formatElement('sitemap', {}, address, lastmod));
  };
  let last = noPart;
  for await (const part of generateParts(bots, options)) {
    if (last !== noPart) await add(last);
    last = part;
  }
  if (parts.length === 0) return { main: await joinPieces(last), parts, size: last.size };
  await add(last);
  const index = formatXmlDocument(formatElement('sitemapindex', { xmlns: sitemapNamespace }, ...entries));
  const size = parts.reduce((sum, { body }) => sum + body.length, index.length);
  return { main: createDocument(xmlType, index), parts, size };
}

/** The response cache keeps a body in one piece only; making one of a large body would delay every request. */
async function joinPieces({ pieces, size }: Part): Promise<Document> {
  if (size < largePart) return createDocument(xmlType, Buffer.concat(pieces));
  const sha1 = createHash('sha1');
  await forEachInSlices(pieces, (piece) => void sha1.update(piece));
  return {
    type: xmlType,
    body: { bytes: size, read: () => streamPieces(pieces) },
    digest: sha1.digest('base64url'),
  };
}

async function* streamPieces(pieces: readonly Buffer[]): AsyncGenerator<Buffer> {
  yield* pieces;
}

/** Bytes. */
const largePart = 1024 * 1024;

/** Yields the parts of the sitemap, uncompressed, made one slice of time after the other. */
async function* generateParts(
  bots: readonly IndexedBot[],
  { baseUrl, locales, limits }: Required<SitemapOptions>,
): AsyncGenerator<Part> {
  const slice = new TimeSlice();
  let part = new PartWriter();
  for (const entry of generateEntries(bots, baseUrl, locales)) {
    if (slice.isOver) await slice.next();
    if (!part.hasRoom(entry, limits)) {
      yield part.end();
      part = new PartWriter();
    }
    part.add(entry);
  }
  yield part.end();
}

/** The addresses of one thing. */
interface SitemapEntry {
  readonly xml: Xml;
  readonly addresses: number;
  readonly edited: number;
}

/**
 * Yields an entry for each page of the site and each bot. Ids, locales and names of categories have no character that XML
 * escapes, and testing each of them would double the work.
 */
function* generateEntries(
  bots: readonly IndexedBot[],
  baseUrl: string,
  locales: readonly Locale[],
): Generator<SitemapEntry> {
  const base = escapeXml(baseUrl);
  const page = (path: string): SitemapEntry => {
    return { xml: formatAddressElement(`${base}${path}`, ''), addresses: 1, edited: 0 };
  };
  const list = (path: string): SitemapEntry => {
    const languages = listPageLanguages(base, path, locales).map(formatAlternateLink).join('');
    return { xml: formatAddressElement(`${base}${path}`, languages), addresses: 1, edited: 0 };
  };
  yield list('/');
  yield* ['/add', '/docs'].map(page);
  const categories = new Set<Category>();
  for (const bot of bots) {
    categories.add(bot.facts.category);
    yield createSitemapEntry(bot, base);
  }
  yield* [...categories].toSorted().map((name) => list(`/categories/${name}`));
}

function formatAlternateLink({ language, address }: LanguageAddress): Xml {
  return `<xhtml:link rel="alternate" hreflang="${language}" href="${address}"/>`;
}

/** Each language has an address, and every one of them names all. */
function createSitemapEntry({ id, facts: { locales, edited } }: IndexedBot, base: Xml): SitemapEntry {
  const others = listBotLanguages(base, id, locales).map(formatAlternateLink);
  const rest = `<lastmod>${formatIsoDate(edited)}</lastmod>${others.join('')}`;
  const [first] = locales;
  const xml = locales.map((locale) =>
    formatAddressElement(formatBotAddress(base, id, locale, first ?? locale), rest),
  );
  return { xml: xml.join(''), addresses: locales.length, edited };
}

function formatAddressElement(address: Xml, rest: Xml): Xml {
  return `<url><loc>${address}</loc>${rest}</url>\n`;
}

/** Writes one part, as pieces of a good size. */
class PartWriter {
  #addresses = 0;
  #edited = 0;
  #size = head.length + tail.length;
  #text = head;
  readonly #pieces: Buffer[] = [];

  hasRoom({ addresses, xml }: SitemapEntry, limits: SitemapLimits): boolean {
    return (
      this.#addresses === 0 ||
      (this.#addresses + addresses <= limits.addresses && this.#size + xml.length <= limits.bytes)
    );
  }

  add({ addresses, xml, edited }: SitemapEntry): void {
    this.#addresses += addresses;
    this.#edited = Math.max(this.#edited, edited);
    this.#size += xml.length;
    this.#text += xml;
    if (this.#text.length > pieceSize) this.#flush();
  }

  end(): Part {
    this.#text += tail;
    this.#flush();
    return { pieces: this.#pieces, edited: this.#edited, size: this.#size };
  }

  #flush(): void {
    const piece = Buffer.from(this.#text);
    this.#pieces.push(piece);
    this.#text = '';
  }
}

const sitemapNamespace = 'http://www.sitemaps.org/schemas/sitemap/0.9';
const head = `${xmlDeclaration}<urlset xmlns="${sitemapNamespace}" xmlns:xhtml="http://www.w3.org/1999/xhtml">\n`;
const tail = '</urlset>\n';
const pieceSize = 64 * 1024;
const xmlType = 'application/xml; charset=utf-8';
const noPart: Part = { pieces: [], edited: 0, size: 0 };
