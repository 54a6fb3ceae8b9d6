import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import { elementOf } from '../../catalogue/index/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { chooseLocale, wantedRanges } from '../language/locales.ts';
import { type PageInputs, type PageRecipe, startOfDay } from '../page/page-cache.ts';
import type { ListedBot } from './cards.tsx';
import type { MessageKey } from '../language/message-file.ts';
import type { Messages } from '../language/messages.tsx';
import type { Examples, Front, FrontEntry, FrontList, FrontLists } from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import type { FrontQuery } from './front-query.ts';
import { ListPage } from './list-page.tsx';
import { counted } from '../../spelling/counted.ts';

interface ListRequest {
  readonly query: FrontQuery;
  /**
   * The language to show each bot in, suggestions last. The page depends on these, not on the many ways to ask for
   * them.
   */
  readonly locales: readonly Locale[];
}

interface FrontInputs {
  readonly front: Front;
  readonly examples: Examples;
  /** When the day began, in milliseconds since the epoch: cards say how long ago something was. */
  readonly today: number;
}

interface ListInputs extends Pick<FrontInputs, 'today'> {
  readonly list: FrontList;
}

/** Returns how the front page is made, with examples of searches in the language of `messages`. */
export async function frontRecipe(
  ctx: Context,
  lists: FrontLists,
  query: FrontQuery,
  { text }: Messages,
): Promise<PageRecipe<ListRequest, FrontInputs>> {
  const front = await lists.front();
  const examples = await lists.examples(exampleKeys.map((key) => text(key)));
  const locales = localesFor(
    ctx,
    query,
    front.shelves.flatMap(({ entries }) => entries),
  );
  return {
    request: { query, locales },
    read: () => ({ front, examples, today: startOfDay() }),
    render: renderFront,
  };
}

/**
 * Returns how the page of a list is made.
 * @throws {QueueFullError}
 * @throws {ProblemError} not-found for a page past the last one
 */
export async function listRecipe(
  ctx: Context,
  lists: FrontLists,
  query: FrontQuery,
): Promise<PageRecipe<ListRequest, ListInputs>> {
  const list = await lists.get(query);
  const { entries, suggestions, pages } = list;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${counted(pages, 'page')}, there is no page ${query.page}`,
    );
  const locales = localesFor(ctx, query, [...entries, ...suggestions]);
  return {
    request: { query, locales },
    read: () => ({ list, today: startOfDay() }),
    render: renderList,
  };
}

/** The best first. */
const exampleKeys = [
  'example.1',
  'example.2',
  'example.3',
  'example.4',
  'example.5',
  'example.6',
  'example.7',
  'example.8',
  'example.9',
  'example.10',
] as const satisfies readonly MessageKey[];

async function renderFront(inputs: ListRequest & PageInputs & FrontInputs): Promise<VNode> {
  const { front, examples, locales, ...others } = inputs;
  const { sizes, shelves } = front;
  let start = 0;
  const shown = shelves.map(({ sort, entries }) => {
    return { sort, bots: botsOf(entries, locales.slice(start, (start += entries.length))) };
  });
  return <FrontPage {...others} {...sizes} shelves={shown} examples={examples.queries} />;
}

async function renderList(inputs: ListRequest & PageInputs & ListInputs): Promise<VNode> {
  const { list, locales, ...others } = inputs;
  const { entries, ...numbers } = list;
  const bots = botsOf(entries, locales);
  const suggestions = botsOf(list.suggestions, locales.slice(entries.length));
  return <ListPage {...others} {...numbers} bots={bots} suggestions={suggestions} />;
}

function botsOf(entries: readonly FrontEntry[], locales: readonly Locale[]): ListedBot[] {
  return entries.map(({ bot, count, growth }, i) => {
    return { bot: elementOf(bot), locale: locales[i] as Locale, count, growth };
  });
}

/** Returns the reader's language, unless a search matches the bot in another one. */
function localesFor(ctx: Context, { locale }: FrontQuery, entries: readonly FrontEntry[]): Locale[] {
  const wanted = wantedRanges(locale, ctx.get('Accept-Language'));
  return entries.map(({ bot, matched }) => {
    const chosen = chooseLocale(bot.facts.locales, wanted) as Locale;
    return matched.includes(chosen) ? chosen : (matched[0] ?? chosen);
  });
}
