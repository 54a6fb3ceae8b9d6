import type { VNode } from 'preact';
import type { IndexedBot } from '../../catalogue/store/bot-index.ts';
import { parsePagePath } from '../../catalogue/page/layout.ts';
import type { Proposal } from '../../proposals/proposal.ts';
import type { ProposalErrorKind } from '../../proposals/proposal-error.ts';
import type { ProposalDetails } from '../../proposals/proposals.ts';
import { FileDiff } from '../add/file-diff.tsx';
import { toEditAgainPath } from '../add/sending.ts';
import { useLanguage } from '../language/page-language.tsx';
import { toProposalPath } from '../page/addresses.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import { Conversation, Step } from '../page/conversation.tsx';
import { Layout, myBotsPath, type PageProps } from '../page/layout.tsx';

export interface ProposalPageProps extends PageProps {
  readonly details: ProposalDetails;
  /** The bot as it is listed; undefined for a new one. */
  readonly bot: IndexedBot | undefined;
  readonly name: string;
  /** How many proposals are reviewed before it. */
  readonly before: number;
  /** How long decisions take, in milliseconds; undefined where none was made lately. */
  readonly medianWaitMs: number | undefined;
  /** The address of its pull request at the Git host; undefined where there is none. */
  readonly pullRequest: string | undefined;
  /** Whether the other machines have it. */
  readonly isShared: boolean;
  /** Why it was not withdrawn; null where nobody tried. */
  readonly error: Extract<ProposalErrorKind, 'gone' | 'changed'> | null;
}

/** The page where an account follows its proposal. */
export function ProposalPage(props: ProposalPageProps): VNode {
  const { site, viewer, details, name, pullRequest, isShared, error } = props;
  const { proposal, before, sent, steps } = details;
  const { t, text, href } = useLanguage();
  return (
    <Layout site={site} viewer={viewer} title={text('proposal.title', { name })} isUnlisted>
      <div class="narrow stack">
        <p>
          <a href={href(myBotsPath)}>← {t('proposal.myBots')}</a>
        </p>
        <h1>{t('proposal.title', { name })}</h1>
        {error !== null && (
          <p class="notice bad" role="alert">
            {t(`proposal.${error}`)}
          </p>
        )}
        {!isShared && <p class="notice">{t('proposal.notShared')}</p>}
        <section class="own-proposal panel stack" aria-labelledby="state">
          <h2 id="state">{t(`proposal.${proposal.state}`)}</h2>
          <State {...props} />
          {pullRequest !== undefined && (
            <p>
              <a href={pullRequest}>{t('proposal.pullRequest')}</a>
            </p>
          )}
          <Actions {...props} />
        </section>
        <Conversation steps={steps} />
        <section class="stack" aria-labelledby="change">
          <h2 id="change">{t('proposal.change')}</h2>
          {[...sent].map(([path, proposed]) => (
            <details key={path} open={sent.size === 1}>
              <summary>
                <code>{path}</code>
              </summary>
              <FileDiff before={before.get(path) ?? ''} after={proposed} />
            </details>
          ))}
        </section>
      </div>
    </Layout>
  );
}

/** What the state means, and what happens next. */
function State(props: ProposalPageProps): VNode | null {
  const { details, bot, before, medianWaitMs } = props;
  const { proposal, steps } = details;
  const { t, href, duration } = useLanguage();
  switch (proposal.state) {
    case 'waiting':
      return (
        <>
          <p>
            {t('proposal.sent')} <Since time={proposal.sentAt} />
            {'. '}
            {before === 0 ? t('proposal.first') : t('proposal.before', { count: before })}
          </p>
          <p>{t('proposal.next')}</p>
          {medianWaitMs !== undefined && <p>{t('proposal.median', { time: duration(medianWaitMs) })}</p>}
        </>
      );
    case 'accepted':
      return (
        <p>
          {t(proposal.reviewer === null ? 'proposal.published' : 'proposal.listed')}{' '}
          {bot && (
            <a href={href(`/bots/${bot.id}`)}>
              <bdi>{withoutBidiControls(bot.facts.name)}</bdi>
            </a>
          )}
        </p>
      );
    case 'withdrawn':
      return null;
    default:
      return steps[0] === undefined ? null : <Step step={steps[0]} at={steps[0].at} />;
  }
}

/** How long ago it was. @param props.time milliseconds since the epoch */
function Since({ time }: { readonly time: number }): VNode {
  const { ago } = useLanguage();
  return <time dateTime={new Date(time).toISOString()}>{ago(time, Date.now())}</time>;
}

function Actions({ details: { proposal, sent }, bot }: ProposalPageProps): VNode | null {
  const { t, href, languageName } = useLanguage();
  if (proposal.state === 'accepted') return null;
  const places = [...sent.keys()].flatMap((path) => parsePagePath(path) ?? []);
  return (
    <div class="actions">
      {places.map((place) => (
        <a key={place.locale} class="button" href={href(toEditAgainPath(place, bot))}>
          {t('proposal.editAgain')} {places.length > 1 && `(${languageName(place.locale)})`}
        </a>
      ))}
      {proposal.closedAt === null && (
        <form method="post" action={href(`${toProposalPath(proposal.bot)}/withdraw`)}>
          <input type="hidden" name="version" value={proposal.version} />
          <button class="quiet" type="submit">
            {t('proposal.withdraw')}
          </button>
        </form>
      )}
    </div>
  );
}

/** A proposal in a list of those of its account. */
export interface ListedProposal {
  readonly proposal: Proposal;
  readonly name: string;
}

/** The proposals of an account: the open ones, and the others folded away. */
export function OwnProposals({ proposals }: { readonly proposals: readonly ListedProposal[] }): VNode {
  const { t } = useLanguage();
  const open = proposals.filter(({ proposal }) => proposal.closedAt === null);
  const closed = proposals.filter(({ proposal }) => proposal.closedAt !== null);
  return (
    <section class="stack" aria-labelledby="proposals">
      <h2 id="proposals">{t('proposal.mine')}</h2>
      {open.length > 0 && <ProposalItems proposals={open} />}
      {closed.length > 0 && (
        <details>
          <summary>{t('proposal.past')}</summary>
          <ProposalItems proposals={closed} />
        </details>
      )}
    </section>
  );
}

function ProposalItems({ proposals }: { readonly proposals: readonly ListedProposal[] }): VNode {
  const { t, href } = useLanguage();
  return (
    <ul class="own-proposals">
      {proposals.map(({ proposal, name }) => (
        <li key={proposal.ref}>
          <a href={href(toProposalPath(proposal.bot))}>
            <bdi>{withoutBidiControls(name)}</bdi>
          </a>{' '}
          <strong>{t(`proposal.${proposal.state}`)}</strong>{' '}
          <span class="muted">
            <Since time={proposal.closedAt ?? proposal.sentAt} />
          </span>
        </li>
      ))}
    </ul>
  );
}
