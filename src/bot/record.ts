import { createHash } from 'node:crypto';
import type { BotId } from './id.ts';
import type { Locale } from './locale.ts';
import type { BotListElement, BotRecord, MainPage, Translation } from './schema-types.ts';

/** A main page's front matter with the schema's defaults; derived values may be missing. */
export type FilledMainPage = MainPage &
  Pick<
    BotRecord,
    'codehost' | 'images' | 'legacy' | 'nsfw' | 'oauth' | 'support' | 'trigger' | 'verified' | 'website'
  >;

/** One language of a bot: name and description from the front matter, and the page in markdown. */
export interface Content extends Translation {
  readonly page: string;
}

export type CachedImages = BotRecord['cachedImages'];

/** The cached images of a bot without any copy yet. */
export const noCachedImages: CachedImages = { avatar: null, cover: null, preview: [] };

/**
 * Returns the record of a bot, its keys in the order that the API promises. In `contents` the default locale is
 * first, then the others in the order of `translations`.
 */
export function assembleRecord(
  id: BotId,
  main: { readonly locale: Locale; readonly data: FilledMainPage; readonly page: string },
  translations: Iterable<readonly [Locale, Content]>,
  cachedImages: CachedImages = noCachedImages,
): BotRecord {
  const { data } = main;
  const contents: BotRecord['contents'] = { [main.locale]: pickContent({ ...data, page: main.page }) };
  for (const [locale, translation] of translations) contents[locale] = pickContent(translation);
  return {
    id,
    authors: data.authors,
    cachedImages,
    category: data.category,
    contents,
    created: data.created,
    edited: data.edited ?? data.created,
    codehost: { owner: data.codehost.owner, repo: data.codehost.repo },
    images: { avatar: data.images.avatar, cover: data.images.cover, preview: data.images.preview },
    invite: data.invite,
    legacy: data.legacy,
    nsfw: data.nsfw,
    oauth: data.oauth,
    random: data.random ?? deriveRandom(id),
    support: data.support,
    trigger: {
      prefix: data.trigger.prefix,
      customisable: data.trigger.customisable,
      mentionable: data.trigger.mentionable,
    },
    verified: data.verified,
    website: data.website,
  };
}

/** Returns the record without its pages, as lists have it. */
export function listElement(record: BotRecord): BotListElement {
  const contents: BotListElement['contents'] = {};
  for (const [locale, { description, name }] of Object.entries(record.contents)) {
    contents[locale] = { description, name };
  }
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

function pickContent({ description, name, page }: Content): BotRecord['contents'][string] {
  return { description, name, page };
}
