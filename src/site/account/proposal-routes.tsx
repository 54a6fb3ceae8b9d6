import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { AccountId } from '../../bot/account.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery, readFields } from '../../http/query.ts';
import { parsePages } from '../../proposals/merge-proposal.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import { ProposalError } from '../../proposals/proposal-error.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { isBot, parseSubject, type Subject, toSubjectFolder } from '../../proposals/subject.ts';
import { toProposalPath } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { redirectTo, sendOnce } from '../page/html-response.ts';
import { sendLogInPage } from '../page/log-in-page.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { type ListedProposal, ProposalPage, type ProposalPageProps } from './proposal-page.tsx';

/** `/proposals/:subject`: the last proposal of the logged-in account for a bot, a collection or its profile, and the button that withdraws it. */
export function addProposalRoutes(router: Router, parts: SiteParts, proposals: Proposals): void {
  const { site, viewerOf, pullRequestOf } = parts;
  /** Withdraws the proposal where the button was pressed; shows it where it was not, or that failed. */
  const respond = async (ctx: Context): Promise<void> => {
    const subject = parseSubject(ctx['params'].subject ?? '');
    if (subject === undefined) throw new ProblemError('not-found', 'this is not the ID of a bot');
    const viewer = await viewerOf(ctx);
    if (viewer === null) return sendLogInPage(ctx, site, toProposalPath(subject), 'myBots.visitor');
    const language = site.languages.of(ctx);
    let error: ProposalPageProps['error'] = null;
    if (ctx.method === 'POST') {
      const form = await readFields(ctx, 1024, 'send only the version');
      try {
        const { shared } = await proposals.withdraw(subject, viewer.id, form.get('version') ?? '');
        return redirectTo(ctx, language.href(toProposalPath(subject, shared)));
      } catch (thrown) {
        if (!(thrown instanceof ProposalError)) throw thrown;
        error = thrown.kind === 'changed' ? 'changed' : 'gone';
      }
    }
    const proposal = proposals.findLast(subject, viewer.id);
    if (proposal === undefined) throw new ProblemError('not-found', `you have no proposal for ${subject}`);
    const props: ProposalPageProps = {
      site,
      viewer,
      details: await proposals.read(proposal),
      name: withoutBidiControls(await readName(parts, proposals, proposal)),
      before: proposals.open.filter(({ state }) => state === 'waiting').indexOf(proposal),
      medianWaitMs: proposals.medianWaitMs(),
      pullRequest: pullRequestOf(proposal),
      isShared: parseQuery(ctx).get('shared') !== 'no',
      error,
    };
    sendOnce(ctx, <ProposalPage {...props} />, language, error === null ? 200 : 409);
  };
  router.get('/proposals/:subject', respond);
  router.post('/proposals/:subject/withdraw', refuseCrossSite(site.baseUrl), respond);
}

/**
 * Returns the last proposal of an account for each bot, those that wait before the others, the last one first, and no more
 * than a page can show.
 */
export async function listProposals(
  parts: Pick<SiteParts, 'bots'>,
  proposals: Pick<Proposals, 'listOf' | 'read'>,
  account: AccountId,
): Promise<ListedProposal[]> {
  const all = proposals.listOf(account);
  const last = new Map<Subject, Proposal>();
  for (const proposal of all)
    if (proposal.closedAt === null || !last.has(proposal.subject)) last.set(proposal.subject, proposal);
  const list = [...last.values()].toSorted(
    (a, b) => Number(a.closedAt !== null) - Number(b.closedAt !== null),
  );
  const shown = list.slice(0, maxListed).map(async (proposal) => {
    return { proposal, name: await readName(parts, proposals, proposal) };
  });
  return await Promise.all(shown);
}

const maxListed = 50;

/** Returns the name of a bot as it is listed, or as it was proposed; the path of what is not a bot. */
async function readName(
  { bots }: Pick<SiteParts, 'bots'>,
  proposals: Pick<Proposals, 'read'>,
  proposal: Proposal,
): Promise<string> {
  const { subject } = proposal;
  if (!isBot(subject)) return toSubjectFolder(subject) + subject.replace(/^[a-z]+-/, '/');
  const listed = bots.get(subject);
  if (listed !== undefined) return listed.facts.name;
  const [page] = parsePages((await proposals.read(proposal)).sent);
  const name = page?.page?.data['name'];
  return typeof name === 'string' ? name : subject;
}
