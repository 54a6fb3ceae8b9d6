import type { Router } from '@koa/router';
import type { Context } from 'koa';
import type { VNode } from 'preact';
import type { AccountId } from '../../bot/commit-message.ts';
import type { BotIndex } from '../../catalogue/store/bot-index.ts';
import { refuseCrossSite } from '../../http/middleware.ts';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery, readFields } from '../../http/request.ts';
import {
  parsePages,
  ProposalError,
  type ProposalErrorKind,
  type Proposal,
  isBot,
  parseSubject,
  type Subject,
  toSubjectFolder,
  toSubjectPath,
} from '../../proposals/proposal.ts';
import type { Proposals } from '../../proposals/proposals.ts';
import { toEditAgainPath } from '../add/forms.ts';
import { Preview, type PreviewProps } from '../page/preview.tsx';
import { ChangedFields, compareWords } from '../../site/changes/changed-fields.tsx';
import { useLanguage } from '../../site/page/page-context.tsx';
import { toProposalPath } from '../../site/page/addresses.ts';
import { Conversation, Step } from '../page/conversation.tsx';
import { BackLink, NameLink, PostButton, Since } from '../../site/page/elements.tsx';
import { redirectTo, sendOnce } from '../../site/page/html-response.ts';
import { Layout, myBotsPath } from '../../site/page/layout.tsx';
import { sendLogInPage } from '../page/message-page.tsx';
import type { NamedProposal } from '../review/review-page.tsx';
import { createReviewReader, renderPreview, type Review } from '../review/reviews.ts';
import { noteAnswersRead } from './login-pages.tsx';
import type { ProposalParts } from '../page/desk-parts.ts';

/** `/proposals/:subject`: the last proposal of the logged-in account for a bot, a collection or its profile, and the button that withdraws it. */
export function addProposalRoutes(router: Router, parts: ProposalParts): void {
  const { site, viewerOf, proposals, login, hostReview } = parts;
  const readOwn = createReviewReader(parts, 'sent');
  /** Withdraws the proposal if the button was pressed. Otherwise, or on failure, shows the proposal. */
  const respond = async (ctx: Context): Promise<void> => {
    const subject = parseSubject(ctx['params'].subject ?? '');
    if (subject === undefined) throw new ProblemError('not-found', 'this is not the ID of a bot');
    const viewer = await viewerOf(ctx);
    if (viewer === null) return sendLogInPage(ctx, site, toProposalPath(subject), 'myBots.visitor');
    let error: ProposalPageProps['error'] = null;
    if (ctx.method === 'POST') {
      const form = await readFields(ctx, 1024, 'send only the version');
      try {
        const { shared } = await proposals.withdraw(subject, viewer.id, form.get('version') ?? '');
        return redirectTo(ctx, site.languages.of(ctx).href(toProposalPath(subject, shared)));
      } catch (thrown) {
        if (!(thrown instanceof ProposalError)) throw thrown;
        error = thrown.kind === 'changed' ? 'changed' : 'gone';
      }
    }
    const proposal = proposals.list.findLast(subject, viewer.id);
    if (proposal === undefined) throw new ProblemError('not-found', `you have no proposal for ${subject}`);
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
  router.get('/proposals/:subject', respond);
  router.post('/proposals/:subject/withdraw', refuseCrossSite(site.baseUrl), respond);
}

/**
 * Returns the last proposal of an account for each bot: waiting ones first, then by time, newest first; at most as
 * many as a page can show.
 */
export async function listProposals(
  bots: Pick<BotIndex, 'get'>,
  proposals: Pick<Proposals, 'list' | 'read'>,
  account: AccountId,
): Promise<NamedProposal[]> {
  const all = proposals.list.listOf(account);
  const last = new Map<Subject, Proposal>();
  for (const proposal of all)
    if (proposal.closedAt === null || !last.has(proposal.subject)) last.set(proposal.subject, proposal);
  const list = [...last.values()].toSorted(
    (a, b) => Number(a.closedAt !== null) - Number(b.closedAt !== null),
  );
  const shown = list.slice(0, maxListed).map(async (proposal) => {
    return { proposal, name: await readName(bots, proposals, proposal) };
  });
  return await Promise.all(shown);
}

const maxListed = 50;

/** Returns the name of a bot as listed or as proposed; for any other file, its path. */
async function readName(
  bots: Pick<BotIndex, 'get'>,
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
  const { t, text } = useLanguage();
  return (
    <Layout title={text('proposal.title', { name })} isUnlisted script="sentScript">
      <div class="narrow stack">
        <BackLink path={myBotsPath} name={text('proposal.myBots')} />
        <h1>{t('proposal.title', { name })}</h1>
        {error !== null && (
          <p class="notice bad" role="alert">
            {t(`proposal.${error}`)}
          </p>
        )}
        {!isShared && <p class="notice">{t('proposal.notShared')}</p>}
        <section class="own-proposal panel stack" aria-labelledby="state">
          <h2 id="state">{t(`proposal.${proposal.state}`)}</h2>
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
  const { t, duration } = useLanguage();
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
  return proposal.state === 'withdrawn' || !steps[0] ? null : <Step step={steps[0]} at={steps[0].at} />;
}

function NextActions({ review: { details } }: ProposalPageProps): VNode | null {
  const { t, href } = useLanguage();
  const { proposal, sent, before } = details;
  if (proposal.state === 'accepted') return null;
  const paths = [...sent.keys()];
  return (
    <div class="actions">
      {paths.map((path) => (
        <a key={path} class="button" href={href(toEditAgainPath(path, before))}>
          {t('proposal.editAgain')} {paths.length > 1 && `(${path.split('.').at(-2)})`}
        </a>
      ))}
      {proposal.closedAt === null && (
        <PostButton
          path={`${toProposalPath(proposal.subject)}/withdraw`}
          look="quiet"
          version={proposal.version}
        >
          {t('proposal.withdraw')}
        </PostButton>
      )}
    </div>
  );
}

export interface OwnProposalsProps {
  readonly proposals: readonly NamedProposal[];
  /** The proposals with an answer that the account has not read yet. */
  readonly unread: readonly Proposal[];
}

/** The proposals of an account with their answers: open and unread ones first, the others folded. */
export function OwnProposals({ proposals, unread }: OwnProposalsProps): VNode {
  const { t } = useLanguage();
  const createList = (isShown: boolean): VNode | null => {
    const shown = proposals.filter(
      ({ proposal }) => (proposal.closedAt === null || unread.includes(proposal)) === isShown,
    );
    if (shown.length === 0) return null;
    const items = shown.map(({ proposal, name }) => (
      <li key={proposal.ref}>
        <NameLink path={toProposalPath(proposal.subject)} name={name} />{' '}
        <strong>{t(`proposal.${proposal.state}`)}</strong>{' '}
        {unread.includes(proposal) && <span class="tag">{t('proposal.unread')}</span>}{' '}
        {isShown && proposal.state !== 'waiting' ? (
          <Step step={proposal} at={proposal.at} />
        ) : (
          <span class="muted">
            <Since at={proposal.at} />
          </span>
        )}
      </li>
    ));
    return <ul class="own-proposals">{items}</ul>;
  };
  const closed = createList(false);
  return (
    <section class="stack" aria-labelledby="proposals">
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
