import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { Locale } from '../../bot/locale.ts';
import type { BotListElement, Category } from '../../bot/schema-types.ts';
import { queryOf } from '../../http/query.ts';
import { chooseLocale, wantedRanges } from '../language/locales.ts';
import type { PageInputs, PageRecipe } from '../page/page-cache.ts';
import type { CardProps } from './card.tsx';
import type { FrontList, FrontLists } from './front-list.ts';
import { FrontPage } from './front-page.tsx';
import { type FrontQuery, readFrontQuery } from './front-query.ts';

interface ListRequest {
  readonly query: FrontQuery;
  /** The language to show each bot in. The page depends on these, not on the many ways to ask for them. */
  readonly locales: readonly Locale[];
}

interface ListInputs {
  readonly list: FrontList;
  readonly baseUrl: string;
}

/**
 * Returns how the page of a list is made.
 * @throws {QueueFullError}
 */
export async function listRecipe(
  ctx: Context,
  lists: FrontLists,
  category: Category | undefined,
  baseUrl: string,
): Promise<PageRecipe<ListRequest, ListInputs>> {
  const query = readFrontQuery(queryOf(ctx), category);
  const list = await lists.get(query);
  const wanted = wantedRanges(query.locale, ctx.get('Accept-Language'));
  const locales = list.entries.map(({ bot }) => chooseLocale(bot.facts.locales, wanted) as Locale);
  return { request: { query, locales }, read: () => ({ list, baseUrl }), render: renderList };
}

async function renderList(inputs: ListRequest & PageInputs & ListInputs): Promise<VNode> {
  const { site, viewer, query, locales, list, baseUrl } = inputs;
  const cards = list.entries.map(({ bot: { element }, count }, i): CardProps => {
    const bot = JSON.parse(element.toString()) as BotListElement;
    return { bot, locale: locales[i] as Locale, count };
  });
  return <FrontPage site={site} viewer={viewer} query={query} cards={cards} baseUrl={baseUrl} {...list} />;
}
