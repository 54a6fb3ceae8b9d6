import type { VNode } from 'preact';
import type { BotIndex, IndexedBot } from '../../catalogue/store/bot-index.ts';
import { isBot, isSentByBot, type Proposal } from '../../proposals/proposal.ts';
import type { VisitorReport } from '../../proposals/visitor-reports.ts';
import { usePage } from '../../site/page/page-context.tsx';
import { blockedPath, editPath, reviewPath, toReviewPath, withParameter } from '../../site/page/addresses.ts';
import { Step, SubjectAvatar } from '../page/elements.tsx';
import { NameLink, PostButton, Since } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { Layout, PageLinks, type PageLinksProps } from '../../site/page/layout.tsx';
import { AttentionList } from './attention-list.tsx';
import type { Attention } from '../../site/discover/attention.ts';
import { BlockedList, type BlockedListProps } from './block-page.tsx';
import {
  describeKind,
  FieldNames,
  KeysHint,
  LastDecision,
  type LastDecisionProps,
  Refusal,
} from './review-page.tsx';
import { findRisk, type Review } from './reviews.ts';

/** The tabs of the review. */
export const tabs = ['waiting', 'reports', 'attention', 'decided', 'blocked'] as const;
type Tab = (typeof tabs)[number];

/** The kinds of proposals, which the queue can show alone. */
export const reviewKinds = ['new', 'edit', 'translation'] as const;
type ReviewKind = (typeof reviewKinds)[number];

export interface QueueRow {
  readonly proposal: Proposal;
  /**
   * Undefined if the proposal cannot be read. Its page responds with the reason then, so the row itself has the form
   * that declines it.
   */
  readonly review: Review | undefined;
  readonly name: string;
  /** The number of listed bots that name the proposer as an author. */
  readonly botCount: number;
  /** Whether the account has no bot and no other proposal. */
  readonly isFirst: boolean;
}

interface QueuePageProps extends LastDecisionProps, Pick<PageLinksProps, 'page' | 'pages'> {
  readonly tab: Tab;
  /** The repository at the Git host if proposals are reviewed there; otherwise null. */
  readonly host: string | null;
  /** The number of waiting proposals, in all and of each kind. */
  readonly waiting: number;
  readonly kindCounts: ReadonlyMap<ReviewKind, number>;
  /** The only kind of waiting proposals that is shown; undefined for all. */
  readonly kind: ReviewKind | undefined;
  /** The proposals of this page: waiting ones with the riskiest first, or decided ones with the latest decision first. */
  readonly rows: readonly QueueRow[];
  /** The median time to a decision, in milliseconds. */
  readonly median: number | undefined;
  readonly reports: readonly VisitorReport[];
  readonly attention: Attention;
  readonly bots: Pick<BotIndex, 'get'>;
  readonly blocked: BlockedListProps;
}

/** The work that waits for a maintainer, in a tab for each kind. */
export function QueuePage(props: QueuePageProps): VNode {
  const { tab, host, waiting, kind, reports, bots, attention, median, page, pages } = props;
  const { t, text, href, duration, integer } = usePage();
  const counts: Partial<Record<Tab, number>> = {
    waiting,
    reports: reports.length,
    attention: attention.groups.reduce((sum, { total }) => sum + total, 0),
  };
  const path = kind === undefined ? toTabPath(tab) : toKindPath(kind);
  return (
    <Layout
      title={text('review.title')}
      current={reviewPath}
      isUnlisted
      {...(tab === 'waiting' && { script: 'reviewScript' })}
      head={
        <>
          <h1>{t('review.title')}</h1>
          {tab === 'waiting' && (
            <p>
              {t('review.order')} {median !== undefined && t('proposal.median', { time: duration(median) })}
            </p>
          )}
        </>
      }
      beside={
        <nav aria-label={text('review.title')}>
          <ul class="tabs">
            {tabs.map((name) => (
              <li key={name} class={name === 'reports' && reports.length > 0 ? 'due' : undefined}>
                <a href={href(toTabPath(name))} aria-current={name === tab ? 'page' : undefined}>
                  {t(name === 'waiting' ? 'proposal.waiting' : `review.tab.${name}`)}{' '}
                  {counts[name] !== undefined && <small>{integer(counts[name])}</small>}
                </a>
              </li>
            ))}
          </ul>
        </nav>
      }
    >
      <div class="stack">
        <LastDecision {...props} />
        {tab === 'waiting' && host !== null && (
          <p>{t('review.atHost', { host: <a href={host}>{host}</a> })}</p>
        )}
        {tab === 'waiting' && host === null && <Waiting {...props} />}
        {tab === 'reports' && <VisitorReportList {...props} />}
        {tab === 'attention' && <AttentionList {...{ attention, bots }} />}
        {tab === 'decided' && <Decided {...props} />}
        {tab === 'blocked' && <BlockedList {...props.blocked} />}
        <PageLinks
          {...{ page, pages }}
          pathOf={(number) => href(withParameter(path, 'page', String(number)))}
        />
        {tab === 'waiting' && <KeysHint />}
      </div>
    </Layout>
  );
}

