import type { Router } from '@koa/router';
import type { BotId } from '../../bot/id.ts';
import type { ReadonlyCounts } from '../../bot/counts.ts';
import type { BotLists } from '../../catalogue/lists/bot-lists.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import type { Login } from '../../login/login.ts';
import type { Tokens } from '../../state/tokens.ts';
import { sendOnce } from '../page/html-response.ts';
import { myBotsPath, type Site } from '../page/layout.tsx';
import { visitorOf } from './login-routes.tsx';
import { MyBotsPage, type OwnBot } from './my-bots-page.tsx';
import { viewerIn } from './viewer.ts';

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
  const botsOf = async (author: string): Promise<OwnBot[]> => {
    const { bots } = await lists.select({ author, limit: mostBots });
    return await Promise.all(
      bots.map(async ({ id, facts: { name } }) => ({
        id,
        name,
        count: counts.count(id),
        reportedAt: counts.reportedAt(id),
        token: await tokens.tokenInfo(id),
        faults: faultsOf(id),
      })),
    );
  };
  router.get(myBotsPath, async (ctx) => {
    const session = await visitorOf(ctx, login);
    const viewer = session === undefined ? null : viewerIn(session);
    const bots = session === undefined ? [] : await botsOf(session.id);
    const page = <MyBotsPage {...{ site, viewer, bots }} provider={login.provider} now={Date.now()} />;
    sendOnce(ctx, page, site.languages.of(ctx));
  });
}

/** The page shows no more. */
const mostBots = 100;
