import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { BotId } from '../../bot/id.ts';
import type { Locale } from '../../bot/locale.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { chooseLocale, findLanguages, isIn, listWantedRanges } from '../language/locales.ts';
import { type PageInputs, type PageRecipe, startOfDay } from '../page/page-cache.ts';
import type { ListedBot } from './cards.tsx';
import { chooseShelves } from './choose-shelves.ts';
import type { MessageKey } from '../language/message-file.ts';
import type { PageLanguage } from '../language/page-language.tsx';
import type { Examples, Front, FrontEntry, FrontList, FrontLists, ShelfName } from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import type { FrontQuery } from './front-query.ts';
import { ListPage } from './list-page.tsx';
import { formatCount } from '../../lib/counted.ts';

interface FrontRequest {
  readonly query: FrontQuery;
  readonly shelves: readonly { readonly sort: ShelfName; readonly shown: readonly ShownBot[] }[];
}

interface ListRequest {
  readonly query: FrontQuery;
  /** The bots of the list, then the suggestions. */
  readonly shown: readonly ShownBot[];
}

/** A bot as a reader sees it. A page depends on this, not on the many ways to ask for languages. */
interface ShownBot extends Pick<ListedBot, 'locale' | 'namesLanguage'> {
  readonly id: BotId;
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

/** Returns how the front page is made for a reader of a language. */
export async function createFrontRecipe(
  ctx: Context,
  lists: FrontLists,
  query: FrontQuery,
  language: PageLanguage,
): Promise<PageRecipe<FrontRequest, FrontInputs>> {
  const front = await lists.front();
  const examples = await lists.examples(exampleKeys.map((key) => language.text(key)));
  const languages = findReaderLanguages(ctx, language, [...front.sizes.locales.keys()]);
  const shelves = chooseShelves(front.shelves, languages.known).map(({ sort, entries }) => {
    return { sort, shown: showIn(languages, entries) };
  });
  return {
    request: { query, shelves },
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
  language: PageLanguage,
): Promise<PageRecipe<ListRequest, ListInputs>> {
  const list = await lists.get(query);
  const { entries, suggestions, pages } = list;
  if (query.page > Math.max(1, pages))
    throw new ProblemError(
      'not-found',
      `the list has ${formatCount(pages, 'page')}, there is no page ${query.page}`,
    );
  const languages = findReaderLanguages(ctx, language, list.languages);
  return {
    request: { query, shown: showIn(languages, [...entries, ...suggestions]) },
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

async function renderFront(inputs: FrontRequest & PageInputs & FrontInputs): Promise<VNode> {
  const { front, examples, shelves, ...others } = inputs;
  const entries = front.shelves.flatMap((shelf) => shelf.entries);
  const listed = shelves.map(({ sort, shown }) => ({ sort, bots: toListed(shown, entries) }));
  return <FrontPage {...others} {...front.sizes} shelves={listed} examples={examples.queries} />;
}

async function renderList(inputs: ListRequest & PageInputs & ListInputs): Promise<VNode> {
  const { list, shown, ...others } = inputs;
  const { entries, suggestions, ...numbers } = list;
  const bots = toListed(shown, entries);
  return <ListPage {...others} {...numbers} bots={bots} suggestions={toListed(shown, suggestions)} />;
}

function toListed(shown: readonly ShownBot[], entries: readonly FrontEntry[]): ListedBot[] {
  const byId = new Map(entries.map((entry) => [entry.bot.id, entry]));
  return shown.flatMap(({ id, locale, namesLanguage }) => {
    const entry = byId.get(id);
    if (entry === undefined) return [];
    const { bot, count, growth } = entry;
    return [{ bot: parseListElement(bot), locale, namesLanguage, count, growth }];
  });
}

/** The languages of a reader, as those of the catalogue. */
interface ReaderLanguages {
  /** What to show bots in, best first. */
  readonly wanted: readonly Locale[];
  /** What the reader has chosen in the address, or else in the browser; and that of the interface. */
  readonly known: readonly Locale[];
}

function findReaderLanguages(
  ctx: Context,
  { requested, locale }: PageLanguage,
  locales: readonly Locale[],
): ReaderLanguages {
  const accepted = listWantedRanges(undefined, ctx.get('Accept-Language'));
  const chosen = requested === undefined ? accepted : [requested];
  return {
    wanted: findLanguages([...chosen, ...accepted, locale], locales),
    known: findLanguages([...chosen, locale], locales),
  };
}

/** Shows each bot in the reader's language, unless a search matches it in another one. */
function showIn({ wanted, known }: ReaderLanguages, entries: readonly FrontEntry[]): ShownBot[] {
  return entries.map(({ bot, matched }) => {
    const chosen = chooseLocale(bot.facts.locales, wanted) as Locale;
    const locale = matched.includes(chosen) ? chosen : (matched[0] ?? chosen);
    return { id: bot.id, locale, namesLanguage: !isIn(known, [locale]) };
  });
}
