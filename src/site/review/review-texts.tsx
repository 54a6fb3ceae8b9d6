import type { ComponentChildren, VNode } from 'preact';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import type { Proposal, ProposalStep } from '../../proposals/proposal.ts';
import { mainFields } from '../add/fields.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from '../page/bidi.ts';
import type { Review } from './reviews.ts';

/** Returns what kind of proposal it is. */
export function describeKind(
  { kind, pages }: Pick<Review, 'kind' | 'pages'>,
  { t, languageName }: Pick<PageLanguage, 't' | 'languageName'>,
): ComponentChildren {
  if (kind !== 'translation') return t(`review.${kind}`);
  return t('review.translation', { languages: pages.map(({ locale }) => languageName(locale)).join(', ') });
}

/** The label of a form's field, or a key of the front matter. */
export function FieldName({ name }: { readonly name: string }): VNode {
  const { t } = useLanguage();
  const field = mainFields.flat().find((known) => known.name === name);
  return field === undefined ? <code>{name}</code> : <>{t(`field.${field.name}`)}</>;
}

/** The names of fields. */
export function FieldNames({ names }: { readonly names: readonly string[] }): VNode {
  return <>{names.map((name, i) => [i > 0 && ', ', <FieldName key={name} name={name} />])}</>;
}

/** A step of a proposal in a sentence: what was done, by whom, when, and their words. */
export function Step({ step, at }: { readonly step: ProposalStep; readonly at: number }): VNode {
  const { t, ago } = useLanguage();
  const { state, proposer, reviewer, reason, text } = step;
  const person = state === 'waiting' || state === 'withdrawn' ? proposer : reviewer;
  const values = { name: withoutBidiControls(person?.name ?? ''), ago: ago(at, Date.now()) };
  return (
    <>
      <p class="muted">{person === null ? t('review.inCatalogue') : t(`review.by.${state}`, values)}</p>
      {reason !== null && <p>{formatReason(reason, t)}</p>}
      {text !== '' && (
        <p class="typed" dir="auto">
          {withoutBidiControls(text)}
        </p>
      )}
    </>
  );
}

/** Returns why a proposal is declined, in words. */
export function formatReason(reason: string, t: PageLanguage['t']): ComponentChildren {
  const known = defaultReasons.find((name) => name === reason);
  return known === undefined ? reason : t(`reason.${known}`);
}

/** What the last decision did; undefined where the page was opened without one. */
export interface DoneProps {
  readonly done:
    | { readonly name: string; readonly proposal: Proposal; readonly isShared: boolean }
    | undefined;
}

export function Done({ done }: DoneProps): VNode | null {
  const { t } = useLanguage();
  if (done === undefined) return null;
  const { name, proposal, isShared } = done;
  return (
    <div class="notice" role="status">
      <p>
        <strong>
          <bdi>{withoutBidiControls(name)}</bdi>
        </strong>
      </p>
      <Step step={{ ...proposal, text: '' }} at={proposal.closedAt ?? Date.now()} />
      {!isShared && <p>{t('review.notShared')}</p>}
    </div>
  );
}
