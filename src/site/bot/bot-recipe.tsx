import type { Context } from 'koa';
import type { VNode } from 'preact';
import { UnknownBotError } from '../../bot/errors.ts';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/index/bot-index.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { queryOf } from '../../http/query.ts';
import type { Markdown } from '../markdown/markdown.ts';
import { markdownPictures } from '../markdown/markdown-pictures.ts';
import type { Site } from '../page/layout.tsx';
import { chooseLocale, wantedRanges } from '../language/locales.ts';
import type { PageInputs, PageRecipe } from '../page/page-cache.ts';
import { BotPage } from './bot-page.tsx';

export interface BotRecipeOptions {
  readonly site: Site;
  readonly bots: BotIndex;
  readonly counts: ReadonlyCounts;
  readonly markdown: Markdown;
  /** The public address, without a slash at its end. */
  readonly baseUrl: string;
  /** The faults of a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
}

interface BotRequest {
  readonly id: BotId;
  readonly locale: Locale;
  readonly veiled: boolean;
}

interface BotInputs extends Pick<BotRecipeOptions, 'markdown' | 'baseUrl'> {
  /** Undefined once the bot is removed. */
  readonly indexed: IndexedBot | undefined;
  readonly count: number | undefined;
  readonly faults: readonly Fault[];
}

/** Returns how the page of a bot is made, in the language and with the pictures that the request asks for. */
export function botRecipe(
  ctx: Context,
  options: BotRecipeOptions,
  { id, facts }: IndexedBot,
): PageRecipe<BotRequest, BotInputs> {
  const { bots, counts, markdown, baseUrl } = options;
  const params = queryOf(ctx);
  const wanted = wantedRanges(params.get('locale') ?? undefined, ctx.get('Accept-Language'));
  const locale = chooseLocale(facts.locales, wanted) as Locale;
  const veiled = facts.nsfw && params.get('pictures') !== 'shown';
  return {
    request: { id, locale, veiled },
    read: () => ({
      indexed: bots.get(id),
      count: counts.count(id),
      faults: options.site.live ? options.faultsOf(id) : noFaults,
      markdown,
      baseUrl,
    }),
    render: renderBot,
  };
}

/** Only the editor of a bot sees its faults. */
const noFaults: readonly Fault[] = [];

/** @throws {UnknownBotError} */
async function renderBot(inputs: BotRequest & BotInputs & PageInputs): Promise<VNode> {
  const { id, locale, indexed, markdown } = inputs;
  if (indexed === undefined) throw new UnknownBotError(id);
  const bot = JSON.parse(indexed.record.toString()) as BotRecord;
  const { name = '', page = '' } = bot.contents[locale] ?? {};
  const { html, headings } = await markdown.render({ text: page, name, pictures: markdownPictures(bot) });
  return <BotPage {...inputs} bot={bot} html={html} headings={headings} />;
}
