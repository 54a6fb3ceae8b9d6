import type { ComponentChildren, VNode } from 'preact';
import type { Proposal } from '../../proposals/proposal.ts';
import { FieldName } from '../changes/changed-fields.tsx';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import { Step } from '../page/conversation.tsx';
import type { Review } from './reviews.ts';

/** Returns what kind of proposal it is. */
export function describeKind(
  { kind, pages }: Pick<Review, 'kind' | 'pages'>,
  { t, languageName }: Pick<PageLanguage, 't' | 'languageName'>,
): ComponentChildren {
  if (kind !== 'translation') return t(`review.${kind}`);
  return t('review.translation', { languages: pages.map(({ locale }) => languageName(locale)).join(', ') });
}

/** The names of fields. */
export function FieldNames({ names }: { readonly names: readonly string[] }): VNode {
  return <>{names.map((name, i) => [i > 0 && ', ', <FieldName key={name} name={name} />])}</>;
}

/** What the last decision did; undefined where the page was opened without one. */
export interface LastDecisionProps {
  readonly last:
    | { readonly name: string; readonly proposal: Proposal; readonly isShared: boolean }
    | undefined;
}

export function LastDecision({ last }: LastDecisionProps): VNode | null {
  const { t } = useLanguage();
  if (last === undefined) return null;
  const { name, proposal, isShared } = last;
  return (
    <div class="notice" role="status">
      <p class="name">
        <bdi>{withoutBidiControls(name)}</bdi>
      </p>
      <Step step={{ ...proposal, text: '' }} at={proposal.closedAt ?? Date.now()} />
      {!isShared && <p>{t('review.notShared')}</p>}
    </div>
  );
}