function toTabPath(tab: Tab): string {
  if (tab === 'blocked') return blockedPath;
  return tab === 'waiting' ? reviewPath : `${reviewPath}?tab=${tab}`;
}

function toKindPath(kind: ReviewKind): string {
  return `${reviewPath}?kind=${kind}`;
}

/** Links to the waiting proposals of each kind. */
function KindLinks({ kind: current, waiting, kindCounts }: QueuePageProps): VNode {
  const { t, text, href, integer } = usePage();
  const choices = [undefined, ...reviewKinds].map((kind) => (
    <li key={kind}>
      <a
        class="chip"
        href={href(kind === undefined ? reviewPath : toKindPath(kind))}
        aria-current={kind === current ? 'true' : undefined}
      >
        {t(`review.kind.${kind ?? 'all'}`)}{' '}
        <small>{integer(kind ? (kindCounts.get(kind) ?? 0) : waiting)}</small>
      </a>
    </li>
  ));
  return (
    <nav class="list-filters" aria-label={text('list.filters')}>
      <ul class="chips">{choices}</ul>
    </nav>
  );
}

function Waiting(props: QueuePageProps): VNode {
  const { rows, bots, waiting } = props;
  const { t } = usePage();
  const heads = (['bot', 'proposed', 'from', 'sent', 'lookAt'] as const).map((name) => (
    <th key={name} scope="col" role="columnheader">
      {t(name === 'sent' ? 'proposal.sent' : `review.head.${name}`)}
    </th>
  ));
  return (
    <>
      {waiting > 0 && <KindLinks {...props} />}
      {rows.length === 0 && <p class="muted">{t('review.none')}</p>}
      {rows.length > 0 && (
        <table class="rows" role="table">
          <thead role="rowgroup">
            <tr role="row">{heads}</tr>
          </thead>
          <tbody role="rowgroup">
            {rows.map((row) => (
              <Row key={row.proposal.ref} {...row} bots={bots} />
            ))}
          </tbody>
        </table>
      )}
    </>
  );
}

function Row(row: QueueRow & Pick<QueuePageProps, 'bots'>): VNode {
  const { bots, proposal, review, name, botCount, isFirst } = row;
  const language = usePage();
  const { t } = language;
  const { subject, proposer, sentAt, queuedAt = sentAt } = proposal;
  const listed = isBot(subject) ? bots.get(subject) : undefined;
  const fields = review?.pages.flatMap((page) => page.fields) ?? [];
  const names = [...new Set(fields.map((field) => field.name))].slice(0, maxNames);
  const isAuthor = review?.details.kind === 'authors';
  return (
    <tr role="row">
      <td role="cell">
        <div class="who">
          <SubjectAvatar bot={isBot(subject) ? subject : proposer.id} {...{ name, listed }} size={40} />
          <div>
            <NameLink path={toReviewPath(subject, proposer.id)} name={name} look="name" />
            {review && <small>{describeKind(review, language)}</small>}
          </div>
        </div>
      </td>
      <td role="cell">
        <div class="proposed" dir="auto">
          {review?.kind === 'edit' && <FieldNames names={names} />}
          {review?.kind !== 'edit' && fields.find((field) => field.name === 'description')?.after}
          {review === undefined && t('review.unreadable')}
        </div>
      </td>
      <td role="cell" class="stay">
        <bdi>{withoutBidiControls(proposer.name)}</bdi> {isFirst && <small>{t('review.first')}</small>}
        {isAuthor && <small>{t('review.isAuthor')}</small>}
        {isSentByBot(proposal) && <small>{t('review.isBot')}</small>}
        {!isAuthor && botCount > 0 && <small>{t('review.bots', { count: botCount })}</small>}
      </td>
      <td role="cell" class="stay">
        <Since at={queuedAt} />
      </td>
      <td role="cell" class="stay">
        {review ? (
          <Mark review={review} isAgain={proposal.queuedAt !== undefined} />
        ) : (
          <Refusal proposal={proposal} decision="declined" />
        )}
      </td>
    </tr>
  );
}

