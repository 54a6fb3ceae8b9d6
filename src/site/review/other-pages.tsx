import type { VNode } from 'preact';
import type { Proposal } from '../../proposals/proposal.ts';
import { useLanguage } from '../language/page-language.tsx';
import { reviewPath, toReviewPath } from '../page/addresses.ts';
import { Step } from '../page/conversation.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { ActionLink } from '../page/links.tsx';

/** What an account sees that may not review: who may. */
export function NotMaintainerPage({ site, viewer }: PageProps): VNode {
  const { t, text, href, publicPath } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text('review.notMaintainer')} isUnlisted>
      <div class="narrow stack">
        <h1>{t('review.notMaintainer')}</h1>
        <p>{t('review.notMaintainerText', { name: viewer?.name ?? '', id: viewer?.id ?? '' })}</p>
        <ActionLink href={publicPath(`/login?to=${href(reviewPath)}&account=other`)}>
          {t('token.otherAccount')}
        </ActionLink>
      </div>
    </Layout>
  );
}

export interface ClosedPageProps extends PageProps {
  readonly proposal: Proposal;
  /** The one that has waited longest. */
  readonly next: Proposal | undefined;
}

/** A proposal that has ended: by whom, and how. */
export function ClosedPage({ site, viewer, proposal, next }: ClosedPageProps): VNode {
  const { t, text, href } = useLanguage();
  const to = next === undefined ? reviewPath : toReviewPath(next.bot, next.proposer.id);
  return (
    <Layout site={site} viewer={viewer} title={text('review.decided')} isUnlisted>
      <div class="narrow stack">
        <h1>{t('review.decided')}</h1>
        <Step step={proposal} at={proposal.closedAt ?? 0} />
        <ActionLink href={href(to)}>{t(next === undefined ? 'review.title' : 'list.next')}</ActionLink>
      </div>
    </Layout>
  );
}
