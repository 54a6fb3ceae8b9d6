import type { Context } from 'koa';
import type { VNode } from 'preact';
import { UnknownBotError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import {
  type BotIndex,
  parseListElement,
  type IndexedBot,
  parseRecord,
} from '../../catalogue/store/bot-index.ts';
import { listPageImages } from '../../catalogue/store/page-pictures.ts';
import type { ReadonlyCountHistory } from '../../counts/count-history.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { Current } from '../../lib/current-cache.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { parseQuery } from '../../http/query.ts';
import type { Markdown } from '../markdown/markdown.ts';
import { findCopies, type FindCopy, type MarkdownImages } from '../markdown/markdown-pictures.ts';
import type { Site } from '../page/layout.tsx';
import { chooseLocale, findLanguages, listWantedRanges } from '../language/locales.ts';
import { type PageInputs, type PageRecipe, startOfDay } from '../page/page-cache.ts';
import { BotPage } from './bot-page.tsx';
import { type BotGroups, listBotsOfSameAuthor, type RelatedBots, findSimilarBots } from './related-bots.ts';

export interface BotRecipeOptions {
  readonly site: Site;
  readonly bots: BotIndex;
  readonly counts: ReadonlyCounts;
  readonly countHistory: ReadonlyCountHistory;
  readonly markdown: Markdown;
  /** Finds the copy of an image in a page. */
  readonly copyOf: FindCopy;
  /** The faults of a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
}

interface BotRequest {
  readonly id: BotId;
  readonly locale: Locale;
  /** Whether that is not the language of the reader, in which the bot has no page. */
  readonly isForeign: boolean;
  readonly blurImages: boolean;
}

interface BotInputs extends Pick<BotRecipeOptions, 'counts' | 'countHistory' | 'markdown'> {
  /** Undefined once the bot is removed. */
  readonly indexed: IndexedBot | undefined;
  readonly count: number | undefined;
  readonly growth: number | undefined;
  /** Differs once the counts over time do. */
  readonly countsStamp: string;
  readonly reportedAge: number | undefined;
  readonly editedAge: number;
  /** When the day began: cards say how long ago a bot was updated, and how it has grown. */
  readonly today: number;
  readonly groups: BotGroups & Current;
  /** The images in its pages that have copies, as JSON. */
  readonly images: string;
  readonly faults: readonly Fault[];
}

/** Returns how the page of a bot is made, in the language and with the images that the request selects. */
export async function createBotRecipe(
  ctx: Context,
  options: BotRecipeOptions,
  related: RelatedBots,
  { id, facts }: IndexedBot,
): Promise<PageRecipe<BotRequest, BotInputs>> {
  const { bots, counts, countHistory, markdown } = options;
  markdown.start();
  const groups = await related.groups();
  const params = parseQuery(ctx);
  const wanted = listWantedRanges(params.get('locale') ?? undefined, ctx.get('Accept-Language'));
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const own = [...wanted.slice(0, 1), options.site.languages.of(ctx).locale];
  const isForeign = findLanguages(own, facts.locales).length === 0;
  const blurImages = facts.nsfw && params.get('pictures') !== 'shown';
  return {
    request: { id, locale, isForeign, blurImages },
    read: () => ({
      indexed: bots.get(id),
      count: counts.count(id),
      growth: counts.growth(id),
      counts,
      countHistory,
      countsStamp: countHistory.stamp(id, 'day'),
      reportedAge: computeAge(counts.reportedAt(id)),
      editedAge: computeAge(bots.get(id)?.facts.edited) ?? 0,
      today: startOfDay(),
      groups,
      images: JSON.stringify(findCopies(listAddresses(bots.get(id)), options.copyOf)),
      faults: options.site.live ? options.faultsOf(id) : noFaults,
      markdown,
    }),
    render: renderBot,
  };
}

/** Returns the addresses of the images in a bot's pages. They are looked for once, their copies for every request. */
function listAddresses(bot: IndexedBot | undefined): readonly string[] {
  if (bot === undefined) return [];
  const known = addresses.get(bot) ?? listPageImages(bot);
  addresses.set(bot, known);
  return known;
}

const addresses = new WeakMap<IndexedBot, readonly string[]>();

/** Only the editor of a bot sees its faults. */
const noFaults: readonly Fault[] = [];

/** @throws {UnknownBotError} */
async function renderBot(inputs: BotRequest & BotInputs & PageInputs): Promise<VNode> {
  const { id, locale, isForeign, indexed, images: json, markdown, counts, countHistory, groups } = inputs;
  if (indexed === undefined) throw new UnknownBotError(id);
  const bot = parseRecord(indexed);
  const { name = '', page = '' } = bot.contents[locale] ?? {};
  const images = JSON.parse(json) as MarkdownImages;
  const { html, headings } = await markdown.render({ text: page, name, images });
  const present = countHistory.present('day');
  const isRead = await countHistory.isRead();
  const series = isRead ? countHistory.counts(id, 'day', present - chartDays + 1, present) : [];
  const sameAuthor = listBotsOfSameAuthor(groups, bot);
  const similar = findSimilarBots(groups, bot, locale).map(({ bot: other, count }) => {
    const growth = counts.growth(other.id);
    return { bot: parseListElement(other), locale, namesLanguage: isForeign, count, growth };
  });
  return <BotPage {...inputs} {...{ bot, html, headings, counts: series, sameAuthor, similar }} />;
}

const chartDays = 90;

/** Returns how long ago a time is, in whole minutes, hours or days: a page changes no more often than what it says. */
function computeAge(time: number | undefined): number | undefined {
  if (time === undefined) return undefined;
  const age = Math.max(Date.now() - time, 0);
  const unit = [86_400_000, 3_600_000].find((size) => age >= size) ?? 60_000;
  return Math.floor(age / unit) * unit;
}
