import type { VNode } from 'preact';
import type { Proposal } from '../../proposals/proposal.ts';
import type { VisitorReport } from '../../proposals/visitor-reports.ts';
import { useLanguage } from '../language/page-language.tsx';
import { reviewPath, toReviewPath } from '../page/addresses.ts';
import { PageLinks, type PageLinksProps, withoutBidiControls, formatIsoDate } from '../page/elements.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import type { SiteParts } from '../page/site-parts.ts';
import { AttentionList } from './attention-list.tsx';
import type { Attention } from './attention.ts';
import { describeKind, FieldNames, LastDecision, type LastDecisionProps, Refusal } from './review-page.tsx';
import type { Review } from './reviews.ts';

export interface QueueRow {
  readonly proposal: Proposal;
  /** Undefined if the proposal cannot be read: its own page responds with the reason, so its row has the form that declines it. */
  readonly review: Review | undefined;
}

interface QueuePageProps extends PageProps, LastDecisionProps, Pick<PageLinksProps, 'page' | 'pages'> {
  /** The repository at the Git host, where that is where proposals are reviewed; else null. */
  readonly host: string | null;
  /** Those of this page: the waiting ones first, in the order in which they were sent. */
  readonly rows: readonly QueueRow[];
  /** How long half of the last decisions took, in milliseconds. */
  readonly median: number | undefined;
  /** What the first page has below; left out on the others. */
  readonly more: (VisitorReportListProps & { readonly attention: Attention }) | undefined;
}

/** What waits for a review, and then those that wait for their proposer. */
export function QueuePage(props: QueuePageProps): VNode {
  const { site, viewer, host, rows, median, more, page, pages } = props;
  const { t, text, href, duration } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text('review.title')} current={reviewPath} isUnlisted>
      <div class="stack">
        <h1>{t('review.title')}</h1>
        <LastDecision {...props} />
        {host !== null && <p>{t('review.atHost', { host: <a href={host}>{host}</a> })}</p>}
        {host === null && page === 1 && !rows.some(isWaiting) && <p class="muted">{t('review.none')}</p>}
        {(['waiting', 'changes-asked'] as const).map((state) => {
          const shown = rows.filter(({ proposal }) => proposal.state === state);
          if (shown.length === 0) return null;
          return (
            <section key={state} class="stack">
              <h2>{t(`proposal.${state}`)}</h2>
              <ol class="queue">
                {shown.map((row) => (
                  <Row key={row.proposal.ref} site={site} {...row} />
                ))}
              </ol>
            </section>
          );
        })}
        {median !== undefined && <p class="muted">{t('proposal.median', { time: duration(median) })}</p>}
        <PageLinks {...{ page, pages }} pathOf={(number) => href(`${reviewPath}?page=${number}`)} />
        {more && (
          <>
            <h2>{t('review.attention')}</h2>
            <AttentionList attention={more.attention} />
            <VisitorReportList {...more} />
          </>
        )}
      </div>
    </Layout>
  );
}

function isWaiting({ proposal }: QueueRow): boolean {
  return proposal.state === 'waiting';
}

function Row({ site, proposal, review }: QueueRow & Pick<PageProps, 'site'>): VNode {
  const language = useLanguage();
  const { t, href, ago } = language;
  const { subject, proposer, sentAt } = proposal;
  const link = toReviewPath(subject, proposer.id);
  const sender = <bdi>{withoutBidiControls(proposer.name)}</bdi>;
  if (review === undefined)
    return (
      <li>
        <a href={href(link)}>{subject}</a>
        <p>{t('review.unreadable')}</p>
        {sender}
        <p class="muted">{ago(sentAt, Date.now())}</p>
        <Refusal {...{ site, proposal }} decision="declined" />
      </li>
    );
  const { details, name, kind, pages, invite, findings } = review;
  const fields = pages.flatMap((page) => page.fields);
  const names = [...new Set(fields.map((field) => field.name))].slice(0, maxNames);
  return (
    <li>
      <div>
        <a href={href(link)}>{name}</a>
        <p class="muted">{describeKind(review, language)}</p>
      </div>
      <p dir="auto">
        {kind === 'edit' && <FieldNames names={names} />}
        {kind !== 'edit' && fields.find((field) => field.name === 'description')?.after}
      </p>
      <div>
        {sender}
        <p class="muted">{details.kind === 'authors' ? t('review.isAuthor') : proposer.id}</p>
      </div>
      <p class="muted">{ago(sentAt, Date.now())}</p>
      <ul class="chips">
        {invite.added.administrator && <li class="tag warning">{t('permission.administrator')}</li>}
        {details.conflicts.length > 0 && <li class="tag adult">{t('review.conflicts')}</li>}
        {findings.map(({ severity, faults }) => (
          <li key={severity} class={severity === 'error' ? 'tag adult' : 'tag'}>
            {t(`review.${severity}`, { count: faults.length })}
          </li>
        ))}
      </ul>
    </li>
  );
}

/** Names of fields that a row has. */
const maxNames = 8;

interface VisitorReportListProps {
  readonly reports: readonly VisitorReport[];
  readonly bots: SiteParts['bots'];
}

/** What visitors say about bots, each with a button that removes it. For maintainers only. */
export function VisitorReportList({ reports, bots }: VisitorReportListProps): VNode {
  const { t, href, ago } = useLanguage();
  return (
    <section class="stack" aria-labelledby="reports">
      <h2 id="reports">{t('report.list')}</h2>
      {reports.length === 0 && <p class="muted">{t('report.none')}</p>}
      {reports.map(({ id, bot, reason, text, at }) => (
        <article key={id} class="panel stack">
          <h3>
            <a href={href(`/bots/${bot}`)}>
              <bdi>{withoutBidiControls(bots.get(bot)?.facts.name ?? bot)}</bdi>
            </a>
          </h3>
          <p class="muted">
            {t(`report.reason.${reason}`)} · <time dateTime={formatIsoDate(at)}>{ago(at, Date.now())}</time>
          </p>
          <p class="typed" dir="auto">
            {text}
          </p>
          <form method="post" action={href(`/review/reports/${id}/done`)}>
            <button class="quiet" type="submit">
              {t('report.done')}
            </button>
          </form>
        </article>
      ))}
    </section>
  );
}
