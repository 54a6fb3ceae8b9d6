import type { Router } from '@koa/router';
import type { Context } from 'koa';
import { parseAccountId } from '../../bot/account.ts';
import { type BotId, parseBotId } from '../../bot/id.ts';
import { listElement, noCachedImages } from '../../bot/record.ts';
import type { BotRecord } from '../../bot/schema-types.ts';
import type { Locale } from '../../bot/locale.ts';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import { parseListElement } from '../../catalogue/store/bot-index.ts';
import { findImages } from '../../catalogue/store/page-images.ts';
import { refuseCrossSite } from '../../http/cross-site.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseFields, parseQuery } from '../../http/query.ts';
import { type BodyRules, readText } from '../../http/request-body.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import { ProposalError } from '../../proposals/proposal-error.ts';
import type { Decision, Proposals } from '../../proposals/proposals.ts';
import type { PreviewProps } from '../add/preview.tsx';
import { findCopies } from '../markdown/markdown-images.ts';
import { reviewPath, toReviewPath } from '../page/addresses.ts';
import { sendOnce } from '../page/html-response.ts';
import type { Viewer } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import type { Attention } from './attention.ts';
import { ClosedPage, NotMaintainerPage } from './other-pages.tsx';
import { QueuePage } from './queue-page.tsx';
import { createRelatedReader } from './related.ts';
import { type DecisionProblem, maxTextLength, ReviewPage, type SentDecision } from './review-page.tsx';
import type { DoneProps } from './review-texts.tsx';
import { compareWords, createReviewReader, type Review } from './reviews.ts';

/**
 * Adds the pages of the review, for maintainers only: each request reads from the last commit who is one. `/review` has
 * what waits, `/review/:bot/:account` a proposal. A decision is about the version that the form carries.
 */
