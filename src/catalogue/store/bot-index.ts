import { hash } from 'node:crypto';
import type { BotListElement, BotRecord, Category } from '../../../schemas/types.ts';
import { type BotId, compareBotIds } from '../../bot/id.ts';
import { asksForAdministrator } from '../../bot/invite.ts';
import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import { forEachInSlices, sortInSlices } from '../../lib/time-slice.ts';
import { type FilePlace, folderOf, pathOf } from '../page/layout.ts';
import { normalise } from '../../lib/text.ts';

/** Searches sorted items: returns the index of the first one for which `isBefore` is false, or their number. */
export function findFirstPlace<T>(sorted: ArrayLike<T>, isBefore: (item: T) => boolean): number {
  let low = 0;
  let high = sorted.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (isBefore(sorted[middle] as T)) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** A bot as it is served: bytes ready to send, and what lists filter and sort by. */
export interface IndexedBot {
  readonly id: BotId;
  /** The record as JSON. */
  readonly record: Buffer;
  /** The offsets of the pages in the bytes of the record: start and end of each. */
  readonly pages: readonly number[];
  /** The hash of the record, 27 URL-safe characters: the same on every machine that serves the same bytes. */
  readonly digest: string;
  /** Its commands as a JSON list; null for a bot without a commands file. */
  readonly commands: Buffer | null;
  readonly facts: BotFacts;
  /** The files it was read from, in path order. */
  readonly files: readonly IndexedFile[];
}

export interface BotFacts {
  /** In the default locale. */
  readonly name: string;
  /** The name as words are compared, to sort by: É is beside E. */
  readonly sortName: string;
  readonly category: Category;
  readonly nsfw: boolean;
  readonly verified: boolean;
  /** Whether it names a repository of its source code. */
  readonly openSource: boolean;
  /** Whether its invite link asks for Administrator. */
  readonly administrator: boolean;
  readonly authors: readonly string[];
  /** The default one first. */
  readonly locales: readonly Locale[];
  readonly created: number;
  readonly edited: number;
  readonly random: number;
}

/** One file that is served, in its last valid version. */
export interface IndexedFile {
  readonly locale: FilePlace['locale'];
  readonly main: boolean;
  /** Bytes. */
  readonly size: number;
  /** The Git blob id. */
  readonly sha: string;
  /** A checksum of its last bytes. */
  readonly tail: number;
}

/** Every bot that is served. Readers see one consistent version; only the catalogue writes. */
export interface BotIndex {
  /** Grows with each change. */
  readonly version: number;
  readonly size: number;
  get(id: BotId): IndexedBot | undefined;
  /** Every bot in numeric id order. The array never changes: a later version has a new one. */
  all(): readonly IndexedBot[];
  /** Resolves with the same array. After a start, most of the sorting is done in time slices. */
  sorted(): Promise<readonly IndexedBot[]>;
}

/** Returns the paths of the files of a bot. */
export function listPaths({ id, files }: Pick<IndexedBot, 'id' | 'files'>): string[] {
  return files.map(({ locale }) => pathOf(id, locale));
}

/** Returns the record of a bot. */
export function parseRecord({ record }: Pick<IndexedBot, 'record'>): BotRecord {
  return JSON.parse(record.toString()) as BotRecord;
}

/** Returns the list element as JSON: the record without its pages, in parts that are views of its bytes. */
export function listElementParts({ record, pages }: Pick<IndexedBot, 'record' | 'pages'>): Buffer[] {
  const parts: Buffer[] = [];
  for (let i = 0; i <= pages.length; i += 2) parts.push(record.subarray(pages[i - 1] ?? 0, pages[i]));
  return parts;
}

/** Returns the list element: the record without its pages. */
export function parseListElement(bot: Pick<IndexedBot, 'record' | 'pages'>): BotListElement {
  return JSON.parse(Buffer.concat(listElementParts(bot)).toString()) as BotListElement;
}

/** Returns the number of bytes of the list element as JSON. */
export function computeElementSize({ record, pages }: Pick<IndexedBot, 'record' | 'pages'>): number {
  return pages.reduce((size, place, i) => size + (i % 2 === 0 ? place : -place), record.length);
}

/** Returns a record ready to be served. */
export function indexBot(
  id: BotId,
  record: BotRecord,
  files: readonly IndexedFile[],
  commands: Buffer | null = null,
): IndexedBot {
  const name = record.contents[findDefaultLocale(record)]?.name ?? '';
  const bytes = packText(JSON.stringify(record));
  return {
    id,
    record: bytes,
    pages: findPages(record, bytes),
    digest: hash('sha1', bytes, 'base64url'),
    commands,
    facts: {
      name,
      sortName: normalise(name),
      category: record.category,
      nsfw: record.nsfw,
      verified: record.verified,
      openSource: record.codehost.owner !== null && record.codehost.repo !== null,
      administrator: asksForAdministrator(record.invite),
      authors: record.authors,
      locales: Object.keys(record.contents) as Locale[],
      created: record.created,
      edited: record.edited,
      random: record.random,
    },
    files,
  };
}

/** Returns where the pages are in the bytes of a record, each with the comma and the key before it. */
function findPages(record: BotRecord, bytes: Buffer): number[] {
  const places: number[] = [];
  let end = 0;
  for (const { description, name, page } of Object.values(record.contents)) {
    // The texts before a page are searched for with it: another text may look like its key.
    const before = `{"description":${JSON.stringify(description)},"name":${JSON.stringify(name)}`;
    const start = bytes.indexOf(before, end) + Buffer.byteLength(before);
    end = start + Buffer.byteLength(`,"page":${JSON.stringify(page)}`);
    places.push(start, end);
  }
  return places;
}

/** Writes a text to memory that small texts share: 200,000 buffers of their own would take more memory than their content. */
function packText(text: string): Buffer {
  const length = Buffer.byteLength(text);
  if (length > slabSize / 4) return Buffer.from(text);
  if (length > slab.length - slabUsed) {
    slab = Buffer.allocUnsafeSlow(slabSize);
    slabUsed = 0;
  }
  const bytes = slab.subarray(slabUsed, slabUsed + length);
  slabUsed += bytes.write(text);
  return bytes;
}

const slabSize = 64 * 1024;
let slab = Buffer.allocUnsafeSlow(slabSize);
let slabUsed = 0;

/** The index that the catalogue writes to. */
export class MutableBotIndex implements BotIndex {
  #version = 0;
  readonly #bots = new Map<BotId, IndexedBot>();
  /** The sorted array of an earlier version; undefined if there is none. */
  #sorted: readonly IndexedBot[] | undefined;
  /** Folders whose bots have not been needed yet. */
  readonly #packed = new Map<string, { readonly size: number; bots(): readonly IndexedBot[] }>();
  #packedSize = 0;
  #sorting: Promise<void> | undefined;
  /** Bots that were added, replaced or removed since that version. */
  readonly #changed = new Set<BotId>();

  get version(): number {
    return this.#version;
  }

  get size(): number {
    return this.#bots.size + this.#packedSize;
  }

  get(id: BotId): IndexedBot | undefined {
    if (this.#packed.size > 0) this.unpack(folderOf(id));
    return this.#bots.get(id);
  }

  /** Adds a folder whose bots are unpacked when one of them is first needed. */
  addPacked(folder: string, size: number, bots: () => readonly IndexedBot[]): void {
    this.#packed.set(folder, { size, bots });
    this.#packedSize += size;
    this.#sorted = undefined;
    this.#version += 1;
  }

  /** Unpacks a folder, where it is still packed. */
  unpack(folder: string): void {
    const packed = this.#packed.get(folder);
    if (packed === undefined) return;
    this.#packed.delete(folder);
    this.#packedSize -= packed.size;
    for (const bot of packed.bots()) this.#bots.set(bot.id, bot);
  }

  all(): readonly IndexedBot[] {
    for (const folder of this.#packed.keys()) this.unpack(folder);
    if (this.#sorted === undefined) this.#sorted = [...this.#bots.values()].toSorted(compareById);
    else if (this.#changed.size > 0) this.#sorted = this.#withChanges(this.#sorted);
    this.#changed.clear();
    return this.#sorted;
  }

  async sorted(): Promise<readonly IndexedBot[]> {
    if (this.#sorted === undefined) await (this.#sorting ??= this.#sort());
    return this.all();
  }

  async #sort(): Promise<void> {
    await forEachInSlices(this.#packed.keys(), (folder) => this.unpack(folder));
    const sorted = await sortInSlices([...this.#bots.values()], compareById);
    this.#sorted ??= sorted;
    this.#sorting = undefined;
  }

  set(bot: IndexedBot): void {
    this.unpack(folderOf(bot.id));
    this.#bots.set(bot.id, bot);
    this.#changed.add(bot.id);
    this.#version += 1;
  }

  delete(id: BotId): void {
    this.unpack(folderOf(id));
    if (!this.#bots.delete(id)) return;
    this.#changed.add(id);
    this.#version += 1;
  }

  /** Inserts the changed bots: sorting a hundred thousand for a new one would delay every request by a tenth of a second. */
  #withChanges(before: readonly IndexedBot[]): IndexedBot[] {
    const parts: (readonly IndexedBot[])[] = [];
    let end = 0;
    for (const id of [...this.#changed].toSorted(compareBotIds)) {
      const place = findFirstPlace(before, (other) => compareBotIds(other.id, id) < 0);
      const bot = this.#bots.get(id);
      parts.push(before.slice(end, place), bot ? [bot] : []);
      end = before[place]?.id === id ? place + 1 : place;
    }
    return [...parts, before.slice(end)].flat();
  }
}

function compareById(a: IndexedBot, b: IndexedBot): number {
  return compareBotIds(a.id, b.id);
}

/** Returns the addresses of the images in all pages of a bot, each once, those of the default language first. */
export function listPageImages(bot: IndexedBot): string[] {
  if (!bot.record.includes('![') && !bot.record.includes('<img')) return [];
  const { contents } = parseRecord(bot);
  return findImages(
    Object.values(contents)
      .map(({ page }) => page)
      .join('\n\n'),
  );
}

/** Returns the addresses of the images in a Markdown text, each once: the first hundred that HTTPS leads to. */
export function findImages(markdown: string): string[] {
  const addresses = new Set<string>();
  for (const [, inMarkdown, inHtml = ''] of markdown.matchAll(imagePattern)) {
    addresses.add(inMarkdown ?? inHtml.replaceAll('&amp;', '&'));
    if (addresses.size === maxImages) break;
  }
  return [...addresses];
}

const imagePattern =
  /!\[[^[\]\n]{0,500}\]\(\s*<?(https:\/\/[^\s<>()"']{1,2000})|<img\b[^<>]{0,500}?\bsrc\s*=\s*["']?(https:\/\/[^\s<>"']{1,2000})/gi;

const maxImages = 100;
