import type { VNode } from 'preact';
import { type BotIndex, parseListElement } from '../../catalogue/store/bot-index.ts';
import { isBot, type Proposal } from '../../proposals/proposal.ts';
import type { VisitorReport } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../../site/page/page-context.tsx';
import { blockedPath, reviewPath, toReviewPath, withParameter } from '../../site/page/addresses.ts';
import { Step } from '../page/conversation.tsx';
import {
  NameLink,
  PageLinks,
  type PageLinksProps,
  PostButton,
  Since,
  withoutBidiControls,
  Avatar,
} from '../../site/page/elements.tsx';
import { Layout } from '../../site/page/layout.tsx';
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
import type { Review } from './reviews.ts';

/** The tabs of the review. */
export const tabs = ['waiting', 'reports', 'attention', 'decided', 'blocked'] as const;
export type Tab = (typeof tabs)[number];

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

interface QueuePageProps
  extends LastDecisionProps, VisitorReportListProps, Pick<PageLinksProps, 'page' | 'pages'> {
  readonly tab: Tab;
  /** The repository at the Git host if proposals are reviewed there; otherwise null. */
  readonly host: string | null;
  /** The number of waiting proposals. */
  readonly waiting: number;
  /** The proposals of this page: waiting ones by the time they were sent, or decided ones with the latest decision first. */
  readonly rows: readonly QueueRow[];
  /** The median time to a decision, in milliseconds. */
  readonly median: number | undefined;
  readonly attention: Attention;
  readonly blocked: BlockedListProps;
}

/** The work that waits for a maintainer, in a tab for each kind. */
export function QueuePage(props: QueuePageProps): VNode {
  const { tab, host, waiting, reports, attention, median, page, pages } = props;
  const { t, text, href, duration, integer } = useLanguage();
  const paths: Partial<Record<Tab, string>> = { waiting: reviewPath, blocked: blockedPath };
  const toPath = (name: Tab): string => paths[name] ?? `${reviewPath}?tab=${name}`;
  const counts: Partial<Record<Tab, number>> = {
    waiting,
    reports: reports.length,
    attention: attention.groups.reduce((sum, { total }) => sum + total, 0),
  };
  return (
    <Layout
      title={text('review.title')}
      current={reviewPath}
      isUnlisted
      {...(tab === 'waiting' && { script: 'reviewScript' })}
    >
      <div class="stack">
        <h1>{t('review.title')}</h1>
        {tab === 'waiting' && (
          <p class="muted">
            {t('review.order')} {median !== undefined && t('proposal.median', { time: duration(median) })}
          </p>
        )}
        <LastDecision {...props} />
        <nav aria-label={text('review.title')}>
          <ul class="tabs">
            {tabs.map((name) => (
              <li key={name} class={name === 'reports' && reports.length > 0 ? 'due' : undefined}>
                <a href={href(toPath(name))} aria-current={name === tab ? 'page' : undefined}>
                  {t(name === 'waiting' ? 'proposal.waiting' : `review.tab.${name}`)}{' '}
                  {counts[name] !== undefined && <small>{integer(counts[name])}</small>}
                </a>
              </li>
            ))}
          </ul>
        </nav>
        {tab === 'waiting' && host !== null && (
          <p>{t('review.atHost', { host: <a href={host}>{host}</a> })}</p>
        )}
        {tab === 'waiting' && host === null && <Waiting {...props} />}
        {tab === 'reports' && <VisitorReportList {...props} />}
        {tab === 'attention' && <AttentionList attention={attention} />}
        {tab === 'decided' && <Decided {...props} />}
        {tab === 'blocked' && <BlockedList {...props.blocked} />}
        <PageLinks
          {...{ page, pages }}
          pathOf={(number) => href(withParameter(toPath(tab), 'page', String(number)))}
        />
        {tab === 'waiting' && <KeysHint />}
      </div>
    </Layout>
  );
}

function Waiting({ rows, bots }: QueuePageProps): VNode {
  const { t } = useLanguage();
  if (rows.length === 0) return <p class="muted">{t('review.none')}</p>;
  const heads = [
    'review.head.bot',
    'review.head.proposed',
    'review.head.from',
    'proposal.sent',
    'review.head.lookAt',
  ] as const;
  return (
    <table class="rows" role="table">
      <thead role="rowgroup">
        <tr role="row">
          {heads.map((name) => (
            <th key={name} scope="col" role="columnheader">
              {t(name)}
            </th>
          ))}
        </tr>
      </thead>
      <tbody role="rowgroup">
        {rows.map((row) => (
          <Row key={row.proposal.ref} {...row} bots={bots} />
        ))}
      </tbody>
    </table>
  );
}

