import { createHash } from 'node:crypto';
import type { BotRecord, FullImages } from '../../../schemas/types.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { assembleRecord, type Content, type FilledMainPage } from '../../bot/record.ts';
import { parseTree, computeBlobId } from '../../git/objects.ts';
import { type Repository, type RepositoryOpener, toUnavailableError } from '../../git/repository.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import type { Fault } from '../page/fault.ts';
import { botsFolder, type FilePlace, folderOf, isPage, parseFilePath, pathOf } from '../page/layout.ts';
import { type PageFile, parsePageFile, readFileText } from '../page/page-file.ts';
import { withDefaults } from '../page/page.ts';
import { checkFiles, type PageLimits, type ReadablePage, noLimits } from '../page/rules.ts';
import { parseSettings, type CatalogueSettings, settingsName, toSettings } from '../settings/settings.ts';
import { indexBot, type IndexedBot, type IndexedFile, parseRecord } from './bot-index.ts';

/** The result of reading a bot's files: the bot to serve from now on, and the faults of the files. */
export interface BotReading {
  readonly bot: IndexedBot | undefined;
  readonly faults: readonly Fault[];
}

/** What a record has that is not in the files of its bot. */
export interface RecordLookups {
  /** Returns the paths of our own copies of a bot's images. */
  readonly cachedImages?: (images: FullImages) => BotRecord['cachedImages'];
  /** Returns when a commit last changed the bot; milliseconds since the epoch. */
  readonly edited?: (id: BotId) => number | undefined;
}

/**
 * Reads a bot from all of its files. The last valid version of a faulty file is served, taken from `previous`; where
 * the files together make no bot, the whole previous one is served. A category that `limits` does not have is served
 * as `other`.
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
  const contents: [Locale, Content][] = [];
  const served: IndexedFile[] = [];
  let commands: Buffer | null = null;
  for (const file of files) {
    const { locale } = file;
    const readable = good.find((one) => one === file);
    if (!isPage(file)) commands = readable ? toCommands(readable) : (previous?.commands ?? null);
    const content = readable ? toContent(readable) : last?.contents[locale];
    if (isPage(file) && content !== undefined) contents.push([file.locale, content]);
    // A faulty file is listed as it was when it was good, and not at all when it never was.
    const listed = readable ?? findServed(file);
    if (listed)
      served.push({ locale, main: file === main, size: listed.size, sha: listed.sha, tail: listed.tail });
  }
  const readable = good.find((one) => one === main);
  const shared = readable ? withDefaults(readable.page.data) : findLastShared(last, main.locale);
  const text = contents.find(([locale]) => locale === main.locale)?.[1];
  if (shared === undefined || text === undefined) return { bot: previous, faults };

  const filled = shared as unknown as FilledMainPage;
  const isKnown = limits.categories?.includes(filled.category) ?? true;
  const category = isKnown ? filled.category : 'other';
  const edited = Math.max(filled.edited ?? filled.created, lookups.edited?.(id) ?? 0);
  const data = { ...filled, category, edited, name: text.name, description: text.description };
  const translations = contents.filter(([locale]) => locale !== main.locale);
  const record = assembleRecord(
    id,
    { locale: main.locale, data, page: text.page },
    translations,
    lookups.cachedImages?.(data.images),
  );
  return { bot: indexBot(id, record, served, commands), faults };
}

/** Returns the last record, for its shared keys, if its main page was in this language. */
function findLastShared(last: BotRecord | undefined, locale: Locale): object | undefined {
  return last && Object.keys(last.contents)[0] === locale ? last : undefined;
}

function toCommands({ page }: ReadablePage): Buffer {
  return Buffer.from(JSON.stringify(page.data['commands']));
}

function toContent({ page }: ReadablePage): Content {
  const { name, description } = page.data as unknown as Content;
  return { name, description, page: page.page };
}

