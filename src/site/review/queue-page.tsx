import type { ComponentChildren, VNode } from 'preact';
import { PageLinks } from '../front/page-links.tsx';
import { useLanguage } from '../language/page-language.tsx';
import { reviewPath, toReviewPath } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Layout, type PageProps } from '../page/layout.tsx';
import type { Attention } from './attention.ts';
import { AttentionList } from './attention-list.tsx';
import { VisitorReportList, type VisitorReportListProps } from './visitor-report-list.tsx';
import { describeKind, Done, type DoneProps, FieldNames } from './review-texts.tsx';
import type { Review } from './reviews.ts';

export interface QueuePageProps extends PageProps, DoneProps {
  /** Those of this page: the waiting ones first, in the order in which they were sent. */
  readonly rows: readonly Review[];
  /** How long half of the last decisions took, in milliseconds. */
  readonly median: number | undefined;
  /** What the first page has below; left out on the others. */
  readonly more: (VisitorReportListProps & { readonly attention: Attention }) | undefined;
  readonly page: number;
  readonly pages: number;
}

/** What waits for a review, and then those that wait for their proposer. */
export function QueuePage(props: QueuePageProps): VNode {
  const { site, viewer, rows, median, more, page, pages } = props;
  const { t, text, href, duration } = useLanguage();
  const [waiting = [], asked = []] = (['waiting', 'changes-asked'] as const).map((state) =>
    rows.filter(({ details }) => details.proposal.state === state),
  );
  return (
    <Layout site={site} viewer={viewer} title={text('review.title')} current={reviewPath} isUnlisted>
      <div class="stack">
        <h1>{t('review.title')}</h1>
        <Done {...props} />
        <Rows title={t('proposal.waiting')} rows={waiting}>
          {waiting.length === 0 && page === 1 && <p class="muted">{t('review.none')}</p>}
        </Rows>
        {asked.length > 0 && <Rows title={t('proposal.changes-asked')} rows={asked} />}
        {median !== undefined && <p class="muted">{t('proposal.median', { time: duration(median) })}</p>}
        <PageLinks {...{ page, pages }} pathOf={(number) => href(`${reviewPath}?page=${number}`)} />
        {more && (
          <>
            <section class="stack">
              <h2>{t('review.attention')}</h2>
              <AttentionList attention={more.attention} />
            </section>
            <VisitorReportList {...more} />
          </>
        )}
      </div>
    </Layout>
  );
}

function Rows(props: {
  readonly title: ComponentChildren;
  readonly rows: readonly Review[];
  readonly children?: ComponentChildren;
}): VNode {
  const { title, rows, children } = props;
  return (
    <section class="stack">
      <h2>{title}</h2>
      {children}
      <ol class="queue">
        {rows.map((review) => (
          <Row key={review.details.proposal.ref} review={review} />
        ))}
      </ol>
    </section>
  );
}

function Row({ review }: { readonly review: Review }): VNode {
  const language = useLanguage();
  const { t, href, ago } = language;
  const { details, name, kind, pages, invite, findings } = review;
  const { bot, proposer, sentAt } = details.proposal;
  const names = new Set(pages.flatMap(({ fields }) => fields.map((field) => field.name)));
  return (
    <li>
      <div>
        <a href={href(toReviewPath(bot, proposer.id))}>
          <bdi>{withoutBidiControls(name)}</bdi>
        </a>
        <p class="muted">{describeKind(review, language)}</p>
      </div>
      <p dir="auto">
        {kind === 'edit' ? (
          <FieldNames names={[...names].slice(0, maxNames)} />
        ) : (
          pages[0]?.fields.find((field) => field.name === 'description')?.after
        )}
      </p>
      <div>
        <bdi>{withoutBidiControls(proposer.name)}</bdi>
        <p class="muted">{details.kind === 'authors' ? t('review.isAuthor') : proposer.id}</p>
      </div>
      <p class="muted">{ago(sentAt, Date.now())}</p>
      <ul class="chips">
        {invite.added.administrator && <li class="tag warning">{t('permission.administrator')}</li>}
        {details.conflicts.length > 0 && <li class="tag adult">{t('review.conflicts')}</li>}
        {findings.error > 0 && <li class="tag adult">{t('review.error', { count: findings.error })}</li>}
        {findings.warning > 0 && <li class="tag">{t('review.warning', { count: findings.warning })}</li>}
        {findings.notice > 0 && <li class="tag">{t('review.notice', { count: findings.notice })}</li>}
      </ul>
    </li>
  );
}

/** Names of fields that a row has. */
const maxNames = 8;
