import type { BotListElement, BotRecord } from '../../../schemas/types.ts';
import type { Locale } from '../../bot/locale.ts';
import type { Author } from '../../catalogue/lists/authors.ts';
import { isStopWord, forEachWord } from '../../catalogue/search/words.ts';
import { parseListElement, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { PageParts } from '../page/page-context.tsx';

/** Returns other bots of a bot's authors. */
export function listBotsOfSameAuthor(authors: readonly Author[], bot: BotRecord): IndexedBot[] {
  const others = authors
    .flatMap(({ bots }) => bots)
    .filter((other) => other.id !== bot.id && (bot.nsfw || !other.facts.nsfw));
  return [...new Set(others)].slice(0, maxOfAuthor);
}

const maxOfAuthor = 8;

type SimilarParts = Pick<PageParts, 'lists' | 'cache'>;

/**
 * Returns bots of the same category, each with the language in which it is compared: for each language in order, those
 * that share most words with this bot.
 */
export async function findSimilarBots(
  parts: SimilarParts,
  bot: BotRecord,
  locales: readonly Locale[],
): Promise<Map<IndexedBot, Locale>> {
  const similar = new Map<IndexedBot, Locale>();
  for (const locale of locales) {
    const own = [...collectWords(bot.contents[locale])].map((word) => `\n${word}\n`);
    const alike = (await readPopular(parts, bot, locale))
      .filter((other) => other.bot.id !== bot.id && !similar.has(other.bot))
      .map((other) => ({ other, shared: own.filter((word) => other.words.includes(word)).length }))
      .toSorted((a, b) => b.shared - a.shared);
    for (const { other } of alike.slice(0, maxSimilar - similar.size)) similar.set(other.bot, locale);
  }
  return similar;
}

const maxSimilar = 3;

interface ComparedBot {
  readonly bot: IndexedBot;
  /** The words of its name and description in the language, each between line ends. */
  readonly words: string;
}

/** Returns the bots on most servers with the category and the adult rating of a bot, in one language. */
async function readPopular(
  { lists, cache }: SimilarParts,
  { category, nsfw }: BotRecord,
  locale: Locale,
): Promise<readonly ComparedBot[]> {
  const { compared } = await cache.get(`popular ${category} ${nsfw} ${locale}`, async () => {
    // In one pass over the catalogue for all pages of bots.
    const { first = [] } = await cache.get('popular', async () => {
      const [first] = await lists.top(['count'], groupSize, ({ locales, ...facts }) =>
        locales.map((own) => `${facts.category} ${facts.nsfw} ${own}`),
      );
      return { first };
    });
    const alike = first.filter(
      ({ facts }) => facts.category === category && facts.nsfw === nsfw && facts.locales.includes(locale),
    );
    const compared = alike.slice(0, groupSize).map((bot): ComparedBot => {
      const words = [...collectWords(parseListElement(bot).contents[locale])];
      return { bot, words: `\n${words.join('\n')}\n` };
    });
    return { compared };
  });
  return compared;
}

/** Maximum number of bots that are compared with the bot of a page in a language. */
const groupSize = 60;

function collectWords(content: BotListElement['contents'][string] | undefined): Set<string> {
  const words = new Set<string>();
  if (content === undefined) return words;
  forEachWord(`${content.name}\n${content.description}`, 0, (word) => {
    if (!isStopWord(word)) words.add(word);
  });
  return words;
}
