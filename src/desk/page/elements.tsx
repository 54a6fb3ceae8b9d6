import type { Context } from 'koa';
import type { ComponentChildren, RenderableProps, VNode } from 'preact';
import { directionOf } from '../../bot/locale.ts';
import type { BlockedName } from '../../catalogue/settings/blocked.ts';
import { defaultReasons } from '../../catalogue/settings/settings.ts';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import { isSubmission, type PastStep } from '../../proposals/proposal.ts';
import { Card, type ListedBot } from '../../site/front/card.tsx';
import type { PageLanguage } from '../../site/language/languages.ts';
import type { MessageKey } from '../../site/language/messages.tsx';
import { withParameter } from '../../site/page/addresses.ts';
import { ActionLink, Avatar, type AvatarProps, Prose, type ProseProps } from '../../site/page/elements.tsx';
import { sendOnce } from '../../site/page/html-response.ts';
import { Layout, OperatorContact } from '../../site/page/layout.tsx';
import { type Site, usePage } from '../../site/page/page-context.tsx';
import { BriefPermissions } from '../../site/page/permissions.tsx';

interface MessagePageProps {
  readonly title: MessageKey;
  /** The address and the text of the link. */
  readonly to: string;
  readonly action: MessageKey;
}

/** A page with one message and a link to continue. */
export function MessagePage(props: RenderableProps<MessagePageProps>): VNode {
  const { title, to, action, children } = props;
  const { t, text } = usePage();
  return (
    <Layout title={text(title)} isUnlisted head={<h1>{t(title)}</h1>}>
      <div class="narrow stack">
        {children}
        <ActionLink href={to}>{t(action)}</ActionLink>
      </div>
    </Layout>
  );
}

/**
 * Responds with a page that continues to the login by itself; the login returns to `to`. A form cannot redirect there,
 * because browsers apply `form-action` to every redirect after a form, and this one goes to the provider.
 * @param to a path of this site
 * @param key the text with the purpose of the login
 * @param isEnabled whether the browser follows by itself
 */
export function sendLogInPage(ctx: Context, site: Site, to: string, key: MessageKey, isEnabled = true): void {
  const language = site.languages.of(ctx);
  const address = language.href(withParameter('/login', 'to', language.href(to)));
  const page = (
    <MessagePage title="layout.logIn" to={address} action="layout.logIn">
      <p>{language.t(key)}</p>
    </MessagePage>
  );
  sendOnce(ctx, { site, viewer: null }, page);
  if (isEnabled) ctx.set('Refresh', `0; url=${address}`);
}

/**
 * Tells an account that it is blocked, or that a bot is; tells a maintainer also why. Null if nothing is blocked.
 * @param props.blocked the account by default
 */
export function BlockedNotice({ blocked }: { readonly blocked?: BlockedName }): VNode | null {
  const { viewer, t } = usePage();
  const name = blocked ?? viewer?.blocked;
  if (name === undefined) return null;
  return (
    <p class="notice bad" role="alert">
      {t(name.kind === 'bot' ? 'blocked.bot' : 'blocked.account')} <OperatorContact />{' '}
      {viewer?.toReview !== undefined && name.reason !== undefined && <bdi>{name.reason}</bdi>}
    </p>
  );
}

export interface PreviewProps extends Pick<ProseProps, 'html' | 'retry'> {
  /** Undefined for files that do not belong to a bot. */
  readonly preview: Pick<ListedBot, 'bot' | 'locale' | 'authors'> | undefined;
  /** The source of the rendered text. */
  readonly page: string;
  /** Whether the label of permissions is below the card. */
  readonly hasLabel?: boolean;
}

/** The card and the page of a bot as they will look. Links of the card are disabled. */
export function Preview({ preview, page, hasLabel = false, ...rendered }: PreviewProps): VNode | null {
  const { text, locale: own } = usePage();
  if (preview === undefined) return page === '' ? null : <Prose {...rendered} locale={own} text={page} />;
  const { bot, locale } = preview;
  const { name = '', description = '' } = bot.contents[locale] ?? {};
  return (
    <>
      <ul class="cards" inert>
        <Card {...preview} count={undefined} growth={undefined} heading="h3" />
      </ul>
      {hasLabel && <BriefPermissions invite={bot.invite} />}
      <div class="page-preview stack" role="group" aria-label={text('add.preview')} tabIndex={0}>
        <div class="stack" lang={locale} dir={directionOf(locale)}>
          <p class="name">{withoutBidiControls(name)}</p>
          <p class="muted">{withoutBidiControls(description)}</p>
        </div>
        <Prose {...rendered} locale={locale} text={page} />
      </div>
    </>
  );
}

interface SubjectAvatarProps extends Pick<AvatarProps, 'name' | 'size'> {
  /** The id of the bot, or of the account if the subject is not a bot. */
  readonly bot: string;
  /** Undefined for a bot that is not listed. */
  readonly listed: IndexedBot | undefined;
}

/** The avatar of a subject, which may not be listed. Its author and its reviewers see it without a veil. */
export function SubjectAvatar({ bot, listed, ...others }: SubjectAvatarProps): VNode {
  const { category = 'other', cachedImages } = listed ? parseListElement(listed) : {};
  return (
    <Avatar id={bot} {...{ category, ...others }} image={cachedImages?.avatar ?? null} blurred={false} />
  );
}

interface ChecklistProps {
  /** The possible parts of a listing, each with whether it is there, and the public path or anchor at which to add it. */
  readonly items: readonly {
    readonly name: 'avatar' | 'cover' | 'preview' | 'page' | 'language' | 'count';
    readonly isDone: boolean;
    readonly href: string;
  }[];
}

/** The parts that a listing has and those that are missing, each with a link to the place at which to add it. */
export function Checklist({ items }: ChecklistProps): VNode {
  const { t } = usePage();
  return (
    <div class="checklist">
      <p>{t(items.every(({ isDone }) => isDone) ? 'checklist.complete' : 'checklist.title')}</p>
      <ul>
        {items.map(({ name, isDone, href }) => {
          const label = t(name === 'language' || name === 'count' ? `checklist.${name}` : `field.${name}`);
          return (
            <li key={name} class={isDone ? 'done' : undefined}>
              {isDone ? `✓ ` : '– '}
              {isDone ? label : <a href={href}>{label}</a>}
            </li>
          );
        })}
      </ul>
    </div>
  );
}

/** The steps of a proposal: sent, asked and decided, with their texts. @param props.steps newest first */
export function Conversation({ steps }: { readonly steps: readonly PastStep[] }): VNode {
  const { t } = usePage();
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
  const { t, ago } = usePage();
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
