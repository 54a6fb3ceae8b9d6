import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery, readFields, refuseCrossSite } from '../../http/request.ts';
import {
  ProposalError,
  type ProposalErrorKind,
  type Proposal,
  isBot,
  isSentByBot,
  parseSubject,
  toProposalPath,
  toSubjectPath,
  createOwns,
} from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { toEditAgainPath } from '../add/forms.ts';
import { ChangedFields, compareWords } from '../../site/changes/changed-fields.tsx';
import { usePage } from '../../site/page/page-context.tsx';
import { toSharedPath, myBotsPath } from '../../site/page/addresses.ts';
import { BackLink, NameLink, PostButton, Since } from '../../site/page/elements.tsx';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import { Layout } from '../../site/page/layout.tsx';
import {
  Conversation,
  Preview,
  type PreviewProps,
  sendLogInPage,
  Step,
  SubjectAvatar,
} from '../page/elements.tsx';
import { describeKind, type NamedProposal } from '../review/review-page.tsx';
import { createReviewReader, renderPreview, type Review } from '../review/reviews.ts';
import { noteAnswersRead } from './login-pages.tsx';
import type { ProposalParts } from '../page/desk-parts.ts';

/**
 * `/proposals/:subject`: the last proposal of the logged-in account for a bot, a collection or its profile, and the
 * button that withdraws it. `/proposals/:subject/bot`: the last one that the bot itself sent, for its authors.
 */
export function addProposalRoutes(router: Router, parts: ProposalParts): void {
  const { site, bots, viewerOf, proposals, login, hostReview } = parts;
  const readOwn = createReviewReader(parts, 'sent');
  /** Withdraws the proposal if the button was pressed. Otherwise, or on failure, shows the proposal. */
  const respond = async (ctx: Context, end: string): Promise<void> => {
    const subject = parseSubject(ctx['params'].subject ?? '');
    if (subject === undefined) throw new ProblemError('not-found', 'this is not the ID of a bot');
    const viewer = await viewerOf(ctx);
    const path = `/proposals/${subject}${end}`;
    if (viewer === null) return sendLogInPage(ctx, site, path, 'myBots.visitor');
    const find = (): Proposal => {
      const all = proposals.list.listOf(viewer.id, createOwns(bots, viewer.id));
      const own = all.filter((one) => toProposalPath(one) === path);
      const proposal = own.find(({ closedAt }) => closedAt === null) ?? own[0];
      if (proposal) return proposal;
      throw new ProblemError('not-found', `you have no proposal for ${subject}`);
    };
    let error: ProposalPageProps['error'] = null;
    if (ctx.method === 'POST') {
      const form = await readFields(ctx, 'send only the version');
      try {
        const version = form.get('version') ?? '';
        const { shared } = await proposals.withdraw(subject, find().proposer.id, version, viewer);
        return redirectTo(ctx, site.languages.of(ctx).href(toSharedPath(path, shared)));
      } catch (thrown) {
        if (!(thrown instanceof ProposalError)) throw thrown;
        error = thrown.kind === 'changed' ? 'changed' : 'gone';
      }
    }
    const proposal = find();
    const { answered = [] } = viewer;
    const isRead = answered.length > 0 && answered.every((other) => other.subject === subject);
    if (login && isRead) await noteAnswersRead(ctx, login);
    const review = await readOwn(proposal);
    await compareWords(review.pages);
    const previews = review.pages.map(({ locale }) => renderPreview(parts, review.after, locale, true));
    const props: ProposalPageProps = {
      review,
      previews: (await Promise.all(previews)).filter((preview) => preview !== undefined),
      before: proposals.list.waiting.indexOf(proposal),
      medianWaitMs: proposals.list.medianWaitMs(),
      pullRequest: hostReview?.findLink(proposal),
      isShared: parseQuery(ctx).get('shared') !== 'no',
      error,
    };
    const visit = { site, viewer: isRead ? { ...viewer, answered: [] } : viewer };
    sendOnce(ctx, visit, <ProposalPage {...props} />, error === null ? 200 : 409);
  };
  for (const end of ['', '/bot']) {
    const path = `/proposals/:subject${end}`;
    const handle = async (ctx: Context): Promise<void> => await respond(ctx, end);
    router.get(path, handle);
    router.post(`${path}/withdraw`, refuseCrossSite(site.baseUrl), handle);
  }
}

