import { hash } from 'node:crypto';
import type { BotListElement, BotRecord, FullImages } from '../../../schemas/types.ts';
import { createUnknownBotError } from '../../bot/errors.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { asksForAdministrator } from '../../bot/invite.ts';
import type { Locale } from '../../bot/locale.ts';
import { assembleRecord, type Content, type FilledMainPage, findDefaultLocale } from '../../bot/record.ts';
import { computeBlobId } from '../../git/objects.ts';
import type { Repository } from '../../git/repository.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { normalise } from '../../lib/text.ts';
import type { Fault } from '../page/fault.ts';
import { isPage, pathOf } from '../page/layout.ts';
import { type PageFile, readFileText } from '../page/page-file.ts';
import { findImages, withDefaults } from '../page/page.ts';
import { checkFiles, type PageLimits, type ReadablePage } from '../page/rules.ts';

/** A bot as it is served: bytes ready to send, and the values that lists filter and sort by. */
export interface IndexedBot {
  readonly id: BotId;
  /** The record as JSON. */
  readonly record: Buffer;
  /** The start and end of each page in the bytes of the record. */
  readonly pages: readonly number[];
  /** The hash of the record, 27 URL-safe characters; the same on every machine that serves the same bytes. */
  readonly digest: string;
  /** The commands as a JSON list; null for a bot without a commands file. */
  readonly commands: Buffer | null;
  readonly facts: BotFacts;
  /** The files that the bot was read from, in path order. */
  readonly files: readonly IndexedFile[];
}

/** The values of a bot that lists filter and sort by. `oauth` is null if it is the id of the bot. */
export interface BotFacts extends Readonly<Pick<BotRecord, SharedFact>> {
  /** In the default locale. */
  readonly name: string;
  /** The name to sort by, without case and accents: É is next to E. */
  readonly sortName: string;
  /** Whether the bot names a repository of its source code. */
  readonly openSource: boolean;
  /** Whether the invite link asks for Administrator. */
  readonly administrator: boolean;
  /** The default locale comes first. */
  readonly locales: readonly Locale[];
}

type SharedFact = 'category' | 'nsfw' | 'verified' | 'oauth' | 'authors' | 'created' | 'edited' | 'random';

/** A file in the version that is served, the last valid one. */
export interface IndexedFile extends Pick<PageFile, 'locale' | 'size' | 'sha' | 'tail'> {
  readonly main: boolean;
}

/** The index of all bots that are served. Each version is consistent; only the catalogue writes to the index. */
export interface BotIndex {
  /** Incremented with each change. */
  readonly version: number;
  readonly size: number;
  get(id: BotId): IndexedBot | undefined;
  /** Returns every bot in numeric order of id. The array never changes: a later version has a new one. */
  all(): readonly IndexedBot[];
  /** Resolves with the same array. After a start, most of the sorting is done in slices of time. */
  sorted(): Promise<readonly IndexedBot[]>;
}

/** Returns the bot with this text as its id. @throws {BotshelfError} malformed-id, unknown-bot */
export function findKnownBot(bots: Pick<BotIndex, 'get'>, text: string): IndexedBot {
  const id = parseBotId(text);
  if (id === undefined) {
    const quoted = JSON.stringify(text.slice(0, 60));
    throw new BotshelfError('malformed-id', `${quoted} is not a bot ID: use 1 to 20 digits`);
  }
  const bot = bots.get(id);
  if (bot === undefined) throw createUnknownBotError(id);
  return bot;
}

/** Returns the paths of the files of a bot. */
export function listPaths({ id, files }: Pick<IndexedBot, 'id' | 'files'>): string[] {
  return files.map(({ locale }) => pathOf(id, locale));
}

/** Returns the record of a bot. */
export function parseRecord({ record }: Pick<IndexedBot, 'record'>): BotRecord {
  return JSON.parse(record.toString()) as BotRecord;
}

/** Returns the list element as JSON: the record without its pages, as parts that are views of its bytes. */
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

/**
 * Yields one line of JSON per bot: the record and, in `files`, the path and text of each file in the version that is
 * served. Skips a file if that version is no longer on disk or in Git.
 * @param root the folder that holds `bots/`
 * @param repository undefined without a repository
 */
export async function* exportLines(
  root: string,
  bots: readonly IndexedBot[],
  repository: Pick<Repository, 'hash' | 'objects'> | undefined,
): AsyncGenerator<Buffer> {
  for (const { id, record, files } of bots) {
    const texts: { path: string; text: string }[] = [];
    for (const { locale, sha } of files) {
      const path = pathOf(id, locale);
      let text = readFileText(root, path);
      if (text === undefined || computeBlobId(Buffer.from(text), repository?.hash ?? 'sha1') !== sha)
        text = (await repository?.objects.readOne(sha).catch(() => undefined))?.content.toString();
      if (text !== undefined) texts.push({ path, text });
    }
    yield Buffer.concat([record.subarray(0, -1), Buffer.from(`,"files":${JSON.stringify(texts)}}\n`)]);
  }
}

