import type { Locale } from '../../bot/locale.ts';
import { findDefaultLocale } from '../../bot/record.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import { listPageLanguages, toPathInLanguage } from '../page/addresses.ts';
import { formatIsoDate } from '../page/iso-date.ts';
import { createBreadcrumbData, type LinkedData, type PageMeta } from '../page/meta.ts';
import type { ShownBotProps } from './bot-page.tsx';

/** What search engines get to know of a bot's page. */
export interface DescribedBot extends Pick<
  ShownBotProps,
  'site' | 'locale' | 'name' | 'description' | 'count' | 'shareCard' | 'authors'
> {
  readonly bot: BotListElement;
}

/**
 * Describes the page of a bot in one of its languages, and the bot as an application, with facts from its file and its
 * last posted count only. A preview in a chat is not blurred, so a bot for adults has no image.
 * @param category what the list of its category is called
 */
export function createBotMeta(page: DescribedBot, category: string): PageMeta {
  const { bot, site, locale, name, description, count, shareCard, authors } = page;
  const { baseUrl, canonicalUrl: home } = site;
  const { avatar, cover, preview } = bot.cachedImages;
  const main = `${home}/bots/${bot.id}`;
  const address = toPathInLanguage(main, locale, findDefaultLocale(bot));
  const toAddress = (path: string): string => new URL(path, baseUrl).href;
  const image = bot.nsfw ? null : (cover ?? shareCard ?? avatar);
  const people = authors.map(({ path, ...named }) => ({ '@type': 'Person', ...named, url: home + path }));
  const application = {
    '@context': 'https://schema.org',
    '@type': 'SoftwareApplication',
    '@id': address,
    url: address,
    name,
    description,
    author: people.length === 0 ? undefined : people,
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
  const list = { name: category, address: `${home}/categories/${bot.category}` };
  return {
    address,
    title: name,
    author: authors.map((author) => author.name).join(', '),
    description,
    locale,
    languages: listPageLanguages(main, Object.keys(bot.contents) as Locale[]),
    image: image === null ? undefined : { address: toAddress(image), alt: name, isWide: image !== avatar },
    isAdult: bot.nsfw,
    isListed: true,
    data: [application, createBreadcrumbData(site, list, { name, address })],
  };
}

function createInstallCount(count: number): LinkedData {
  const interactionType = { '@type': 'InstallAction' };
  return { '@type': 'InteractionCounter', interactionType, userInteractionCount: count };
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
