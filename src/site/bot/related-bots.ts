import type { Locale } from '../../bot/locale.ts';
import type { BotListElement, BotRecord } from '../../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/index/bot-index.ts';
import { isStopWord } from '../../catalogue/search/text/stop-words.ts';
import { eachWord } from '../../catalogue/search/text/words.ts';
import { type Current, CurrentCache } from '../../concurrency/current-cache.ts';
import { forEachInSlices } from '../../concurrency/in-slices.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';

/** A bot that a page leads to, with its count when the groups were made. */
export interface RelatedBot {
  readonly bot: IndexedBot;
  readonly count: number | undefined;
}

/** The bots of the catalogue in the groups that pages choose from. */
export interface BotGroups {
  /** The bots of each author who has several, in the order of their ids. */
  readonly byAuthor: ReadonlyMap<string, readonly IndexedBot[]>;
  /** The bots on most servers, by category, language and whether they are for adults. */
  readonly popular: ReadonlyMap<string, readonly RelatedBot[]>;
}

/** Groups all bots in one pass, and again some time after one of them has changed. */
export class RelatedBots {
  readonly #bots: BotIndex;
  readonly #counts: ReadonlyCounts;
  readonly #kept = new CurrentCache<BotGroups>(
    1024,
    () => 0,
    (took) => Math.min(took * restraint, longestRestraint),
  );

  constructor(bots: BotIndex, counts: ReadonlyCounts) {
    this.#bots = bots;
    this.#counts = counts;
  }

  async groups(): Promise<BotGroups & Current> {
    return await this.#kept.get(
      '',
      () => ({ bots: this.#bots.version }),
      async () => await groupsOf(this.#bots.all(), this.#counts),
    );
  }
}

/** Returns other bots of the same authors. */
export function botsOfSameAuthor({ byAuthor }: BotGroups, bot: BotRecord): IndexedBot[] {
  const others = bot.authors.flatMap((author) => byAuthor.get(author) ?? []);
  return [...new Set(others)]
    .filter(({ id, facts }) => id !== bot.id && (bot.nsfw || !facts.nsfw))
    .slice(0, mostOfAuthor);
}

/** Returns the bots of the same category and language that share most words with this one. */
export function similarBots({ popular }: BotGroups, bot: BotRecord, locale: Locale): RelatedBot[] {
  const others = (popular.get(groupKey(bot, locale)) ?? []).filter((other) => other.bot.id !== bot.id);
  const own = wordsOf(bot.contents[locale]);
  const alike = others.map((other) => {
    const { contents } = JSON.parse(other.bot.element.toString()) as BotListElement;
    return { other, shared: [...wordsOf(contents[locale])].filter((word) => own.has(word)).length };
  });
  return alike
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, mostSimilar)
    .map(({ other }) => other);
}

/** Grouping takes at most one part in so many of the time, however often the catalogue changes. */
const restraint = 200;

/** Milliseconds. */
const longestRestraint = 60_000;

const mostOfAuthor = 8;
const mostSimilar = 3;

/** How many bots of a group are compared with the bot of a page. */
const groupSize = 60;

async function groupsOf(bots: readonly IndexedBot[], counts: ReadonlyCounts): Promise<BotGroups> {
  const firstOf = new Map<string, IndexedBot>();
  const byAuthor = new Map<string, IndexedBot[]>();
  const popular = new Map<string, RelatedBot[]>();
  await forEachInSlices(bots, (bot) => {
    for (const author of new Set(bot.facts.authors)) {
      const first = firstOf.get(author);
      const several = byAuthor.get(author);
      if (several) several.push(bot);
      else if (first) byAuthor.set(author, [first, bot]);
      else firstOf.set(author, bot);
    }
    const related = { bot, count: counts.count(bot.id) };
    for (const locale of bot.facts.locales) {
      const key = groupKey(bot.facts, locale);
      const group = popular.get(key) ?? [];
      group.push(related);
      // Shortened now and then, so that no group is sorted whole.
      popular.set(key, group.length < 4 * groupSize ? group : mostPopular(group));
    }
  });
  for (const [key, group] of popular) popular.set(key, mostPopular(group));
  return { byAuthor, popular };
}

function mostPopular(group: readonly RelatedBot[]): RelatedBot[] {
  return group.toSorted((a, b) => (b.count ?? -1) - (a.count ?? -1)).slice(0, groupSize);
}

function groupKey({ category, nsfw }: Pick<BotRecord, 'category' | 'nsfw'>, locale: Locale): string {
  return `${category} ${locale} ${nsfw}`;
}

function wordsOf(content: BotListElement['contents'][string] | undefined): Set<string> {
  const words = new Set<string>();
  if (content === undefined) return words;
  eachWord(`${content.name}\n${content.description}`, 0, (word) => {
    if (!isStopWord(word)) words.add(word);
  });
  return words;
}
