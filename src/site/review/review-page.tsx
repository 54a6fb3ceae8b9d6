import type { ComponentChildren, VNode } from 'preact';
import type { PageData } from '../../catalogue/page/page.ts';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { Decision } from '../../proposals/proposals.ts';
import { WordDiff } from '../add/file-diff.tsx';
import { Preview, type PreviewProps } from '../add/preview.tsx';
import { type PageLanguage, useLanguage } from '../language/page-language.tsx';
import { reviewPath, toReviewPath } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Conversation, formatReason, Step } from '../page/conversation.tsx';
import { Fact } from '../page/fact.tsx';
import { FaultItems } from '../page/faults.tsx';
import { Layout, type PageProps } from '../page/layout.tsx';
import { LinkItem } from '../page/links.tsx';
import { readInvite, type StatedPermissions } from '../page/permissions.ts';
import type { FieldChange } from './changes.ts';
import type { RelatedBots } from './related.ts';
import { describeKind, Done, type DoneProps, FieldName, FieldNames } from './review-texts.tsx';
import type { Review } from './reviews.ts';

/** A form of the review as it was sent. */
export interface SentDecision {
  readonly version: string;
  readonly decision: string;
  readonly reason: string;
  readonly text: string;
}

/** Why a decision was not taken: what the form lacks, or what has changed. */
export type DecisionProblem = 'text' | 'reason' | 'changed' | 'blocked';

export interface ReviewPageProps extends PageProps, DoneProps {
  readonly review: Review;
  /** The pages that change, as they are and as proposed. */
  readonly previews: readonly [before: PreviewProps | undefined, after: PreviewProps | undefined][];
  readonly related: RelatedBots;
  /** Other proposals of the account, open and closed. */
  readonly others: readonly Proposal[];
  /** Those that wait before and after it. */
  readonly previous: Proposal | undefined;
  readonly next: Proposal | undefined;
  /** The form that was sent and why nothing was decided; undefined where the page is only opened. */
  readonly failed: { readonly sent: SentDecision; readonly problem: DecisionProblem } | undefined;
}

/** A proposal, what it changes, and the buttons that decide about it. */
export function ReviewPage(props: ReviewPageProps): VNode {
  const { site, viewer, review, failed } = props;
  const language = useLanguage();
  const { t, text, href, ago } = language;
  const { proposal, steps, kind } = review.details;
  const { proposer, sentAt } = proposal;
  const name = withoutBidiControls(review.name);
  return (
    <Layout site={site} viewer={viewer} title={`${name} · ${text('review.title')}`} isUnlisted>
      <nav class="breadcrumb">
        <ol>
          <LinkItem href={href(reviewPath)}>{t('review.title')}</LinkItem>
          <li aria-current="page">
            <bdi>{name}</bdi>
          </li>
        </ol>
      </nav>
      <header class="stack">
        <h1>
          <bdi>{name}</bdi>: {describeKind(review, language)}
        </h1>
        <p class="muted">
          {t('review.sent', { ...proposer, ago: ago(sentAt, Date.now()) })}{' '}
          {kind === 'authors' && t('review.isAuthor')}
        </p>
        <Done {...props} />
        {failed && (
          <div class="notice bad" role="alert">
            <p>{t(`review.problem.${failed.problem}`)}</p>
          </div>
        )}
      </header>
      <div class="review">
        <div class="review-main">
          <Changes review={review} />
          <Previews {...props} />
          <Checked review={review} />
          <Links review={review} />
        </div>
        <div class="review-side">
          <Conversation steps={steps} />
          <Related {...props} />
        </div>
        <Decide {...props} />
      </div>
    </Layout>
  );
}

