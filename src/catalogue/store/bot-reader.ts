import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { assembleRecord, type Content, type FilledMainPage } from '../../bot/record.ts';
import type { BotRecord, FullImages } from '../../bot/schema-types.ts';
import { indexBot, type IndexedBot, type IndexedFile, parseRecord } from './bot-index.ts';
import type { Fault } from '../page/fault.ts';
import type { PageFile } from '../page/page-file.ts';
import { withDefaults } from '../page/page.ts';
import { checkFiles, type PageLimits, type ReadablePage } from '../page/rules.ts';

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
  const [main] = mainPages;
  if (main === undefined || mainPages.length > 1) return { bot: previous, faults };
  const last = faults.length > 0 && previous ? parseRecord(previous) : undefined;
  const contents: [Locale, Content][] = [];
  const served: IndexedFile[] = [];
  for (const file of files) {
    const { locale } = file;
    const readable = good.find((one) => one === file);
    const content = readable ? toContent(readable) : last?.contents[locale];
    if (content !== undefined) contents.push([locale, content]);
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
  return { bot: indexBot(id, record, served), faults };
}

/** Returns the last record, for its shared keys, if its main page was in this language. */
function findLastShared(last: BotRecord | undefined, locale: Locale): object | undefined {
  return last && Object.keys(last.contents)[0] === locale ? last : undefined;
}

function toContent({ page }: ReadablePage): Content {
  const { name, description } = page.data as unknown as Content;
  return { name, description, page: page.page };
}