function Row(row: QueueRow & Pick<QueuePageProps, 'bots'>): VNode {
  const { bots, proposal, review, name, botCount, isFirst } = row;
  const language = useLanguage();
  const { t } = language;
  const { subject, proposer, sentAt, queuedAt = sentAt } = proposal;
  const listed = isBot(subject) ? bots.get(subject) : undefined;
  const image = listed ? parseListElement(listed).cachedImages.avatar : null;
  const fields = review?.pages.flatMap((page) => page.fields) ?? [];
  const names = [...new Set(fields.map((field) => field.name))].slice(0, maxNames);
  const isAuthor = review?.details.kind === 'authors';
  return (
    <tr role="row">
      <td role="cell">
        <div class="who">
          {isBot(subject) && <Avatar id={subject} name={name} image={image} size={40} blurred={false} />}
          <div>
            <NameLink path={toReviewPath(subject, proposer.id)} name={name} look="name" />
            {review && <small>{describeKind(review, language)}</small>}
          </div>
        </div>
      </td>
      <td role="cell">
        <div dir="auto">
          {review?.kind === 'edit' && <FieldNames names={names} />}
          {review?.kind !== 'edit' && fields.find((field) => field.name === 'description')?.after}
          {review === undefined && t('review.unreadable')}
        </div>
      </td>
      <td role="cell">
        <bdi>{withoutBidiControls(proposer.name)}</bdi>{' '}
        {isFirst && <span class="tag">{t('review.first')}</span>}
        {isAuthor && <small>{t('review.isAuthor')}</small>}
        {!isAuthor && botCount > 0 && <small>{t('review.bots', { count: botCount })}</small>}
      </td>
      <td role="cell">
        <Since at={queuedAt} />
      </td>
      <td role="cell">
        {review ? (
          <Mark {...review} isAgain={proposal.queuedAt !== undefined} />
        ) : (
          <Refusal proposal={proposal} decision="declined" />
        )}
      </td>
    </tr>
  );
}

/** The most important thing to check in a proposal. */
function Mark({ invite, details, findings, isAgain }: Review & { readonly isAgain: boolean }): VNode {
  const { t } = useLanguage();
  const [first] = findings;
  if (invite.added.administrator) return <span class="tag warning">{t('permission.administrator')}</span>;
  if (details.conflicts.length > 0) return <span class="tag adult">{t('review.conflicts')}</span>;
  if (first) {
    const { severity, faults } = first;
    const look = { error: 'tag adult', warning: 'tag warning', notice: 'tag' }[severity];
    return <span class={look}>{t(`review.${severity}`, { count: faults.length })}</span>;
  }
  if (invite.isUnknown) return <span>{t('permissions.unreadable')}</span>;
  if (isAgain) return <span class="tag">{t('review.again')}</span>;
  return <span class="passed">✓ {t('review.passed')}</span>;
}

/** Maximum number of field names in a row. */
const maxNames = 8;

/** The recent decisions, including requests for changes. */
function Decided({ rows }: QueuePageProps): VNode {
  const { t } = useLanguage();
  if (rows.length === 0) return <p class="muted">{t('review.noneDecided')}</p>;
  return (
    <ol class="steps">
      {rows.map(({ proposal, name }) => (
        <li key={proposal.ref}>
          <NameLink path={toReviewPath(proposal.subject, proposal.proposer.id)} name={name} look="name" />
          <Step step={proposal} at={proposal.at} />
        </li>
      ))}
    </ol>
  );
}

interface VisitorReportListProps {
  readonly reports: readonly VisitorReport[];
  readonly bots: Pick<BotIndex, 'get'>;
}

/** The reports of visitors, each with a button that removes it. Only for maintainers. */
export function VisitorReportList({ reports, bots }: VisitorReportListProps): VNode {
  const { t } = useLanguage();
  if (reports.length === 0) return <p class="muted">{t('report.none')}</p>;
  return (
    <>
      {reports.map(({ id, bot, reason, text, at }) => (
        <article key={id} class="panel stack">
          <h2>
            <NameLink path={`/bots/${bot}`} name={bots.get(bot)?.facts.name ?? bot} />
          </h2>
          <p class="muted">
            {t(`report.reason.${reason}`)} · <Since at={at} />
          </p>
          <p class="typed" dir="auto">
            {text}
          </p>
          <PostButton path={`${reviewPath}/reports/${id}/done`} look="quiet">
            {t('report.done')}
          </PostButton>
        </article>
      ))}
    </>
  );
}