/** What changes for a server that adds the bot, and then the fields word by word. */
function Changes({ review: { invite, pages, kind, data } }: { readonly review: Review }): VNode {
  const { t, languageName } = useLanguage();
  const isInviteNew = pages.some(({ fields }) => fields[0]?.name === 'invite');
  const isKnown = readInvite(String(data['invite'])) !== undefined;
  const permissions = [
    ...listNames(invite.added, t).flatMap((name, i) => [<ins key={i}>{name}</ins>, ' ']),
    ...listNames(invite.removed, t).flatMap((name, i) => [<del key={i}>{name}</del>, ' ']),
    ...(isKnown || !isInviteNew ? [] : [t('permissions.notKnown')]),
  ];
  const warnings = [
    invite.added.administrator && t('permissions.fullControl'),
    invite.isOtherBot && t('review.otherBot'),
  ].filter(Boolean);
  return (
    <>
      {warnings.map((warning, i) => (
        <p key={i} class="notice warn">
          <strong class="warning">{warning}</strong>
        </p>
      ))}
      <section class="panel stack" aria-labelledby="changes">
        <h2 id="changes">{t('edit.change')}</h2>
        {permissions.length > 0 && (
          <dl class="changes">
            <Fact name={t('permissions.title')}>{permissions}</Fact>
          </dl>
        )}
        {pages.map(({ locale, isNew, fields }) => (
          <div key={locale}>
            {(pages.length > 1 || kind === 'translation') && <h3>{languageName(locale)}</h3>}
            <dl class="changes">
              {fields.map((field) => (
                <Field key={field.name} field={field} isNew={isNew} />
              ))}
            </dl>
          </div>
        ))}
      </section>
    </>
  );
}

function listNames({ groups, unknownBits }: StatedPermissions, t: PageLanguage['t']): ComponentChildren[] {
  return [
    ...groups.flatMap(({ permissions }) => permissions.map((name) => t(`permission.${name}`))),
    ...unknownBits.map((bit) => t('permissions.unknown', { bit })),
  ];
}

/** A value that changes. A page is folded, and a new one is not shown here. */
function Field({ field, isNew }: { readonly field: FieldChange; readonly isNew: boolean }): VNode | null {
  const { name, before, after, words } = field;
  const { t } = useLanguage();
  const isPage = name === 'page';
  if (isNew && isPage) return null;
  const whole = [
    { value: before, removed: true, added: false },
    { value: after, added: true, removed: false },
  ];
  const text = (
    <div class="typed" dir="auto">
      {isNew ? after : <WordDiff words={words ?? whole} />}
    </div>
  );
  return (
    <Fact name={<FieldName name={name} />}>
      {!isPage && text}
      {isPage && !words && t('review.tooMuch')}
      {isPage && words && (
        <details>
          <summary>{t('review.words')}</summary>
          {text}
        </details>
      )}
    </Fact>
  );
}

function Previews({ previews }: ReviewPageProps): VNode {
  const { t } = useLanguage();
  return (
    <>
      {previews.map(([before, after], i) => (
        <div key={i} class="pair">
          {before && (
            <section>
              <h2>{t('review.before')}</h2>
              <Preview {...before} />
            </section>
          )}
          <section>
            <h2>{t('review.after')}</h2>
            {after ? <Preview {...after} /> : <p class="notice">{t('review.notShown')}</p>}
          </section>
        </div>
      ))}
    </>
  );
}

/** What the checker finds, the errors first. */
function Checked({ review: { details, findings } }: { readonly review: Review }): VNode {
  const { t } = useLanguage();
  const kinds = (['error', 'warning', 'notice'] as const).filter((kind) => findings[kind] > 0);
  return (
    <section class="panel stack" aria-labelledby="checked">
      <h2 id="checked">{t('review.checked')}</h2>
      {kinds.length === 0 && <p>✓ {t('review.noFindings')}</p>}
      {kinds.map((kind) => (
        <div key={kind} class={kind === 'error' ? 'notice bad' : 'notice'}>
          <p>{t(`review.${kind}`, { count: findings[kind] })}</p>
          <FaultItems
            faults={details.findings.filter(({ severity }) => severity === kind).slice(0, maxFindings)}
          />
        </div>
      ))}
    </section>
  );
}

/** Findings of a kind that are listed. */
const maxFindings = 50;

/** The links of the proposed page, which a reviewer opens. */
function Links({ review: { data } }: { readonly review: Review }): VNode {
  const { t } = useLanguage();
  const { owner, repo } = (data['codehost'] ?? {}) as PageData;
  const source =
    owner && repo ? `https://github.com/${[owner, repo].map(String).map(encodeURIComponent).join('/')}` : '';
  const links = Object.entries({ ...data, repo: source }).filter((link): link is [string, string] =>
    /^(?:invite|website|support|repo) https?:\/\//.test(link.join(' ')),
  );
  return (
    <section class="panel" aria-labelledby="links">
      <h2 id="links">{t('review.links')}</h2>
      <dl>
        {links.map(([name, url]) => (
          <Fact key={name} name={<FieldName name={name} />}>
            <a href={url} target="_blank" rel="noopener noreferrer nofollow ugc" dir="ltr">
              {withoutBidiControls(url)}
            </a>
          </Fact>
        ))}
      </dl>
    </section>
  );
}

