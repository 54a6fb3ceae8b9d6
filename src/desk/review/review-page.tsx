import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import type { BotRecord } from '../../../schemas/types.ts';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import { canTakeBack, isBot, maxNoteLength, type Proposal } from '../../proposals/proposal.ts';
import type { Decision } from '../../proposals/proposals.ts';
import { Ledge } from '../../site/front/card.tsx';
import { ChangedFields, FieldName } from '../../site/changes/changed-fields.tsx';
import { usePage } from '../../site/page/page-context.tsx';
import type { PageLanguage } from '../../site/language/languages.ts';
import { editPath, reviewPath, toReviewPath, toSourceAddress } from '../../site/page/addresses.ts';
import { Conversation, formatReason, Preview, type PreviewProps, Step } from '../page/elements.tsx';
import { BackLink, Fact, NameLink, FaultItems } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { Layout } from '../../site/page/layout.tsx';
import type { RelatedBots, Review } from './reviews.ts';

/** A decision that was not carried out, with the text that was sent. */
export interface FailedDecision extends Pick<Decision, 'state' | 'text'> {
  readonly reason: string;
  /** A missing part of the form, a change in the meantime, or a login that expired. */
  readonly problem: 'text' | 'reason' | 'changed' | 'asked' | 'blocked' | 'stands' | 'undecided' | 'expired';
}

interface ShownPage {
  readonly side: 'before' | 'after';
  readonly preview: PreviewProps | undefined;
}

/** A proposal and the name of its subject. */
export interface NamedProposal {
  readonly proposal: Proposal;
  readonly name: string;
}

interface ReviewPageProps extends LastDecisionProps {
  readonly review: Review;
  /** For each changed page: the current version unless it is new, and the proposed version unless it has errors. */
  readonly previews: readonly (readonly ShownPage[])[];
  readonly related: RelatedBots;
  /** Other proposals of the account, open and closed. */
  readonly others: readonly NamedProposal[];
  /** The proposals that wait before and after this one. */
  readonly previous: Proposal | undefined;
  readonly next: Proposal | undefined;
  /** Undefined if the page was only opened. */
  readonly failed: FailedDecision | undefined;
}

/** A proposal, its changes, and the buttons that decide about it. */
export function ReviewPage(props: ReviewPageProps): VNode {
  const { review, previews, failed } = props;
  const language = usePage();
  const { t, text, ago } = language;
  const { proposal, steps, kind } = review.details;
  const [bot] = previews.flat().flatMap(({ preview }) => preview?.preview?.bot ?? []);
  return (
    <Layout
      title={`${review.name} · ${text('review.title')}`}
      isUnlisted
      script="reviewScript"
      {...(bot && { category: bot.category })}
      head={
        <>
          <BackLink path={reviewPath} name={text('review.title')} />
          <h1>
            <bdi>{review.name}</bdi>: {describeKind(review, language)}
          </h1>
          <p>
            {t('review.sent', { name: proposal.proposer.name, ago: ago(proposal.sentAt, Date.now()) })}{' '}
            {kind === 'authors' && t('review.isAuthor')}
            {kind === 'token' && t('review.isBot')}
          </p>
        </>
      }
      beside={bot && <Ledge bots={[bot]} size={72} />}
    >
      <div class="stack">
        <LastDecision {...props} />
        {failed && (
          <p class="notice bad" role="alert">
            {failed.problem === 'expired'
              ? t('proposal.draftExpired')
              : t(`review.problem.${failed.problem}`, {
                  name: withoutBidiControls(proposal.reviewer?.name ?? ''),
                })}
          </p>
        )}
      </div>
      <div class="review">
        <div class="review-main">
          <section class="panel stack" aria-labelledby="changes">
            <h2 id="changes">{t('edit.change')}</h2>
            <ChangedFields {...review} />
          </section>
          <Previews {...props} />
          <Checked review={review} />
          {review.after && <Links bot={review.after} />}
        </div>
        <Decide {...props} />
        <div class="review-side">
          <Conversation steps={steps} />
          <Related {...props} />
        </div>
      </div>
    </Layout>
  );
}

function Previews({ previews }: ReviewPageProps): VNode {
  const { t, text } = usePage();
  const pairs = previews.map((pair, i) => (
    <section key={i} class="panel" aria-label={text('add.preview')}>
      <h2>{t('add.preview')}</h2>
      <div class="pair">
        {pair.map(({ side, preview }) => (
          <div key={side}>
            <h3>{t(`review.${side}`)}</h3>
            {preview ? (
              <Preview {...preview} hasLabel={i === 0} />
            ) : (
              <p class="notice">{t('review.notShown')}</p>
            )}
          </div>
        ))}
      </div>
    </section>
  ));
  return <>{pairs}</>;
}

