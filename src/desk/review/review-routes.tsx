import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { parseAccountId } from '../../bot/commit-message.ts';
import { requireBlocked } from '../../catalogue/settings/blocked.ts';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery, readFields, refuseCrossSite } from '../../http/request.ts';
import { isFresh } from '../../login/session.ts';
import {
  isSentByBot,
  maxNoteLength,
  type Proposal,
  ProposalError,
  parseSubject,
} from '../../proposals/proposal.ts';
import type { Decision } from '../../proposals/proposals.ts';
import { compareWords } from '../../site/changes/changed-fields.tsx';
import { blockedPath, reviewPath, toReviewPath, withParameter } from '../../site/page/addresses.ts';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import { pickPage } from '../../site/page/layout.tsx';
import type { Viewer } from '../../site/page/page-context.tsx';
import { MessagePage, sendLogInPage, Step } from '../page/elements.tsx';
import { readAttention } from '../../site/discover/attention.ts';
import { createBlockHandlers, listBlocked, type ReviewHandler } from './block-page.tsx';
import { QueuePage, type QueueRow, reviewKinds, tabs } from './queue-page.tsx';
import {
  type FailedDecision,
  type NamedProposal,
  ReviewPage,
  type LastDecisionProps,
  Undo,
} from './review-page.tsx';
import { createReviewReader, findRelated, findRisk, renderPreview, type Review, risks } from './reviews.ts';
import type { ProposalParts } from '../page/desk-parts.ts';

/**
 * Adds the pages of the review. Only maintainers may open them; each request reads them from the last commit.
 * `/review` has the waiting work, `/review/:subject/:account` a proposal, `/review/blocked` the block list. A decision
 * is about the version that the form names. Forms require a login of the last hour, and are kept during a new login.
 * If proposals are reviewed at the Git host, only `/review` exists, without proposals.
 */
