import type { Router } from '@koa/router';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { toAddressGroup } from '../../lib/network-address.ts';
import type { Login } from '../../login/login.ts';
import type { Tokens } from '../../tokens/tokens.ts';
import { sendOnce } from '../page/html-response.ts';
import { myBotsPath } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { pickPage } from '../page/pick-page.ts';
import type { ListOwn } from '../review/attention.ts';
import { listProposals } from './proposal-routes.tsx';
import { MyBotsPage, type OwnBot } from './my-bots-page.tsx';

/** `/my-bots`: the bots that name the logged-in account as an author. */
export function addMyBotsRoute(
  router: Router,
  parts: SiteParts,
  login: Login,
  tokens: Tokens,
  listOwn: ListOwn,
): void {
  const { site, lists, counts, faultsOf, viewerOf, proposals } = parts;
  const showOwn = async (bots: readonly IndexedBot[]): Promise<OwnBot[]> => {
    const own = await Promise.all(bots.map(async (bot) => ({ bot, token: await tokens.tokenInfo(bot.id) })));
    const issuedAt = new Map(own.map(({ bot, token }) => [bot.id, token.issuedAt]));
    const items = await listOwn(bots, (id) => counts.reportedAt(id) ?? issuedAt.get(id));
    return own.map(({ bot, token }) => ({
      bot,
      token,
      count: counts.count(bot.id),
      reportedAt: counts.reportedAt(bot.id),
      faults: faultsOf(bot.id),
      attention: items.filter((item) => item.bot === bot.id && item.kind !== 'faulty-file'),
    }));
  };
  router.get(myBotsPath, async (ctx) => {
    const viewer = await viewerOf(ctx);
    const { page, pages, shown } = viewer
      ? pickPage(ctx, (await lists.page({ author: viewer.id }, toAddressGroup(ctx.ip))).bots)
      : { page: 1, pages: 1, shown: [] };
    const own = proposals && (viewer ? await listProposals(parts, proposals, viewer.id) : []);
    const props = {
      site,
      viewer,
      proposals: own,
      bots: await showOwn(shown),
      page,
      pages,
      provider: login.provider,
    };
    sendOnce(ctx, <MyBotsPage {...props} />, site.languages.of(ctx));
  });
}