function Checked({ review: { findings } }: { readonly review: Review }): VNode {
  const { t } = usePage();
  return (
    <section class="panel stack" aria-labelledby="checked">
      <h2 id="checked">{t('review.checked')}</h2>
      {findings.length === 0 && <p>✓ {t('review.noFindings')}</p>}
      {findings.map(({ severity, faults }) => (
        <div key={severity} class={severity === 'error' ? 'notice bad' : 'notice'}>
          <p>{t(`review.${severity}`, { count: faults.length })}</p>
          <FaultItems faults={faults.slice(0, maxFindings)} />
        </div>
      ))}
    </section>
  );
}

/** Maximum number of findings of a kind that are listed. */
const maxFindings = 50;

/** The links of the proposed page, for the reviewer to open. */
function Links({ bot: { invite, website, support, codehost } }: { readonly bot: BotRecord }): VNode {
  const { t } = usePage();
  return (
    <section class="panel" aria-labelledby="links">
      <h2 id="links">{t('review.links')}</h2>
      <dl>
        {Object.entries({ invite, website, support, repo: toSourceAddress(codehost) }).map(
          ([name, url]) =>
            url && (
              <Fact key={name} name={<FieldName name={name} />}>
                <a href={url} target="_blank" rel="noopener noreferrer nofollow ugc" dir="ltr">
                  {withoutBidiControls(url)}
                </a>
              </Fact>
            ),
        )}
      </dl>
    </section>
  );
}

/** Similar bots, and other bots and proposals of the account. */
function Related({ related, others }: ReviewPageProps): VNode {
  const { t } = usePage();
  const bots = (['similar', 'ofProposer'] as const).map((key) => {
    const links = related[key].map(({ id, facts }) => <NameLink path={`/bots/${id}`} name={facts.name} />);
    return [key, links] as const;
  });
  const steps = others.map(({ proposal, name }) => (
    <>
      <NameLink path={toReviewPath(proposal.subject, proposal.proposer.id)} name={name} />
      <Step step={{ ...proposal, text: '' }} />
    </>
  ));
  const panels = [...bots, ['others', steps] as const].map(
    ([key, items]) =>
      items.length > 0 && (
        <section key={key} class="panel">
          <h2>{t(`review.${key}`)}</h2>
          <ul class="steps">
            {items.map((item, i) => (
              <li key={i}>{item}</li>
            ))}
          </ul>
        </section>
      ),
  );
  return <>{panels}</>;
}

/** The buttons that decide. On a phone, they stay at the bottom of the screen. */
function Decide({ review, previous, next, failed }: ReviewPageProps): VNode {
  const { t, href } = usePage();
  const { conflicts, proposal } = review.details;
  const isBlocked = conflicts.length > 0 || review.findings[0]?.severity === 'error';
  const toPath = ({ subject, proposer: { id } }: Proposal): string => href(toReviewPath(subject, id));
  return (
    <section class="decide" aria-labelledby="decide">
      <h2 id="decide">{t('review.decision')}</h2>
      <DecisionForm proposal={proposal}>
        <button
          name="decision"
          value="accepted"
          disabled={isBlocked}
          aria-describedby={isBlocked ? 'blocked' : undefined}
        >
          {t('review.accept')}
        </button>
      </DecisionForm>
      {isBlocked && (
        <p id="blocked" class="fault">
          {conflicts.length > 0
            ? t('review.conflict', { fields: <FieldNames names={conflicts} /> })
            : t('review.faulty')}
        </p>
      )}
      {(['changes-asked', 'declined'] as const).map((decision) => (
        <Refusal key={decision} {...{ proposal, decision, failed }} />
      ))}
      <p class="links">
        {previous && (
          <a href={toPath(previous)} rel="prev">
            {t('list.previous')}
          </a>
        )}{' '}
        {next && (
          <a href={toPath(next)} rel="next">
            {t('list.next')}
          </a>
        )}
      </p>
      <KeysHint />
    </section>
  );
}

/** The keyboard shortcuts of the review, shown if scripts run, with a box that turns them off. */
export function KeysHint(): VNode {
  const { t } = usePage();
  return (
    <p id="keys" class="keys muted with-script">
      <label class="check">
        <input type="checkbox" /> {t('review.keys')}
      </label>
    </p>
  );
}

