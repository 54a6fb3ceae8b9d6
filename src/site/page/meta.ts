import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import { formatBotAddress, listBotLanguages, type LanguageAddress } from './addresses.ts';
import { formatIsoDate } from './iso-date.ts';

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
  /** One that may be shown to anyone, and whether it is wide, and shown above the text. */
  readonly image?: { readonly address: string; readonly alt: string; readonly isWide: boolean } | undefined;
  readonly isAdult: boolean;
  /** Whether search engines may list it. */
  readonly isListed: boolean;
  /** A feed for this page besides that of all new bots. */
  readonly feed?: { readonly title: string; readonly path: string } | undefined;
  /** Things as schema.org describes them. */
  readonly data: readonly LinkedData[];
}

export type LinkedData = Readonly<Record<string, unknown>>;

export interface BotMetaOptions {
  readonly bot: BotListElement;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** One of the bot's languages. */
  readonly locale: Locale;
  /** In that language, ready to be shown. */
  readonly name: string;
  readonly description: string;
  readonly count: number | undefined;
  /** The name of the front page and of the bot's category. */
  readonly crumbs: { readonly front: string; readonly category: string };
}

/**
 * Describes the page of a bot in one of its languages, and the bot as an application, with facts from its file and its
 * last posted count only. A preview in a chat is not blurred, so a bot for adults has no image.
 */
export function createBotMeta(options: BotMetaOptions): PageMeta {
  const { bot, baseUrl, locale, name, description, count, crumbs } = options;
  const { avatar, cover, preview } = bot.cachedImages;
  const address = formatBotAddress(baseUrl, bot.id, locale, findDefaultLocale(bot));
  const toAddress = (path: string): string => new URL(path, baseUrl).href;
  const image = bot.nsfw ? null : (cover ?? avatar);
  const application = {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    '@id': address,
    url: address,
    name,
    description,
    inLanguage: locale,
    applicationCategory: applicationCategories.get(bot.category) ?? applicationCategories.get('other'),
    datePublished: formatIsoDate(bot.created),
    dateModified: formatIsoDate(bot.edited),
    isFamilyFriendly: !bot.nsfw,
    installUrl: bot.invite,
    image: avatar === null || bot.nsfw ? undefined : toAddress(avatar),
    screenshot: preview.length === 0 || bot.nsfw ? undefined : preview.map(toAddress),
    sameAs: bot.website ?? undefined,
    softwareHelp: bot.support === null ? undefined : { '@type': 'CreativeWork', url: bot.support },
    interactionStatistic: count === undefined ? undefined : createInstallCount(count),
  };
  const category = { name: crumbs.category, address: `${baseUrl}/categories/${bot.category}` };
  const path = [{ name: crumbs.front, address: `${baseUrl}/` }, category, { name, address }];
  return {
    address,
    title: name,
    description,
    locale,
    languages: listBotLanguages(baseUrl, bot.id, Object.keys(bot.contents) as Locale[]),
    image: image === null ? undefined : { address: toAddress(image), alt: name, isWide: cover !== null },
    isAdult: bot.nsfw,
    isListed: true,
    data: [application, createBreadcrumbData(path)],
  };
}

function createInstallCount(count: number): LinkedData {
  const interactionType = { '@type': 'InstallAction' };
  return { '@type': 'InteractionCounter', interactionType, userInteractionCount: count };
}

/** Describes the way to a page, from the front page to the page itself. */
export function createBreadcrumbData(
  crumbs: readonly { readonly name: string; readonly address: string }[],
): LinkedData {
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: crumbs.map(({ name, address }, i) => {
      return { '@type': 'ListItem', position: i + 1, name, item: address };
    }),
  };
}

/** Describes the site and how to search it. */
export function createSiteData(baseUrl: string, name: string, description: string): LinkedData {
  return {
    '@context': 'https://schema.org',
    '@type': 'WebSite',
    url: `${baseUrl}/`,
    name,
    description,
    potentialAction: {
      '@type': 'SearchAction',
      target: { '@type': 'EntryPoint', urlTemplate: `${baseUrl}/?q={search_term_string}` },
      'query-input': 'required name=search_term_string',
    },
  };
}

/** Names that search engines know. */
const applicationCategories: ReadonlyMap<Category, string> = new Map(
  Object.entries({
    education: 'EducationalApplication',
    entertainment: 'EntertainmentApplication',
    fun: 'EntertainmentApplication',
    games: 'GameApplication',
    image: 'MultimediaApplication',
    moderation: 'CommunicationApplication',
    music: 'MultimediaApplication',
    news: 'CommunicationApplication',
    notifications: 'CommunicationApplication',
    other: 'CommunicationApplication',
    productivity: 'BusinessApplication',
    utility: 'UtilitiesApplication',
  }),
);
