import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotLists } from '../../catalogue/lists/bot-lists.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/query.ts';
import type { Login } from '../../login/login.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import { sendOnce } from '../page/html-response.ts';
import { myBotsPath, type Site } from '../page/layout.tsx';
import { readSession } from './login-routes.tsx';
import { MyBotsPage, type OwnBot } from './my-bots-page.tsx';
import { formatCount } from '../../lib/counted.ts';

export interface MyBotsOptions {
  readonly site: Site;
  readonly lists: BotLists;
  readonly counts: ReadonlyCounts;
  readonly login: Login;
  readonly tokens: Pick<Tokens, 'tokenInfo'>;
  /** The faults of a bot's files. */
  readonly faultsOf: (id: BotId) => readonly Fault[];
}

/** `/my-bots`: the bots that name the logged-in account as an author. */
export function addMyBotsRoute(router: Router, options: MyBotsOptions): void {
  const { site, lists, counts, login, tokens, faultsOf } = options;
  const botsOf = async (author: string, page: number): Promise<{ bots: OwnBot[]; pages: number }> => {
    const { bots, total } = await lists.select({ author });
    const pages = Math.max(1, Math.ceil(total / pageSize));
    if (!(page >= 1 && page <= pages))
      throw new ProblemError(
        'not-found',
        `your bots have ${formatCount(pages, 'page')}, there is no page ${page}`,
      );
    const shown = await Promise.all(
      bots.slice((page - 1) * pageSize, page * pageSize).map(async (bot) => {
        const { id, facts } = bot;
        return {
          id,
          name: facts.name,
          avatar: parseListElement(bot).cachedImages.avatar,
          count: counts.count(id),
          reportedAt: counts.reportedAt(id),
          token: await tokens.tokenInfo(id),
          faults: faultsOf(id),
        };
      }),
    );
    return { bots: shown, pages };
  };
  router.get(myBotsPath, async (ctx) => {
    const session = await readSession(ctx, login);
    const page = Math.trunc(Number(parseQuery(ctx).get('page') ?? 1));
    const own = session === undefined ? { bots: [], pages: 1 } : await botsOf(session.id, page);
    const props = { site, viewer: session ?? null, ...own, page, provider: login.provider, now: Date.now() };
    sendOnce(ctx, <MyBotsPage {...props} />, site.languages.of(ctx));
  });
}

const pageSize = 50;
