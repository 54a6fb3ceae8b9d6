import type { BotListElement, BotRecord, Category } from '../../../schemas/types.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { Locale } from '../../bot/locale.ts';
import type { Author } from '../../catalogue/lists/authors.ts';
import { type FirstBots, keepFirst } from '../../catalogue/lists/lists.ts';
import { isStopWord, forEachWord } from '../../catalogue/search/words.ts';
import { parseListElement, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { forEachInSlices } from '../../lib/time-slice.ts';
import type { PageParts } from '../page/page-context.tsx';

/** The bots of the catalogue in the groups that pages choose from. */
export interface BotGroups {
  /** Returns the bots on most servers with the same category, language and adult rating as a bot. */
  readonly popular: (bot: Pick<BotRecord, 'category' | 'nsfw'>, locale: Locale) => readonly ComparedBot[];
}

interface ComparedBot {
  readonly bot: IndexedBot;
  /** The words of its name and description in the language of the group, each between line ends. */
  readonly words: string;
}

type GroupedParts = Pick<PageParts, 'bots' | 'counts' | 'cache'>;

/** Groups all bots in one pass, at most once every few seconds. */
export async function readGroups({ bots, counts, cache }: GroupedParts): Promise<BotGroups> {
  return await cache.get('groups', async () => await groupBots(await bots.sorted(), counts));
}

/** Returns other bots of a bot's authors. */
export function listBotsOfSameAuthor(authors: readonly Author[], bot: BotRecord): IndexedBot[] {
  const others = new Set<IndexedBot>();
  for (const { bots } of authors)
    for (const other of bots) {
      if (others.size === maxOfAuthor) break;
      if (other.id !== bot.id && (bot.nsfw || !other.facts.nsfw)) others.add(other);
    }
  return [...others];
}

/**
 * Returns bots of the same category, each with the language in which it is compared: for each language in order, those
 * that share most words with this bot.
 */
export function findSimilarBots(
  { popular }: BotGroups,
  bot: BotRecord,
  locales: readonly Locale[],
): Map<IndexedBot, Locale> {
  const similar = new Map<IndexedBot, Locale>();
  for (const locale of locales) {
    const own = [...collectWords(bot.contents[locale])].map((word) => `\n${word}\n`);
    const alike = popular(bot, locale)
      .filter((other) => other.bot.id !== bot.id && !similar.has(other.bot))
      .map((other) => ({ other, shared: own.filter((word) => other.words.includes(word)).length }))
      .toSorted((a, b) => b.shared - a.shared);
    for (const { other } of alike.slice(0, maxSimilar - similar.size)) similar.set(other.bot, locale);
  }
  return similar;
}

const maxOfAuthor = 8;
const maxSimilar = 3;

/** Maximum number of bots of a group that are compared with the bot of a page. */
const groupSize = 60;

async function groupBots(bots: readonly IndexedBot[], counts: ReadonlyCounts): Promise<BotGroups> {
  // Nested maps: joining the three values to one key would take longer than everything else.
  const [adult, general] = [new Map<Category, Groups>(), new Map<Category, Groups>()];
  const countOf = ({ id }: IndexedBot): number => counts.count(id) ?? -1;
  await forEachInSlices(bots, (bot) => {
    const { nsfw, category, locales } = bot.facts;
    const byCategory = nsfw ? adult : general;
    const groups: Groups = byCategory.get(category) ?? new Map();
    byCategory.set(category, groups);
    for (const locale of locales) {
      const group = groups.get(locale) ?? { first: keepFirst(countOf, true, groupSize) };
      groups.set(locale, group);
      group.first.add(bot);
    }
  });
  const popular: BotGroups['popular'] = ({ category, nsfw }, locale) => {
    const group = (nsfw ? adult : general).get(category)?.get(locale);
    if (group === undefined) return [];
    return (group.compared ??= group.first.sorted.map(({ bot }) => {
      const words = [...collectWords(parseListElement(bot).contents[locale])];
      return { bot, words: `\n${words.join('\n')}\n` };
    }));
  };
  return { popular };
}

/** The bots of a category by language. */
type Groups = Map<Locale, PopularBots>;

interface PopularBots {
  readonly first: FirstBots;
  /** The bots with their words, read once, because reading them takes longer than everything else on a page. */
  compared?: readonly ComparedBot[];
}

function collectWords(content: BotListElement['contents'][string] | undefined): Set<string> {
  const words = new Set<string>();
  if (content === undefined) return words;
  forEachWord(`${content.name}\n${content.description}`, 0, (word) => {
    if (!isStopWord(word)) words.add(word);
  });
  return words;
}
