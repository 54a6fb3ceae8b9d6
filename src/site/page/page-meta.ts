import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotListElement } from '../../bot/schema-types.ts';
import { formatBotAddress, listBotLanguages, toCategoryFeed, type LanguageAddress } from './addresses.ts';
import {
  createBotData,
  type BotDataOptions,
  createBreadcrumbData,
  type Crumb,
  type LinkedData,
  createSiteData,
} from './json-ld.ts';

/** What a page says about itself to search engines and to programs that show a preview of a link. */
export interface PageMeta {
  /** The preferred address of the page. */
  readonly address: string;
  readonly title: string;
  readonly description: string;
  /** The language of title and description. */
  readonly locale: string;
  /** The page in all of its languages; empty where there is one. */
  readonly languages: readonly LanguageAddress[];
  /** Null where there is none that may be shown to anyone. */
  readonly image: PreviewImage | null;
  readonly isAdult: boolean;
  /** Whether search engines may list it. */
  readonly isListed: boolean;
  /** A feed for this page besides that of all new bots. */
  readonly feed: { readonly title: string; readonly path: string } | null;
  readonly data: readonly LinkedData[];
}

export interface PreviewImage {
  readonly address: string;
  readonly alt: string;
  /** Whether it is wide, and shown above the text. */
  readonly isWide: boolean;
}

export interface BotMetaOptions extends Omit<BotDataOptions, 'address'> {
  /** The name of the front page and of the bot's category. */
  readonly crumbs: { readonly front: string; readonly category: string };
}

/** Describes the page of a bot in one of its languages. */
export function createBotMeta(options: BotMetaOptions): PageMeta {
  const { bot, locale, name, description, baseUrl, crumbs } = options;
  const address = formatBotAddress(baseUrl, bot.id, locale, findDefaultLocale(bot));
  const path: Crumb[] = [
    { name: crumbs.front, address: `${baseUrl}/` },
    { name: crumbs.category, address: `${baseUrl}/categories/${bot.category}` },
    { name, address },
  ];
  return {
    address,
    title: name,
    description,
    locale,
    languages: listBotLanguages(baseUrl, bot.id, Object.keys(bot.contents) as Locale[]),
    image: findPreviewImage(bot, name, baseUrl),
    isAdult: bot.nsfw,
    isListed: true,
    feed: null,
    data: [createBotData({ ...options, address }), createBreadcrumbData(path)],
  };
}

export interface ListMetaOptions {
  /** The preferred path of the list, with its query. */
  readonly path: string;
  readonly title: string;
  readonly description: string;
  /** Undefined for a list of all categories. */
  readonly category: { readonly id: string; readonly name: string } | undefined;
  /** Whether it is the result of a search, which search engines do not list. */
  readonly isSearch: boolean;
  readonly isAdult: boolean;
  readonly baseUrl: string;
  /** The name of the site. */
  readonly product: string;
  /** The language of the interface. */
  readonly locale: string;
  /** The list in each language of the interface; empty where there is one. */
  readonly languages: readonly LanguageAddress[];
}

/** Describes a list of bots: the front page, a category or the result of a search. */
export function listMeta(options: ListMetaOptions): PageMeta {
  const { path, title, description, category, isSearch, baseUrl, product } = options;
  const address = `${baseUrl}${path}`;
  return {
    address,
    title,
    description,
    locale: options.locale,
    languages: options.languages,
    image: null,
    isAdult: options.isAdult,
    isListed: !isSearch,
    feed: category ? { title: category.name, path: toCategoryFeed(category.id) } : null,
    data: category
      ? [
          createBreadcrumbData([
            { name: product, address: `${baseUrl}/` },
            { name: category.name, address: `${baseUrl}/categories/${category.id}` },
          ]),
        ]
      : [createSiteData(baseUrl, product, description)],
  };
}

/** Returns the cover, else the avatar. A preview in a chat is not blurred, so a bot for adults has no image. */
function findPreviewImage(
  { cachedImages, nsfw }: BotListElement,
  alt: string,
  baseUrl: string,
): PreviewImage | null {
  const path = cachedImages.cover ?? cachedImages.avatar;
  if (path === null || nsfw) return null;
  return { address: new URL(path, baseUrl).href, alt, isWide: cachedImages.cover !== null };
}