function DecisionForm({
  proposal: { subject, proposer, version },
  children,
}: RenderableProps<{ readonly proposal: Proposal }>): VNode {
  const { href } = usePage();
  return (
    <form class="stack" method="post" action={href(toReviewPath(subject, proposer.id))}>
      {children}
      <input type="hidden" name="version" value={version} />
    </form>
  );
}

interface RefusalProps {
  readonly proposal: Proposal;
  readonly decision: 'changes-asked' | 'declined';
  readonly failed?: FailedDecision | undefined;
}

/** A button that opens the form of a decision with a text for the proposer. */
export function Refusal({ proposal, decision, failed }: RefusalProps): VNode {
  const { site, t } = usePage();
  const isDecline = decision === 'declined';
  const sent = failed?.state === decision ? failed : undefined;
  const label = t(isDecline ? 'review.decline' : 'review.ask');
  const reasons = (site.settings.proposals.reasons ?? defaultReasons).map((reason) => (
    <option key={reason} value={reason} selected={failed?.reason === reason}>
      {formatReason(reason, t)}
    </option>
  ));
  return (
    <details class={decision} name="decide" open={sent !== undefined}>
      <summary class={isDecline ? 'button danger' : 'button quiet'}>{label}</summary>
      <DecisionForm proposal={proposal}>
        {isDecline && (
          <label>
            {t('review.reason')}
            <select name="reason" required>
              <option value="">{t('add.choose')}</option>
              {reasons}
            </select>
          </label>
        )}
        <label>
          {t('review.text', { name: withoutBidiControls(proposal.proposer.name) })}
          <textarea class="lines" name="text" maxLength={maxNoteLength} required={!isDecline} dir="auto">
            {sent?.text}
          </textarea>
        </label>
        <button class={isDecline ? 'danger' : 'quiet'} name="decision" value={decision}>
          {label}
        </button>
      </DecisionForm>
    </details>
  );
}

/** Returns the kind of a proposal as a text of the interface. */
export function describeKind(
  { kind, pages, details }: Pick<Review, 'kind' | 'pages' | 'details'>,
  { t, languageName }: Pick<PageLanguage, 't' | 'languageName'>,
): ComponentChildren {
  const { subject } = details.proposal;
  if (!isBot(subject)) return t(subject.startsWith('profile-') ? 'review.profile' : 'review.collection');
  if (kind !== 'translation') return t(`review.${kind}`);
  return t('review.translation', { languages: pages.map(({ locale }) => languageName(locale)).join(', ') });
}

/** The names of fields. */
export function FieldNames({ names }: { readonly names: readonly string[] }): VNode {
  return <>{names.map((name, i) => [i > 0 && ', ', <FieldName key={name} name={name} />])}</>;
}

/** The last decision; undefined if the page was opened without one. */
export interface LastDecisionProps {
  readonly last:
    | { readonly name: string; readonly proposal: Proposal; readonly isShared: boolean }
    | undefined;
}

/** The result of the last decision, with a button for its reviewer that takes it back. */
export function LastDecision({ last }: LastDecisionProps): VNode | null {
  const { viewer, t } = usePage();
  if (last === undefined) return null;
  const { name, proposal, isShared } = last;
  return (
    <div class="notice" role="status">
      <p class="name">
        <NameLink path={toReviewPath(proposal.subject, proposal.proposer.id)} name={name} />
      </p>
      <Step step={{ ...proposal, text: '' }} />
      {!isShared && <p>{t('review.notShared')}</p>}
      {viewer && canTakeBack(proposal, viewer.id) && (
        <DecisionForm proposal={proposal}>
          <button class="quiet" name="decision" value="taken-back">
            {t('review.takeBack')}
          </button>
        </DecisionForm>
      )}
    </div>
  );
}

/** Explains how to undo an accepted proposal: the form of the bot, and commands for a clone. Empty for other decisions. */
export function Undo({ proposal }: { readonly proposal: Proposal }): VNode | null {
  const { t, text, href } = usePage();
  const { state, subject, commit } = proposal;
  if (state !== 'accepted') return null;
  const commands = [
    ['review.revert', commit !== null && `git revert ${commit}`],
    ['review.remove', isBot(subject) && `botshelf bots ${subject} --remove --reason "…" --yes`],
  ] as const;
  return (
    <>
      {isBot(subject) && (
        <p>
          <a href={href(editPath(subject))}>{t('bot.edit')}</a>
        </p>
      )}
      {commands.map(
        ([key, command]) =>
          command && (
            <div key={key}>
              <p>{t(key)}</p>
              <pre tabIndex={0} role="region" aria-label={text(key)}>
                <code>{command}</code>
              </pre>
            </div>
          ),
      )}
    </>
  );
}