/** Returns a record in the form in which it is indexed and served. */
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
      oauth: record.oauth,
      authors: record.authors,
      locales: Object.keys(record.contents) as Locale[],
      created: record.created,
      edited: record.edited,
      random: record.random,
    },
    files,
  };
}

/** Finds the pages in the bytes of a record, each with the comma and the key before it. */
function findPages(record: BotRecord, bytes: Buffer): number[] {
  const places: number[] = [];
  let end = 0;
  for (const { description, name, page } of Object.values(record.contents)) {
    // Searched together with the texts before the page, because another text may look like its key.
    const before = `{"description":${JSON.stringify(description)},"name":${JSON.stringify(name)}`;
    const start = bytes.indexOf(before, end) + Buffer.byteLength(before);
    end = start + Buffer.byteLength(`,"page":${JSON.stringify(page)}`);
    places.push(start, end);
  }
  return places;
}

/** Writes a text to memory that small texts share: 200,000 small buffers would take more memory than their content. */
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

/** Returns the addresses of the images in all pages of a bot without duplicates, those of the default language first. */
export function listPageImages(bot: IndexedBot): string[] {
  if (!bot.record.includes('![') && !bot.record.includes('<img')) return [];
  const { contents } = parseRecord(bot);
  return findImages(
    Object.values(contents)
      .map(({ page }) => page)
      .join('\n\n'),
  );
}

/** The result of reading a bot's files: the bot to serve from now on, and the faults of the files. */
export interface BotReading {
  readonly bot: IndexedBot | undefined;
  readonly faults: readonly Fault[];
}

/** The data of a record that is not in the files of its bot. */
export interface RecordLookups {
  /** Returns the paths of our copies of a bot's images. */
  readonly cachedImages?: (images: FullImages) => BotRecord['cachedImages'];
  /** Returns when a commit last changed the bot, in milliseconds since the epoch. */
  readonly edited?: (id: BotId) => number | undefined;
}

/**
 * Reads a bot from all of its files. For a faulty file, its last valid version is taken from `previous`; if the files
 * cannot form a bot, `previous` is returned whole. A category that `limits` does not have becomes `other`.
 */
export function readBot(
  id: BotId,
  files: readonly PageFile[],
  previous: IndexedBot | undefined,
  limits: PageLimits,
  lookups: RecordLookups = {},
): BotReading {
  const findServed = ({ locale }: PageFile): IndexedFile | undefined =>
    previous?.files.find((file) => file.locale === locale);
  const { mainPages, good, faults } = checkFiles(files, limits, (file) => findServed(file)?.main ?? false);
  if (!files.some(isPage)) return { bot: undefined, faults };
  const [main] = mainPages;
  if (main === undefined || mainPages.length > 1) return { bot: previous, faults };
  const last = faults.length > 0 && previous ? parseRecord(previous) : undefined;
  const contents = new Map<Locale, Content>();
  const served: IndexedFile[] = [];
  let commands: Buffer | null = null;
  for (const file of files) {
    const { locale } = file;
    const readable = good.find((one) => one === file);
    const content = readable ? toContent(readable) : last?.contents[locale];
    if (isPage(file) && content !== undefined) contents.set(file.locale, content);
    if (!isPage(file))
      commands = readable
        ? Buffer.from(JSON.stringify(readable.page.data['commands']))
        : (previous?.commands ?? null);
    // A faulty file is listed in its last valid version, or not at all if it never was valid.
    const listed = readable ?? findServed(file);
    if (listed)
      served.push({ locale, main: file === main, size: listed.size, sha: listed.sha, tail: listed.tail });
  }
  const readable = good.find((one) => one === main);
  // The values of the last main page, if it had this language.
  const lastShared = last && findDefaultLocale(last) === main.locale ? last : undefined;
  const shared = readable ? withDefaults(readable.page.data) : lastShared;
  const text = contents.get(main.locale);
  if (shared === undefined || text === undefined) return { bot: previous, faults };

  const filled = shared as unknown as FilledMainPage;
  const isKnown = limits.categories?.includes(filled.category) ?? true;
  const category = isKnown ? filled.category : 'other';
  const edited = Math.max(filled.edited ?? filled.created, lookups.edited?.(id) ?? 0);
  const data = { ...filled, category, edited };
  const mainFirst = new Map([[main.locale, text], ...contents]);
  const record = assembleRecord(id, data, mainFirst, lookups.cachedImages?.(data.images));
  return { bot: indexBot(id, record, served, commands), faults };
}

function toContent({ page }: ReadablePage): Content {
  const { name, description } = page.data as unknown as Content;
  return { name, description, page: page.page };
}