/** A proposal as its account sees it in a list. */
interface OwnProposal extends NamedProposal {
  /** The bot, if it is listed. */
  readonly listed: IndexedBot | undefined;
  /** Undefined if the proposal cannot be read, or has ended and is about a listed bot. */
  readonly review: Review | undefined;
}

/**
 * Returns the last proposal of an account for each bot, and of each of its bots itself: waiting ones first, then by
 * time, newest first; at most as many as a page can show.
 */
export async function listProposals(
  list: Proposals['list'],
  bots: BotIndex,
  readReview: (proposal: Proposal) => Promise<Review>,
  account: AccountId,
): Promise<OwnProposal[]> {
  const last = new Map<string, Proposal>();
  for (const proposal of list.listOf(account, createOwns(bots, account))) {
    const path = toProposalPath(proposal);
    if (proposal.closedAt === null || !last.has(path)) last.set(path, proposal);
  }
  const sorted = [...last.values()].toSorted(
    (a, b) => Number(a.closedAt !== null) - Number(b.closedAt !== null),
  );
  const shown = sorted.slice(0, maxListed).map(async (proposal): Promise<OwnProposal> => {
    const { subject, proposer, closedAt } = proposal;
    const listed = isBot(subject) ? bots.get(subject) : undefined;
    const isRead = listed === undefined || closedAt === null;
    const review = isRead ? await readReview(proposal).catch(() => undefined) : undefined;
    const unread = subject.startsWith('profile-') ? proposer.name : subject;
    return { proposal, listed, review, name: listed?.facts.name ?? review?.name ?? unread };
  });
  return await Promise.all(shown);
}

const maxListed = 50;

interface ProposalPageProps {
  readonly review: Review;
  /** The pages as they were sent, except for those with errors. */
  readonly previews: readonly PreviewProps[];
  /** The number of proposals that are reviewed first. */
  readonly before: number;
  /** The median time to a decision, in milliseconds; undefined without recent decisions. */
  readonly medianWaitMs: number | undefined;
  /** The address of the pull request at the Git host; undefined if there is no such request. */
  readonly pullRequest: string | undefined;
  /** Whether the proposal was shared with the other machines. */
  readonly isShared: boolean;
  /** Why the proposal was not withdrawn; null if nobody tried. */
  readonly error: Extract<ProposalErrorKind, 'gone' | 'changed'> | null;
}

/** The page on which an account follows its proposal. */
function ProposalPage(props: ProposalPageProps): VNode {
  const { review, previews, pullRequest, isShared, error } = props;
  const { name, details } = review;
  const { proposal, steps } = details;
  const { t, text } = usePage();
  return (
    <Layout
      title={text('proposal.title', { name })}
      isUnlisted
      script="sentScript"
      head={
        <>
          <BackLink path={myBotsPath} name={text('myBots.title')} />
          <h1>{t('proposal.title', { name })}</h1>
        </>
      }
    >
      <div class="narrow stack">
        {error !== null && (
          <p class="notice bad" role="alert">
            {t(`proposal.${error}`)}
          </p>
        )}
        {!isShared && <p class="notice">{t('proposal.notShared')}</p>}
        <section class="own-proposal panel stack" aria-labelledby="state">
          <h2 id="state">{t(`proposal.${proposal.state}`)}</h2>
          {isSentByBot(proposal) && <p>{t('review.isBot')}</p>}
          <State {...props} />
          {pullRequest !== undefined && (
            <p>
              <a href={pullRequest}>{t('proposal.pullRequest')}</a>
            </p>
          )}
          <NextActions {...props} />
        </section>
        <Conversation steps={steps} />
        <section class="panel stack" aria-labelledby="change">
          <h2 id="change">{t('edit.change')}</h2>
          <ChangedFields {...review} />
        </section>
        {previews.length > 0 && (
          <section class="stack" aria-labelledby="preview">
            <h2 id="preview">{t('add.preview')}</h2>
            {previews.map((preview) => (
              <Preview key={preview.preview?.locale} {...preview} />
            ))}
          </section>
        )}
      </div>
    </Layout>
  );
}

/** Explains the state, and the next step. */
function State({ review, before, medianWaitMs }: ProposalPageProps): VNode | null {
  const { name, details } = review;
  const { proposal, steps } = details;
  const { t, duration } = usePage();
  if (proposal.state === 'waiting')
    return (
      <>
        <p>
          {t('proposal.sent')} <Since at={proposal.at} />
          {'. '}
          {before === 0 ? t('proposal.first') : t('proposal.before', { count: before })}
        </p>
        <p>{t('proposal.next')}</p>
        {medianWaitMs !== undefined && <p>{t('proposal.median', { time: duration(medianWaitMs) })}</p>}
      </>
    );
  if (proposal.state === 'accepted')
    return (
      <p>
        {t(proposal.reviewer === null ? 'proposal.published' : 'proposal.listed')}{' '}
        <NameLink path={toSubjectPath(proposal.subject)} name={name} />
      </p>
    );
  return proposal.state === 'withdrawn' || !steps[0] ? null : <Step step={steps[0]} />;
}