export function addReviewRoutes(
  router: Router,
  parts: SiteParts,
  proposals: Proposals,
  findAttention: () => Promise<Attention>,
): void {
  const { site, bots, viewerOf, markdown, copyOf } = parts;
  const readReview = createReviewReader(proposals);
  const findRelated = createRelatedReader(bots);
  type Handler = (ctx: Context, viewer: Viewer) => Promise<void>;

  const forMaintainers =
    (handle: Handler) =>
    async (ctx: Context): Promise<void> => {
      const viewer = await viewerOf(ctx);
      const { href, publicPath } = site.languages.of(ctx);
      if (viewer === null) {
        ctx.redirect(publicPath(`/login?to=${encodeURIComponent(href(ctx.path))}`));
        ctx.status = 303;
      } else if (viewer.toReview === undefined) refuse(ctx, viewer);
      else await handle(ctx, viewer);
    };
  const refuse = (ctx: Context, viewer: Viewer): void =>
    sendOnce(ctx, <NotMaintainerPage site={site} viewer={viewer} />, site.languages.of(ctx), 403);
  const listWaiting = (): Proposal[] => proposals.open.filter(({ state }) => state === 'waiting');
  /** Returns the proposal that a path names, or the last one that it named; undefined where there was none. */
  const findLast = (bot = '', account = ''): Proposal | undefined => {
    const [botId, accountId] = [parseBotId(bot), parseAccountId(account)];
    if (botId === undefined || accountId === undefined) return undefined;
    return (
      proposals.find(botId, accountId) ??
      proposals.listOf(accountId).find((proposal) => proposal.bot === botId)
    );
  };
  const readDone = async (ctx: Context): Promise<DoneProps> => {
    const params = parseQuery(ctx);
    const proposal = findLast(...(params.get('done') ?? '').split('-', 2));
    if (proposal === undefined || proposal.state === 'waiting') return { done: undefined };
    const { name } = await readReview(proposal);
    return { done: { name, proposal, isShared: params.get('shared') !== 'no' } };
  };

  const showQueue: Handler = async (ctx, viewer) => {
    const page = Math.trunc(Number(parseQuery(ctx).get('page') ?? 1));
    const open = [...listWaiting(), ...proposals.open.filter(({ state }) => state !== 'waiting')];
    const pages = Math.max(1, Math.ceil(open.length / pageSize));
    if (!(page >= 1 && page <= pages)) throw new ProblemError('not-found', `there is no page ${page}`);
    const shown = open.slice((page - 1) * pageSize, page * pageSize);
    const rows: Review[] = [];
    for (const proposal of shown) rows.push(await readReview(proposal));
    const [attention, median] = [await findAttention(), proposals.medianWaitMs()];
    const more = page === 1 ? { bots, attention, reports: parts.reports.list() } : undefined;
    const props = { site, viewer, rows, page, pages, more, median, ...(await readDone(ctx)) };
    sendOnce(ctx, <QueuePage {...props} />, site.languages.of(ctx));
  };

  const showProposal = async (
    ctx: Context,
    viewer: Viewer,
    failed?: { sent: SentDecision; problem: DecisionProblem; status: number },
  ): Promise<void> => {
    const { bot = '', account = '' } = ctx.params as Readonly<Record<string, string>>;
    const proposal = findLast(bot, account);
    if (proposal === undefined) throw new ProblemError('not-found', 'there is no such proposal');
    const waiting = listWaiting();
    if (proposal.closedAt !== null) {
      const props = { site, viewer, proposal, next: waiting[0] };
      sendOnce(ctx, <ClosedPage {...props} />, site.languages.of(ctx), ctx.method === 'POST' ? 409 : 200);
      return;
    }
    const review = await readReview(proposal);
    await compareWords(review);
    const place = waiting.indexOf(proposal);
    const previews = review.pages.map(
      async ({ locale }) =>
        await Promise.all([toPreview(review.before, locale, false), toPreview(review.after, locale, true)]),
    );
    const others = proposals.listOf(proposal.proposer.id).filter((other) => other !== proposal);
    const props = {
      site,
      viewer,
      review,
      failed,
      ...(await readDone(ctx)),
      previews: await Promise.all(previews),
      related: await findRelated(proposal, review.name, String(review.data['invite'])),
      others: others.slice(0, maxOthers),
      previous: waiting[place - 1],
      next: waiting[place + 1],
    };
    sendOnce(ctx, <ReviewPage {...props} />, site.languages.of(ctx), failed?.status ?? 200);
  };

  /** Renders a page of a bot. Images come from our own copies only. */
  const toPreview = async (
    record: BotRecord | undefined,
    locale: Locale,
    isProposed: boolean,
  ): Promise<PreviewProps | undefined> => {
    const content = record?.contents[locale];
    if (record === undefined || content === undefined) return undefined;
    const { name, page } = content;
    const source = { text: page, name, images: findCopies(findImages(page), copyOf) };
    const html = isProposed ? await markdown.renderProposed(source) : (await markdown.render(source)).html;
    const indexed = bots.get(record.id as BotId);
    const { images, cachedImages } = indexed === undefined ? record : parseListElement(indexed);
    const isSame = images.avatar === record.images.avatar;
    const bot = listElement({ ...record, cachedImages: isSame ? cachedImages : noCachedImages });
    const preview = { bot, locale, namesLanguage: false, count: undefined, growth: undefined };
    return { preview, file: { page }, html };
  };

  const decide: Handler = async (ctx, viewer) => {
    const proposal = findLast(ctx.params['bot'], ctx.params['account']);
    if (proposal === undefined) throw new ProblemError('not-found', 'there is no such proposal');
    const sent = readDecision(parseFields(await readText(ctx, formRules)));
    const { reason, text } = sent;
    const state = states.find((known) => known === sent.decision);
    if (state === undefined)
      throw new ProblemError('bad-request', 'the form has no decision: press a button');
    const reasons: readonly string[] = site.settings.proposals.reasons ?? defaultReasons;
    const lacksText = text.length > maxTextLength || (state === 'changes-asked' && text.trim() === '');
    if (lacksText || (state === 'declined' && !reasons.includes(reason))) {
      await showProposal(ctx, viewer, { sent, problem: lacksText ? 'text' : 'reason', status: 422 });
      return;
    }
    const { bot, proposer } = proposal;
    const place = listWaiting().indexOf(proposal);
    try {
      const { shared } = await proposals.decide(bot, proposer.id, {
        ...sent,
        state,
        reviewer: { id: viewer.id, name: viewer.name },
        reason: state === 'declined' ? reason : null,
      });
      const waiting = listWaiting();
      const next = waiting[place] ?? waiting[0];
      const to = next === undefined ? reviewPath : toReviewPath(next.bot, next.proposer.id);
      const query = `?done=${bot}-${proposer.id}${shared ? '' : '&shared=no'}`;
      ctx.redirect(site.languages.of(ctx).href(to + query));
      ctx.status = 303;
    } catch (error) {
      if (!(error instanceof ProposalError)) throw error;
      if (error.kind === 'not-maintainer') return refuse(ctx, viewer);
      const problem = error.kind === 'changed' ? 'changed' : 'blocked';
      await showProposal(ctx, viewer, { sent, problem, status: 409 });
    }
  };

  const removeReport: Handler = async (ctx) => {
    await parts.reports.remove(String(ctx['params'].id));
    ctx.redirect(site.languages.of(ctx).href(reviewPath));
    ctx.status = 303;
  };

  router.get(reviewPath, forMaintainers(showQueue));
  router.get(`${reviewPath}/:bot/:account`, forMaintainers(showProposal));
  router.post(`${reviewPath}/:bot/:account`, refuseCrossSite(site.baseUrl), forMaintainers(decide));
  router.post(`${reviewPath}/reports/:id/done`, refuseCrossSite(site.baseUrl), forMaintainers(removeReport));
}

const pageSize = 50;

/** Other proposals of the account that are shown. */
const maxOthers = 10;

const states = ['accepted', 'changes-asked', 'declined'] as const satisfies readonly Decision['state'][];

const formRules: BodyRules = {
  type: ['application/x-www-form-urlencoded', 'a form'],
  limit: 16 * 1024,
  whenTooLarge: 'shorten the text',
};

/** Browsers send line ends as two characters, and count one. */
function readDecision(fields: URLSearchParams): SentDecision {
  const read = (name: string): string => (fields.get(name) ?? '').replaceAll('\r\n', '\n');
  return { version: read('version'), decision: read('decision'), reason: read('reason'), text: read('text') };
}
