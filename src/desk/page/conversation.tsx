import type { ComponentChildren, VNode } from 'preact';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import { isSubmission, type PastStep } from '../../proposals/proposal.ts';
import { useLanguage } from '../../site/page/page-context.tsx';
import type { PageLanguage } from '../../site/language/languages.ts';
import { withoutBidiControls } from '../../lib/text.ts';

/** The steps of a proposal: sent, asked and decided, with their texts. @param props.steps newest first */
export function Conversation({ steps }: { readonly steps: readonly PastStep[] }): VNode {
  const { t } = useLanguage();
  return (
    <section class="panel" aria-labelledby="conversation">
      <h2 id="conversation">{t('proposal.history')}</h2>
      <ol class="steps">
        {steps.toReversed().map((step) => (
          <li key={step.at}>
            <Step step={step} />
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A step of a proposal as a sentence: the action, the account, the time and the text. */
export function Step({ step }: { readonly step: PastStep }): VNode {
  const { t, ago } = useLanguage();
  const { state, proposer, reviewer, reason, text, at } = step;
  const isProposers = isSubmission(step) || (state === 'withdrawn' && reviewer === null);
  const person = isProposers ? proposer : reviewer;
  const done = state === 'waiting' && reviewer !== null ? 'takenBack' : state;
  const values = { name: withoutBidiControls(person?.name ?? ''), ago: ago(at, Date.now()) };
  return (
    <>
      <p class="muted">
        {person !== null && t(`review.by.${done}`, values)}
        {person === null && (state === 'accepted' ? t('review.inCatalogue') : t(`proposal.${state}`))}
      </p>
      {reason !== null && <p>{t('proposal.reason', { reason: <>{formatReason(reason, t)}</> })}</p>}
      {text !== '' && (
        <p class="typed" dir="auto">
          {withoutBidiControls(text)}
        </p>
      )}
    </>
  );
}

/** Returns the reason for declining a proposal: in the reader's language, or as the maintainers wrote it. */
export function formatReason(reason: string, t: PageLanguage['t']): ComponentChildren {
  const known = defaultReasons.find((name) => name === reason);
  return known === undefined ? withoutBidiControls(reason) : t(`reason.${known}`);
}