function NextActions({ review: { details } }: ProposalPageProps): VNode | null {
  const { t, href } = usePage();
  const { proposal, sent, before } = details;
  if (proposal.state === 'accepted') return null;
  const paths = [...sent.keys()];
  const botVersion = isSentByBot(proposal) ? proposal.version : undefined;
  return (
    <div class="actions">
      {paths.map((path) => (
        <a key={path} class="button" href={href(toEditAgainPath(path, before, botVersion))}>
          {t('proposal.editAgain')} {paths.length > 1 && `(${path.split('.').at(-2)})`}
        </a>
      ))}
      {proposal.closedAt === null && (
        <PostButton path={`${toProposalPath(proposal)}/withdraw`} look="quiet" version={proposal.version}>
          {t('proposal.withdraw')}
        </PostButton>
      )}
    </div>
  );
}

export interface OwnProposalsProps {
  readonly proposals: readonly OwnProposal[];
  /** The proposals with an answer that the account has not read yet. */
  readonly unread: readonly Proposal[];
  /** As on the page of a proposal. */
  readonly medianWaitMs: number | undefined;
}

/** The proposals of an account with their answers: open and unread ones first, the others folded. */
export function OwnProposals({ proposals, unread, medianWaitMs }: OwnProposalsProps): VNode {
  const { t } = usePage();
  const createList = (isShown: boolean): VNode | null => {
    const shown = proposals.filter(
      ({ proposal }) => (proposal.closedAt === null || unread.includes(proposal)) === isShown,
    );
    if (shown.length === 0) return null;
    const rows = shown.map((own) => (
      <OwnRow key={own.proposal.ref} {...{ ...own, medianWaitMs }} isUnread={unread.includes(own.proposal)} />
    ));
    return <ul class="desk">{rows}</ul>;
  };
  const closed = createList(false);
  return (
    <section class="shelf stack" aria-labelledby="proposals">
      <h2 id="proposals">{t('proposal.mine')}</h2>
      {createList(true)}
      {closed && (
        <details>
          <summary>{t('proposal.past')}</summary>
          {closed}
        </details>
      )}
    </section>
  );
}

interface OwnRowProps extends OwnProposal, Pick<OwnProposalsProps, 'medianWaitMs'> {
  readonly isUnread: boolean;
}

/** A proposal with the words of its reviewer, and one button: a strong one only if the account has to answer. */
function OwnRow({ proposal, name, listed, review, isUnread, medianWaitMs }: OwnRowProps): VNode {
  const language = usePage();
  const { t, href, duration } = language;
  const { subject, state, sentAt, proposer } = proposal;
  const path = toProposalPath(proposal);
  const action = state === 'changes-asked' ? 'answer' : state === 'accepted' ? 'seePage' : 'open';
  return (
    <li>
      <SubjectAvatar bot={isBot(subject) ? subject : proposer.id} {...{ name, listed }} size={56} />
      <div>
        <h3>
          <NameLink path={path} name={name} />{' '}
          <span class={`tag ${action === 'answer' ? 'warning' : action === 'open' ? 'quiet' : ''}`.trim()}>
            {t(action === 'answer' ? 'proposal.needsAnswer' : `proposal.${state}`)}
          </span>{' '}
          {isUnread && <span class="tag">{t('proposal.unread')}</span>}
        </h3>
        <p class="state">
          {review && <>{describeKind(review, language)} · </>}
          {isSentByBot(proposal) && <>{t('review.isBot')} · </>}
          {t('proposal.sent')} <Since at={sentAt} />
          {state === 'waiting' && medianWaitMs !== undefined && (
            <> · {t('proposal.median', { time: duration(medianWaitMs) })}</>
          )}
        </p>
        {state !== 'waiting' && <Step step={proposal} />}
      </div>
      <a
        class={action === 'answer' ? 'button' : 'button quiet'}
        href={href(action === 'seePage' ? toSubjectPath(subject) : path)}
      >
        {t(`proposal.${action}`)}
      </a>
    </li>
  );
}
