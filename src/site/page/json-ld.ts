import type { Locale } from '../../bot/locale.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import { formatIsoDate } from './iso-date.ts';

/** A thing as schema.org describes it. */
export type LinkedData = Readonly<Record<string, unknown>>;

/** A step on the way to a page. */
export interface Crumb {
  readonly name: string;
  readonly address: string;
}

export interface BotDataOptions {
  readonly bot: BotListElement;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** That of the bot's page. */
  readonly address: string;
  /** One of the bot's languages. */
  readonly locale: Locale;
  /** In that language, ready to be shown. */
  readonly name: string;
  readonly description: string;
  readonly count: number | undefined;
}

/** Describes a bot as an application, with facts from its file and its last posted count only. */
export function createBotData(options: BotDataOptions): LinkedData {
  const { bot, baseUrl, address, name, description, locale, count } = options;
  const { avatar, preview } = bot.cachedImages;
  return removeUndefined({
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
    image: avatar === null || bot.nsfw ? undefined : new URL(avatar, baseUrl).href,
    screenshot:
      preview.length === 0 || bot.nsfw ? undefined : preview.map((path) => new URL(path, baseUrl).href),
    sameAs: bot.website ?? undefined,
    softwareHelp: bot.support === null ? undefined : { '@type': 'CreativeWork', url: bot.support },
    interactionStatistic:
      count === undefined
        ? undefined
        : {
            '@type': 'InteractionCounter',
            interactionType: { '@type': 'InstallAction' },
            userInteractionCount: count,
          },
  });
}

/** Describes the way to a page, from the front page to the page itself. */
export function createBreadcrumbData(crumbs: readonly Crumb[]): LinkedData {
  return {
    '@context': 'https://schema.org',
    '@type': 'BreadcrumbList',
    itemListElement: crumbs.map(({ name, address }, i) => ({
      '@type': 'ListItem',
      position: i + 1,
      name,
      item: address,
    })),
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

/** Prints data for a `script` element: no text in it can end the element or begin a comment. */
export function printData(data: LinkedData): string {
  return JSON.stringify(data).replaceAll('<', '\\u003c').replaceAll('>', '\\u003e');
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

function removeUndefined(data: LinkedData): LinkedData {
  return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== undefined));
}
