import { createHash } from 'node:crypto';
import type { BotListElement, BotRecord, CachedImages, MainPage, Translation } from '../../schemas/types.ts';
import type { KeyOrder } from '../lib/json.ts';
import type { BotId } from './id.ts';
import type { Locale } from './locale.ts';
import { readKeyOrder, readSchema } from './schemas.ts';

/** A main page's front matter with the schema's defaults; derived values may be missing. */
export type FilledMainPage = MainPage &
  Pick<BotRecord, Exclude<keyof MainPage & keyof BotRecord, 'edited' | 'random'>>;

/** One language of a bot: name and description from the front matter, and the page in markdown. */
export interface Content extends Translation {
  readonly page: string;
}

/** The cached images of a bot that has no copies yet. */
export const noCachedImages: CachedImages = { avatar: null, cover: null, preview: [] };

/**
 * Returns the record of a bot with the keys of its schema in their order.
 * @param data the front matter of the main page
 * @param contents by language, the main page first
 */
export function assembleRecord(
  id: BotId,
  data: FilledMainPage,
  contents: ReadonlyMap<Locale, Content>,
  cachedImages: CachedImages = noCachedImages,
): BotRecord {
  const { created, edited = created, random = deriveRandom(id) } = data;
  const texts = Array.from(contents, ([locale, { description, name, page }]) => {
    return [locale, { description, name, page }] as const;
  });
  const others = { id, cachedImages, contents: Object.fromEntries(texts), edited, random };
  return Object.assign(pickKeys(data, recordKeys), others) as unknown as BotRecord;
}

/** Returns the record without its pages, as lists have it. */
export function listElement(record: BotRecord): BotListElement {
  const contents: BotListElement['contents'] = {};
  for (const [locale, { description, name }] of Object.entries(record.contents))
    contents[locale] = { description, name };
  return { ...record, contents };
}

/** Returns the locale of a record's main page. */
export function findDefaultLocale(record: Pick<BotListElement, 'contents'>): Locale {
  return Object.keys(record.contents)[0] as Locale;
}

/** Returns a number in [0, 1) that is the same for an id on every machine: the first 48 bits of its SHA-256. */
function deriveRandom(id: BotId): number {
  return createHash('sha256').update(id).digest().readUIntBE(0, 6) / 2 ** 48;
}

const recordKeys = readKeyOrder(readSchema('record'));

function pickKeys(values: object, keys: KeyOrder): Record<string, unknown> {
  const picked: Record<string, unknown> = {};
  for (const [key, within] of keys) {
    const value = (values as Readonly<Record<string, object | undefined>>)[key];
    picked[key] = value === undefined || within.size === 0 ? value : pickKeys(value, within);
  }
  return picked;
}