/**
 * Reads the authors of a bot from its record in the last commit. Uncommitted edits and the index are ignored. Empty when
 * the commit has no valid bot of this id.
 * @throws {BotshelfError} unavailable, when there is no repository, or it cannot be read
 */
export async function readCommittedAuthors(
  repositoryOpener: RepositoryOpener,
  id: BotId,
): Promise<readonly string[]> {
  const repository = await repositoryOpener.open();
  try {
    const files = await readCommittedPages(repository, 'HEAD', id);
    const blobs = await repository.objects.read(files.map(({ blob }) => blob));
    const pages = files.map(({ place }, i) => parsePageFile(place, blobs[i]?.content ?? Buffer.alloc(0)));
    return readBot(id, pages, undefined, noLimits).bot?.facts.authors ?? [];
  } catch (error) {
    throw toUnavailableError(error);
  }
}

/** Returns the places of a bot's files in a commit, each with its blob. @throws {GitError} */
export async function readCommittedPages(
  { objects, hash, prefix }: Pick<Repository, 'objects' | 'hash' | 'prefix'>,
  commit: string,
  id: BotId,
): Promise<{ readonly place: FilePlace; readonly blob: string }[]> {
  const folder = `${botsFolder}/${folderOf(id)}`;
  const tree = await objects.readOne(`${commit}:${prefix}${folder}`);
  const entries = tree?.type === 'tree' ? [...parseTree(tree.content, hash)] : [];
  return entries.flatMap(([name, { mode, id: blob }]) => {
    const place = name.startsWith(`${id}.`) ? parseFilePath(`${folder}/${name}`) : undefined;
    return place && mode.startsWith('100') ? [{ place, blob }] : [];
  });
}

/**
 * Reads the settings from the last commit: they decide who is a maintainer. Uncommitted edits and the index are ignored, and
 * so is the logo. The defaults where the commit has no such file; undefined if the file has a fault. Reads one object
 * while the file stays the same.
 * @throws {BotshelfError} unavailable, when there is no repository, or it cannot be read
 */
export async function readCommittedSettings(
  repositoryOpener: RepositoryOpener,
): Promise<CatalogueSettings | undefined> {
  const { objects, hash, prefix } = await repositoryOpener.open();
  try {
    const folder = await objects.readOne(`HEAD:${prefix}`);
    const entry = folder && parseTree(folder.content, hash, new Set([settingsName])).get(settingsName);
    if (entry === undefined) return toSettings();
    if (!entry.mode.startsWith('100')) return undefined;
    if (lastParsed?.blob !== entry.id) {
      const blob = await objects.readOne(entry.id);
      lastParsed = { blob: entry.id, settings: blob && parseWithoutLogo(blob.content) };
    }
    return lastParsed.settings;
  } catch (error) {
    throw toUnavailableError(error);
  }
}

/** The settings that were read last. A blob of an id never changes. */
let lastParsed: { readonly blob: string; readonly settings: CatalogueSettings | undefined } | undefined;

function parseWithoutLogo(bytes: Buffer): CatalogueSettings | undefined {
  const { settings, faults } = parseSettings(bytes);
  return faults.every(({ rule }) => rule === 'logo') ? settings : undefined;
}

/**
 * Yields one line of JSON a bot: the record, and in `files` the path and the text of each file in the version that is
 * served. A file whose version is neither on disk nor in Git any more is left out of `files`.
 * @param root the folder that holds `bots/`
 * @param repository undefined if there is none
 */
export async function* exportLines(
  bots: readonly IndexedBot[],
  root: string,
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

/** Returns what differs between two exports of different bots. */
export async function computeExportDigest(bots: readonly IndexedBot[]): Promise<string> {
  const hash = createHash('sha1');
  await forEachInSlices(bots, ({ digest, files }) => {
    hash.update(`${digest} ${files.map(({ sha }) => sha).join(' ')}\n`);
  });
  return hash.digest('base64url');
}