export function addReviewRoutes(router: Router, parts: ProposalParts): void {
  const { site, bots, authors, viewerOf, proposals, drafts } = parts;
  const host = parts.hostReview?.home ?? null;
  const readReview = createReviewReader(parts, 'branch');
  /** Reads the kind of a proposal and its place in `risks`, once for each version. */
  const rank = async (proposal: Proposal) => {
    const read = async () => {
      const review = await readReview(proposal);
      return { kind: review.kind, risk: risks.indexOf(findRisk(review)) };
    };
    const keeping = { inputs: [() => parts.blocked.current], isExact: true };
    return await parts.cache.get(`rank ${proposal.version}`, read, keeping).catch(() => undefined);
  };
  /** Returns the waiting proposals, riskiest first, then oldest first; last those that cannot be read, or are too many to read. */
  const listWaiting = async () => {
    const ranked = [];
    for (const [i, proposal] of proposals.list.waiting.entries()) {
      const { kind, risk = risks.length } = (i < maxRanked && (await rank(proposal))) || {};
      ranked.push({ proposal, kind, risk });
    }
    return ranked.toSorted((a, b) => a.risk - b.risk);
  };

  /** @param keepForm for a form: keeps the typed text while the person logs in, and returns the path that shows it again */
  const forMaintainers =
    (handle: ReviewHandler, keepForm?: (ctx: Context) => string | Promise<string>) =>
    async (ctx: Context): Promise<void> => {
      const viewer = await viewerOf(ctx);
      const { href } = site.languages.of(ctx);
      if (viewer && viewer.toReview === undefined) sendRefusal(ctx, viewer);
      else if (viewer && (keepForm === undefined || isFresh(viewer, 'review'))) await handle(ctx, viewer);
      else if (keepForm) sendLogInPage(ctx, site, await keepForm(ctx), 'review.logIn');
      else redirectTo(ctx, href(withParameter('/login', 'to', href(ctx.path))));
    };
  /** Responds that only maintainers may review. */
  const sendRefusal = (ctx: Context, viewer: Viewer): void => {
    const { t, href } = site.languages.of(ctx);
    const to = href(withParameter('/login?account=other', 'to', href(reviewPath)));
    const page = (
      <MessagePage to={to} title="review.notMaintainer" action="token.otherAccount">
        <p>{t('review.notMaintainerText', { name: viewer.name, id: viewer.id })}</p>
      </MessagePage>
    );
    sendOnce(ctx, { site, viewer }, page, 403);
  };
  /** Returns the current or last proposal of a subject and an account. */
  const findLast = (about = '', account = ''): Proposal | undefined => {
    const [subject, accountId] = [parseSubject(about), parseAccountId(account)];
    return subject && accountId && proposals.list.findLast(subject, accountId);
  };
  const findNamed = ({ params }: Context): Proposal => {
    const proposal = findLast(params['subject'], params['account']);
    if (proposal === undefined) throw new ProblemError('not-found', 'there is no such proposal');
    return proposal;
  };
  const readLast = async (ctx: Context): Promise<LastDecisionProps> => {
    const params = parseQuery(ctx);
    const proposal = findLast(...(params.get('done') ?? '').split('/', 2));
    if (proposal === undefined || proposal.state === 'waiting') return { last: undefined };
    return {
      last: { name: await readName(proposal), proposal, isShared: params.get('shared') !== 'no' },
    };
  };
  /** Returns the proposed name of a proposal's subject; the subject itself if it cannot be read. */
  const readName = async (proposal: Proposal): Promise<string> =>
    (await readReview(proposal).catch(() => undefined))?.name ?? proposal.subject;
  const toRow = async (proposal: Proposal): Promise<QueueRow> => {
    const { subject, proposer } = proposal;
    const review = await readReview(proposal).catch(() => undefined);
    const { length: botCount } = (await authors.find(proposer.id)).bots;
    return {
      proposal,
      review,
      name: review?.name ?? subject,
      botCount,
      isFirst: botCount === 0 && !isSentByBot(proposal) && proposals.list.listOf(proposer.id).length === 1,
    };
  };

  const showQueue: ReviewHandler = async (ctx, viewer) => {
    const query = parseQuery(ctx);
    const named = tabs.find((known) => known === query.get('tab')) ?? 'waiting';
    const tab = ctx.path === blockedPath ? 'blocked' : named;
    const kind = reviewKinds.find((known) => tab === 'waiting' && known === query.get('kind'));
    const waiting = host === null ? proposals.list.waiting.length : 0;
    const ranked = tab === 'waiting' && waiting > 0 ? await listWaiting() : [];
    const listKind = (kind?: Review['kind']): readonly Proposal[] =>
      ranked
        .filter((one) => kind === undefined || (one.kind ?? kind) === kind)
        .map(({ proposal }) => proposal);
    const kindCounts = new Map(reviewKinds.map((each) => [each, listKind(each).length]));
    const list = tab === 'decided' ? proposals.list.listDecided() : listKind(kind);
    const entries = tab === 'blocked' ? listBlocked(requireBlocked(parts.blocked.current)) : [];
    const { page, pages, shown } = pickPage(ctx, [...list, ...entries]);
    const rows: QueueRow[] = [];
    for (const one of shown) if ('ref' in one) rows.push(await toRow(one));
    const isPrivate = parts.config.blocked !== null;
    const blocked = { entries: shown.flatMap((one) => ('ref' in one ? [] : one)), isPrivate };
    const attention = await parts.cache.get('attention', async () => await readAttention(parts));
    const [reports, last] = [parts.reports.list(), await readLast(ctx)];
    const median = proposals.list.medianWaitMs();
    const lists = { rows, page, pages, bots, reports, attention, blocked };
    const props = { tab, host, median, waiting, kind, kindCounts, ...lists, ...last };
    sendOnce(ctx, { site, viewer }, <QueuePage {...props} />);
  };

  const showProposal = async (ctx: Context, viewer: Viewer, failed?: FailedDecision): Promise<void> => {
    const proposal = findNamed(ctx);
    const language = site.languages.of(ctx);
    const waiting = (await listWaiting()).map((one) => one.proposal);
    if (proposal.closedAt !== null) {
      const [next] = waiting;
      const to = language.href(next ? toReviewPath(next.subject, next.proposer.id) : reviewPath);
      const action = next ? 'list.next' : 'review.title';
      const page = (
        <MessagePage {...{ to, action }} title="review.decided">
          <Step step={proposal} />
          <Undo proposal={proposal} />
          {failed?.problem === 'stands' && <p>{language.t('review.problem.stands')}</p>}
        </MessagePage>
      );
      return sendOnce(ctx, { site, viewer }, page, ctx.method === 'POST' ? 409 : 200);
    }
    const review = await readReview(proposal);
    await compareWords(review.pages);
    const previews = review.pages.map(async ({ locale, state }) => {
      const sides = (['before', 'after'] as const).slice(state === 'added' ? 1 : 0);
      const shown = sides.map(async (side) => {
        return { side, preview: await renderPreview(parts, review[side], locale, side === 'after') };
      });
      return await Promise.all(shown);
    });
    const others = proposals.list.listOf(proposal.proposer.id).filter((other) => other !== proposal);
    const named: NamedProposal[] = [];
    for (const other of others.slice(0, maxOthers))
      named.push({ proposal: other, name: await readName(other) });
    const place = waiting.indexOf(proposal);
    const props = {
      review,
      failed,
      ...(await readLast(ctx)),
      previews: await Promise.all(previews),
      related: await (review.related ??= findRelated(bots, proposal, review.name, review.invite.link)),
      others: named,
      previous: waiting[place - 1],
      next: waiting[place + 1],
    };
    const refusal = failed?.problem === 'text' || failed?.problem === 'reason' ? 422 : 409;
    sendOnce(ctx, { site, viewer }, <ReviewPage {...props} />, ctx.method === 'POST' ? refusal : 200);
  };

  /** Shows a proposal, with the text that was typed before a login if the address names it. */
  const openProposal: ReviewHandler = async (ctx, viewer) => {
    const id = parseQuery(ctx).get('draft');
    if (id === null) return await showProposal(ctx, viewer);
    const draft = await drafts.read(id);
    const { version, decision, ...typed } = parseDecision(new URLSearchParams(draft));
    const isSame = version === findNamed(ctx).version;
    const problem = draft === undefined ? 'expired' : isSame ? 'undecided' : 'changed';
    const state = states.find((known) => known === decision) ?? 'accepted';
    await showProposal(ctx, viewer, { ...typed, state, problem });
  };
  const keepDecision = async (ctx: Context): Promise<string> => {
    const typed = parseDecision(await readFields(ctx, 'shorten the text'));
    const { subject, account } = ctx['params'];
    if (typed.decision === 'taken-back') return withParameter(reviewPath, 'done', `${subject}/${account}`);
    const draft = await drafts.save(String(new URLSearchParams(typed)), ctx.ip);
    return withParameter(ctx.path, 'draft', draft);
  };

  const decide: ReviewHandler = async (ctx, viewer) => {
    const proposal = findNamed(ctx);
    const { version, decision, reason, text } = parseDecision(await readFields(ctx, 'shorten the text'));
    const { subject, proposer } = proposal;
    const reviewer = { id: viewer.id, name: viewer.name };
    const redirect = (to: string): void => redirectTo(ctx, site.languages.of(ctx).href(to));
    if (decision === 'taken-back')
      try {
        await proposals.takeBack(subject, proposer.id, version, reviewer);
        return redirect(toReviewPath(subject, proposer.id));
      } catch (error) {
        if (!(error instanceof ProposalError)) throw error;
        return await showProposal(ctx, viewer, { state: 'accepted', reason, text, problem: 'stands' });
      }
    const state = states.find((known) => known === decision);
    if (state === undefined)
      throw new ProblemError('bad-request', 'the form has no decision: press a button');
    const fail = async (problem: FailedDecision['problem']): Promise<void> =>
      await showProposal(ctx, viewer, { state, reason, text, problem });
    const needsText = state === 'changes-asked' || (state === 'declined' && reason === 'other');
    if (text.length > maxNoteLength || (needsText && text.trim() === '')) return await fail('text');
    const reasons: readonly string[] = site.settings.proposals.reasons ?? defaultReasons;
    if (state === 'declined' && !reasons.includes(reason)) return await fail('reason');
    const place = (await listWaiting()).findIndex((one) => one.proposal === proposal);
    try {
      const taken = { version, state, reviewer, text, reason: state === 'declined' ? reason : null };
      const { shared } = await proposals.decide(subject, proposer.id, taken);
      const waiting = await listWaiting();
      const { proposal: next } = waiting[place] ?? waiting[0] ?? {};
      const to = next === undefined ? reviewPath : toReviewPath(next.subject, next.proposer.id);
      const query = `?done=${subject}/${proposer.id}${shared ? '' : '&shared=no'}`;
      redirect(to + query);
    } catch (error) {
      if (!(error instanceof ProposalError)) throw error;
      if (error.kind === 'not-maintainer') return sendRefusal(ctx, viewer);
      // Another maintainer may have asked for changes in the meantime.
      const isAsked = findNamed(ctx).state === 'changes-asked';
      await fail(error.kind !== 'changed' ? 'blocked' : isAsked ? 'asked' : 'changed');
    }
  };

  /** Ends a report, after the act on its bot that the button names. A removed bot ends all reports about it. */
  const actOnReport: ReviewHandler = async (ctx, { id: account, name }) => {
    const { id, act } = ctx['params'];
    if (act !== 'done' && act !== 'adult' && act !== 'remove')
      throw new ProblemError('not-found', 'there is no such button');
    const all = parts.reports.list();
    const { bot, reason } = all.find((report) => report.id === id) ?? {};
    if (bot && act !== 'done') {
      const by = { id: account, name };
      await proposals.changeBot({ bot, act, by, reason: `Reported by a visitor (${reason})` });
      if (act === 'remove') await parts.tokens.revokeToken(bot, `account ${account}`);
    }
    const ended = all.filter((report) => report.id === id || (act === 'remove' && report.bot === bot));
    for (const report of ended) await parts.reports.remove(report.id);
    redirectTo(ctx, site.languages.of(ctx).href(reportsPath));
  };

  router.get(reviewPath, forMaintainers(showQueue));
  const block = createBlockHandlers(parts, showQueue);
  router.get(blockedPath, forMaintainers(block.show));
  const path = `${reviewPath}/:subject/:account`;
  if (host !== null)
    router.all(path, () => {
      throw new ProblemError('not-found', `proposals are reviewed as pull requests at ${host}`);
    });
  const ownPagesOnly = refuseCrossSite(site.baseUrl);
  router.get(path, forMaintainers(openProposal));
  router.post(path, ownPagesOnly, forMaintainers(decide, keepDecision));
  router.post(blockedPath, ownPagesOnly, forMaintainers(block.act, block.keepForm));
  router.post(
    `${reviewPath}/reports/:id/:act`,
    ownPagesOnly,
    forMaintainers(block.explain(actOnReport), () => reportsPath),
  );
}

const reportsPath = `${reviewPath}?tab=reports`;

/** Returns the fields of a form for a decision. */
function parseDecision(fields: URLSearchParams) {
  const get = (name: string): string => fields.get(name) ?? '';
  return { version: get('version'), decision: get('decision'), reason: get('reason'), text: get('text') };
}

/** Maximum number of proposals that are read to rank them. */
const maxRanked = 500;

/** Maximum number of other proposals of the account that are shown. */
const maxOthers = 10;

const states = ['accepted', 'changes-asked', 'declined'] as const satisfies readonly Decision['state'][];