/** Similar bots, and what else is of the account. */
function Related({ related, others }: ReviewPageProps): VNode {
  const { t, href } = useLanguage();
  return (
    <>
      {(['similar', 'ofProposer'] as const).map(
        (kind) =>
          related[kind].length > 0 && (
            <section key={kind} class="panel">
              <h2>{t(`review.${kind}`)}</h2>
              <ul class="links">
                {related[kind].map(({ id, facts }) => (
                  <LinkItem key={id} href={href(`/bots/${id}`)}>
                    <bdi>{withoutBidiControls(facts.name)}</bdi>
                  </LinkItem>
                ))}
              </ul>
            </section>
          ),
      )}
      {others.length > 0 && (
        <section class="panel">
          <h2>{t('review.others')}</h2>
          <ul class="steps">
            {others.map(({ bot, ...proposal }) => (
              <li key={proposal.ref}>
                <a href={href(toReviewPath(bot, proposal.proposer.id))}>{bot}</a>
                <Step step={{ ...proposal, bot, text: '' }} at={proposal.closedAt ?? proposal.sentAt} />
              </li>
            ))}
          </ul>
        </section>
      )}
    </>
  );
}

/** The buttons. On a phone they stay at the bottom of the screen. */
function Decide({ site, review, previous, next, failed }: ReviewPageProps): VNode {
  const { t, href } = useLanguage();
  const { findings, details } = review;
  const { conflicts, proposal } = details;
  const { bot, proposer, version } = proposal;
  const isBlocked = conflicts.length > 0 || findings.error > 0;
  const reasons = site.settings.proposals.reasons ?? defaultReasons;
  const sent = failed?.sent;
  const form = (decision: Decision['state'], content: ComponentChildren): VNode => (
    <form class="stack" method="post" action={href(toReviewPath(bot, proposer.id))}>
      {content}
      <input type="hidden" name="version" value={version} />
      <input type="hidden" name="decision" value={decision} />
    </form>
  );
  const reason = (
    <label>
      {t('review.reason')}
      <select name="reason" required>
        <option value="">{t('add.choose')}</option>
        {reasons.map((name) => (
          <option key={name} value={name} selected={sent?.reason === name}>
            {formatReason(name, t)}
          </option>
        ))}
      </select>
    </label>
  );
  const message = (text = '', required: boolean): VNode => (
    <label>
      {t('review.text', { name: withoutBidiControls(proposer.name) })}
      <textarea class="lines" name="text" maxLength={maxTextLength} required={required} dir="auto">
        {text}
      </textarea>
    </label>
  );
  const link = (to: Proposal | undefined, rel: 'prev' | 'next', key: string): VNode | undefined =>
    to && (
      <a href={href(toReviewPath(to.bot, to.proposer.id))} rel={rel} accessKey={key}>
        {t(rel === 'next' ? 'list.next' : 'list.previous')}
      </a>
    );
  return (
    <section class="decide panel" aria-labelledby="decide">
      <h2 id="decide">{t('review.decision')}</h2>
      {form(
        'accepted',
        <button type="submit" disabled={isBlocked} aria-describedby={isBlocked ? 'blocked' : undefined}>
          {t('review.accept')}
        </button>,
      )}
      {isBlocked && (
        <p id="blocked" class="fault">
          {conflicts.length > 0
            ? t('review.conflict', { fields: <FieldNames names={conflicts} /> })
            : t('review.faulty')}
        </p>
      )}
      {(['changes-asked', 'declined'] as const).map((decision) => {
        const [isDecline, isSent] = [decision === 'declined', decision === sent?.decision];
        const label = t(isDecline ? 'review.decline' : 'review.ask');
        return (
          <details key={decision} class={decision} name="decide" open={isSent}>
            <summary class="button quiet">{label}</summary>
            {form(decision, [
              isDecline && reason,
              message(isSent ? sent?.text : '', !isDecline),
              <button class={isDecline ? 'danger' : 'quiet'}>{label}</button>,
            ])}
          </details>
        );
      })}
      <p class="links">
        {link(previous, 'prev', 'k')} {link(next, 'next', 'j')}
      </p>
    </section>
  );
}

/** UTF-16 units of the words of a reviewer. */
export const maxTextLength = 1000;
