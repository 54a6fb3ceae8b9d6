import type { VNode } from 'preact';
import { directionOf } from '../../bot/locale.ts';
import { Card, type ListedBot } from '../../site/front/card.tsx';
import { type IndexedBot, parseListElement } from '../../catalogue/store/bot-index.ts';
import { Avatar, type AvatarProps, Prose, type ProseProps } from '../../site/page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { useLanguage } from '../../site/page/page-context.tsx';
import { BriefPermissions } from '../../site/page/permissions.tsx';

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
  const { text, locale: own } = useLanguage();
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
  const { t } = useLanguage();
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
