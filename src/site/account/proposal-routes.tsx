import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { AccountId } from '../../bot/account.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields, parseQuery } from '../../http/query.ts';
import { readText } from '../../http/request-body.ts';
import { parsePages } from '../../proposals/merge-proposal.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import { ProposalError } from '../../proposals/proposal-error.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { toProposalPath } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { sendOnce } from '../page/html-response.ts';
import type { Viewer } from '../page/layout.tsx';
import { sendLogInPage } from '../page/log-in-page.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { type ListedProposal, ProposalPage, type ProposalPageProps } from './proposal-page.tsx';

/** `/proposals/:bot`: the last proposal of the logged-in account for a bot, and the button that withdraws it. */
export function addProposalRoutes(router: Router, parts: SiteParts, proposals: Proposals): void {
  const { site, bots, viewerOf } = parts;
  const show = async (
    ctx: Context,
    bot: BotId,
    viewer: Viewer,
    error: ProposalPageProps['error'] = null,
  ): Promise<void> => {
    const proposal = proposals.findLast(bot, viewer.id);
    if (proposal === undefined) throw new ProblemError('not-found', `you have no proposal for ${bot}`);
    const waiting = proposals.open.filter(({ state }) => state === 'waiting');
    const props: ProposalPageProps = {
      site,
      viewer,
      details: await proposals.read(proposal),
      bot: bots.get(bot),
      name: withoutBidiControls(await readName(parts, proposals, proposal)),
      before: waiting.indexOf(proposal),
      medianWaitMs: proposals.medianWaitMs(),
      pullRequest: parts.pullRequestOf(proposal),
      isShared: parseQuery(ctx).get('shared') !== 'no',
      error,
    };
    sendOnce(ctx, <ProposalPage {...props} />, site.languages.of(ctx), error === null ? 200 : 409);
  };
  const withViewer =
    (respond: (ctx: Context, bot: BotId, viewer: Viewer) => Promise<void>) =>
    async (ctx: Context): Promise<void> => {
      const bot = parseBotId(ctx.params['id'] ?? '');
      if (bot === undefined) throw new ProblemError('not-found', 'this is not the ID of a bot');
      const viewer = await viewerOf(ctx);
      if (viewer === null) sendLogInPage(ctx, site, toProposalPath(bot), 'myBots.visitor');
      else await respond(ctx, bot, viewer);
    };
  router.get('/proposals/:id', withViewer(show));
  router.post(
    '/proposals/:id/withdraw',
    refuseCrossSite(site.baseUrl),
    withViewer(async (ctx, bot, viewer) => {
      const form = parseFields(await readText(ctx, formRules));
      try {
        const { shared } = await proposals.withdraw(bot, viewer.id, form.get('version') ?? '');
        ctx.redirect(site.languages.of(ctx).href(toProposalPath(bot, shared)));
        ctx.status = 303;
      } catch (error) {
        if (!(error instanceof ProposalError)) throw error;
        await show(ctx, bot, viewer, error.kind === 'changed' ? 'changed' : 'gone');
      }
    }),
  );
}

const formRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 1024,
  whenTooLarge: 'send only the version',
} as const;

/** Returns the last proposal of an account for each bot, the last one first, and no more than a page can show. */
export async function listProposals(
  parts: Pick<SiteParts, 'bots'>,
  proposals: Proposals,
  account: AccountId,
): Promise<ListedProposal[]> {
  const all = proposals.listOf(account);
  const list = all.filter((proposal) => proposals.findLast(proposal.bot, account) === proposal);
  return await Promise.all(
    list.slice(0, maxListed).map(async (proposal) => ({
      proposal,
      name: await readName(parts, proposals, proposal),
    })),
  );
}

const maxListed = 50;

/** Returns the name of a bot as it is listed, or as it was proposed. */
async function readName(
  { bots }: Pick<SiteParts, 'bots'>,
  proposals: Proposals,
  proposal: Proposal,
): Promise<string> {
  const listed = bots.get(proposal.bot);
  if (listed !== undefined) return listed.facts.name;
  const [page] = parsePages((await proposals.read(proposal)).sent);
  const name = page?.page?.data['name'];
  return typeof name === 'string' ? name : proposal.bot;
}
