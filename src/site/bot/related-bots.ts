import type { Locale } from '../../bot/locale.ts';
import type { BotListElement, BotRecord, Category } from '../../bot/schema-types.ts';
import { type BotIndex, parseListElement, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import { isStopWord } from '../../catalogue/search/stop-words.ts';
import { forEachWord } from '../../catalogue/search/words.ts';
import { type Current, CurrentCache } from '../../lib/current-cache.ts';
import { forEachInSlices } from '../../lib/in-slices.ts';
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
  /** Returns the bots on most servers among those that have the category and language of a bot and are for adults if it is. */
  readonly popular: (bot: Pick<BotRecord, 'category' | 'nsfw'>, locale: Locale) => readonly ComparedBot[];
}

interface ComparedBot extends RelatedBot {
  /** Those of its name and description in the language of the group, each between line ends. */
  readonly words: string;
}

/** Groups all bots in one pass, and again some time after one of them has changed. */
export class RelatedBots {
  readonly #bots: BotIndex;
  readonly #counts: ReadonlyCounts;
  readonly #kept = new CurrentCache<BotGroups>(1024, () => 0, minRebuildRatio);

  constructor(bots: BotIndex, counts: ReadonlyCounts) {
    this.#bots = bots;
    this.#counts = counts;
  }

  async groups(): Promise<BotGroups & Current> {
    return await this.#kept.get(
      '',
      [() => this.#bots.version],
      async () => await groupBots(await this.#bots.sorted(), this.#counts),
    );
  }
}

/** Returns other bots of the same authors. */
export function listBotsOfSameAuthor({ byAuthor }: BotGroups, bot: BotRecord): IndexedBot[] {
  const others = bot.authors.flatMap((author) => byAuthor.get(author) ?? []);
  return [...new Set(others)]
    .filter(({ id, facts }) => id !== bot.id && (bot.nsfw || !facts.nsfw))
    .slice(0, maxOfAuthor);
}

/** Returns the bots of the same category and language that share most words with this one. */
export function findSimilarBots({ popular }: BotGroups, bot: BotRecord, locale: Locale): RelatedBot[] {
  const others = popular(bot, locale).filter((other) => other.bot.id !== bot.id);
  const own = [...collectWords(bot.contents[locale])].map((word) => `\n${word}\n`);
  const alike = others.map((other) => {
    return { other, shared: own.filter((word) => other.words.includes(word)).length };
  });
  return alike
    .toSorted((a, b) => b.shared - a.shared)
    .slice(0, maxSimilar)
    .map(({ other }) => other);
}

/** The time between rebuilds is at least this many times the build time. */
const minRebuildRatio = 200;

const maxOfAuthor = 8;
const maxSimilar = 3;

/** How many bots of a group are compared with the bot of a page. */
const groupSize = 60;

async function groupBots(bots: readonly IndexedBot[], counts: ReadonlyCounts): Promise<BotGroups> {
  const firstOf = new Map<string, IndexedBot>();
  const byAuthor = new Map<string, IndexedBot[]>();
  // Maps in maps: joining the three to one key would take longer than all else.
  const [adult, general] = [new Map<Category, Groups>(), new Map<Category, Groups>()];
  await forEachInSlices(bots, (bot) => {
    const { authors, nsfw, category, locales } = bot.facts;
    for (const author of authors) {
      const first = firstOf.get(author);
      const several = byAuthor.get(author);
      if (first === undefined) firstOf.set(author, bot);
      else if (several === undefined) {
        if (first !== bot) byAuthor.set(author, [first, bot]);
      } else if (several.at(-1) !== bot) several.push(bot);
    }
    const count = counts.count(bot.id);
    const byCategory = nsfw ? adult : general;
    const groups = byCategory.get(category) ?? new Map<Locale, PopularBots>();
    byCategory.set(category, groups);
    for (const locale of locales) {
      const group = groups.get(locale) ?? new PopularBots();
      groups.set(locale, group);
      group.add(bot, count);
    }
  });
  const popular: BotGroups['popular'] = ({ category, nsfw }, locale) =>
    (nsfw ? adult : general).get(category)?.get(locale)?.compared(locale) ?? [];
  return { byAuthor, popular };
}

type Groups = Map<Locale, PopularBots>;

/** The bots with the highest counts of those that are added; of equal ones those that are added first. */
class PopularBots {
  #bots: RelatedBot[] = [];
  /** A bot with this count, or a lower one, is not among the first. */
  #minCount = Number.NEGATIVE_INFINITY;
  #compared: readonly ComparedBot[] | undefined;

  add(bot: IndexedBot, count: number | undefined): void {
    if ((count ?? -1) <= this.#minCount) return;
    this.#bots.push({ bot, count });
    // Shortened now and then, so that no group is sorted whole.
    if (this.#bots.length < 4 * groupSize) return;
    this.#bots = this.#first();
    this.#minCount = this.#bots.at(-1)?.count ?? -1;
  }

  /** Returns them with their words, which are read once: reading them takes longer than all else on a page. */
  compared(locale: Locale): readonly ComparedBot[] {
    return (this.#compared ??= this.#first().map(({ bot, count }) => {
      const words = [...collectWords(parseListElement(bot).contents[locale])];
      return { bot, count, words: `\n${words.join('\n')}\n` };
    }));
  }

  #first(): RelatedBot[] {
    return this.#bots.toSorted((a, b) => (b.count ?? -1) - (a.count ?? -1)).slice(0, groupSize);
  }
}

function collectWords(content: BotListElement['contents'][string] | undefined): Set<string> {
  const words = new Set<string>();
  if (content === undefined) return words;
  forEachWord(`${content.name}\n${content.description}`, 0, (word) => {
    if (!isStopWord(word)) words.add(word);
  });
  return words;
}