/** The most important thing to check in a proposal. */
function Mark({ review, isAgain }: { readonly review: Review; readonly isAgain: boolean }): VNode {
  const { t } = usePage();
  const count = review.findings[0]?.faults.length ?? 0;
  const marks = {
    administrator: ['warning', t('permission.administrator')],
    'other-bot': ['warning', t('review.linkToOther')],
    conflicts: ['adult', t('review.conflicts')],
    error: ['adult', t('review.error', { count })],
    warning: ['warning', t('review.warning', { count })],
    harmful: ['warning', t('permissions.harmful')],
    'unknown-link': ['quiet', t('permissions.notKnown')],
    notice: ['quiet', t('review.notice', { count })],
    none: ['', t('review.again')],
  } as const;
  const [look, content] = marks[findRisk(review)];
  if (look === '' && !isAgain) return <span class="passed">✓ {t('review.passed')}</span>;
  return <span class={`tag ${look}`}>{content}</span>;
}

/** Maximum number of field names in a row. */
const maxNames = 8;

/** The recent decisions, including requests for changes. */
function Decided({ rows }: QueuePageProps): VNode {
  const { t } = usePage();
  if (rows.length === 0) return <p class="muted">{t('review.noneDecided')}</p>;
  return (
    <ol class="steps">
      {rows.map(({ proposal, name }) => (
        <li key={proposal.ref}>
          <NameLink path={toReviewPath(proposal.subject, proposal.proposer.id)} name={name} look="name" />
          <Step step={proposal} />
        </li>
      ))}
    </ol>
  );
}

/** The reports of visitors, each with the actions of a maintainer on its bot. */
function VisitorReportList({ reports, bots }: QueuePageProps): VNode {
  const { t } = usePage();
  if (reports.length === 0) return <p class="muted">{t('report.none')}</p>;
  return (
    <ul class="desk">
      {reports.map((report) => (
        <ReportRow key={report.id} {...report} listed={bots.get(report.bot)} />
      ))}
    </ul>
  );
}

/** A report. The bot is removed only with a second button. */
function ReportRow(props: VisitorReport & { readonly listed: IndexedBot | undefined }): VNode {
  const { id, bot, reason, text, at, listed } = props;
  const { t, text: formatText, href } = usePage();
  const path = `${reviewPath}/reports/${id}`;
  const name = withoutBidiControls(listed?.facts.name ?? bot);
  return (
    <li>
      <SubjectAvatar {...{ bot, name, listed }} size={56} />
      <div>
        <h2>
          <NameLink path={`/bots/${bot}`} name={name} />
        </h2>
        <p class="state">
          {t(`report.reason.${reason}`)} · <Since at={at} />
        </p>
        {text !== '' && (
          <p class="typed" dir="auto">
            {text}
          </p>
        )}
        <div class="actions">
          {listed && (
            <>
              <a class="button quiet" href={href(`/bots/${bot}`)}>
                {t('proposal.open')}
              </a>
              <a class="button quiet" href={href(editPath(bot))}>
                {t('myBots.edit')}
              </a>
              {!listed.facts.nsfw && (
                <PostButton path={`${path}/adult`} look="quiet">
                  {t('report.markAdult')}
                </PostButton>
              )}
              <details name="remove">
                <summary class="button quiet">{t('report.remove')}</summary>
                <p>{t('report.removeText', { bot: name })}</p>
                <PostButton path={`${path}/remove`} look="danger">
                  {formatText('report.removeBot', { bot: name })}
                </PostButton>
              </details>
            </>
          )}
          <PostButton path={`${path}/done`} look="quiet">
            {t('report.done')}
          </PostButton>
        </div>
      </div>
    </li>
  );
}
