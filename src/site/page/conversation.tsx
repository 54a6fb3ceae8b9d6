import type { VNode } from 'preact';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import type { PastStep } from '../../proposals/proposal.ts';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from './bidi.ts';

/** What was sent, asked and decided about a proposal, and the words of each. @param props.steps the last one first */
export function Conversation({ steps }: { readonly steps: readonly PastStep[] }): VNode {
  const { t, text, ago } = useLanguage();
  return (
    <ol class="conversation">
      {steps.toReversed().map(({ state, proposer, reviewer, reason, text: words, at }, i) => (
        <li key={i}>
          <p class="muted">
            <strong>{t(state === 'waiting' ? 'proposal.sent' : `proposal.${state}`)}</strong>
            {' · '}
            <bdi>{withoutBidiControls((isOfProposer.has(state) ? proposer : reviewer)?.name ?? '')}</bdi>{' '}
            <time dateTime={new Date(at).toISOString()}>{ago(at, Date.now())}</time>
          </p>
          {reason !== null && <p>{t('proposal.reason', { reason: reasonText(reason, text) })}</p>}
          {words !== '' && (
            <p class="words" dir="auto">
              {withoutBidiControls(words)}
            </p>
          )}
        </li>
      ))}
    </ol>
  );
}

const isOfProposer: ReadonlySet<string> = new Set(['waiting', 'withdrawn']);

/** Returns a reason to decline in the reader's language; one of the catalogue's own as its maintainers wrote it. */
export function reasonText(reason: string, text: PageLanguage['text']): string {
  const known = defaultReasons.find((name) => name === reason);
  return known === undefined ? withoutBidiControls(reason) : text(`reason.${known}`);
}
