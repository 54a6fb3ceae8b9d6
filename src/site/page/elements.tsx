import type { RenderableProps, VNode, ComponentChildren } from 'preact';
import type { Category } from '../../../schemas/types.ts';
import { formatIsoTime } from '../../bot/clock.ts';
import type { FilledMainPage } from '../../bot/record.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { Fault } from '../../catalogue/page/fault.ts';
import { type VariantWidth, toVariantPath } from '../../images/store.ts';
import { directionOf } from '../../bot/locale.ts';
import { withoutBidiControls } from '../../lib/text.ts';
import type { MessageKey } from '../language/messages.tsx';
import type { ProposedHtml } from '../markdown/markdown.ts';
import { feedsPath, toAuthorPath, toPathInLanguage } from './addresses.ts';
import { usePage } from './page-context.tsx';

/** A link in a list of links. */
export function LinkItem({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <li>
      <a href={href}>{children}</a>
    </li>
  );
}

export interface NameLinkProps {
  readonly path: string;
  readonly name: string;
}

/** A link whose text is a name that somebody chose. */
export function NameLink({ path, name, look }: NameLinkProps & { readonly look?: string }): VNode {
  const { href } = usePage();
  return (
    <a class={look} href={href(path)}>
      <bdi>{withoutBidiControls(name)}</bdi>
    </a>
  );
}

/** A link to the page above this one, in a heading. */
export function BackLink(props: NameLinkProps): VNode {
  return (
    <p class="breadcrumb whole">
      <NameLink {...props} />
    </p>
  );
}

/** A form of one button, for an action. @param props.version the version that the action is about, if it has one */
export function PostButton(
  props: RenderableProps<{
    readonly path: string;
    readonly look?: 'quiet' | 'danger' | 'plain';
    readonly version?: string;
  }>,
): VNode {
  const { path, look, version, children } = props;
  const { href } = usePage();
  return (
    <form method="post" action={href(path)}>
      {version !== undefined && <input type="hidden" name="version" value={version} />}
      <button class={look} type="submit">
        {children}
      </button>
    </form>
  );
}

/** A button that copies the element of this id; shown if scripts run. */
export function CopyButton(props: { readonly of: string; readonly label?: MessageKey }): VNode {
  const { t, text } = usePage();
  return (
    <button class="quiet with-script" type="button" data-copy={props.of} data-copied={text('token.copied')}>
      {t(props.label ?? 'token.copy')}
    </button>
  );
}

/** A text with a button that copies it. */
export function CopyField(props: {
  readonly id: string;
  readonly label: ComponentChildren;
  readonly value: string;
}): VNode {
  const { id, label, value } = props;
  return (
    <div>
      <label for={id}>{label}</label>
      <div class="copy">
        <input id={id} class="token" dir="ltr" readOnly value={value} />
        <CopyButton of={id} />
      </div>
    </div>
  );
}

/** Links to a feed, and to the page that explains feeds. */
export function FollowLinks({ path }: { readonly path: string }): VNode {
  const { site, t, href, locale } = usePage();
  return (
    <span class="links">
      <a href={href(toPathInLanguage(path, locale, site.settings.language))}>{t('list.follow')}</a>{' '}
      <a class="muted" href={href(feedsPath)}>
        {t('feeds.what')}
      </a>
    </span>
  );
}

/** The next step from a page or a part of it, as a button. */
export function ActionLink({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <p class="actions">
      <a class="button" href={href}>
        {children}
      </a>
    </p>
  );
}

/** A button that links to an address of an author's choice. */
export function OwnLink({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <li>
      <a class="button quiet" href={href} rel="nofollow ugc noopener">
        {children}
      </a>
    </li>
  );
}

/** The time since something happened. */
export function Since({ at }: { readonly at: number }): VNode {
  const { ago } = usePage();
  return <time dateTime={formatIsoTime(at)}>{ago(at, Date.now())}</time>;
}

interface BreadcrumbProps {
  readonly category: Category;
  /** The bot, on a page below its own. */
  readonly bot?: NameLinkProps;
}

/** The path to a page of a bot: all bots, the bots of its category, the bot. */
export function Breadcrumb({ category, bot }: BreadcrumbProps): VNode {
  const { t, text, href, categoryName } = usePage();
  return (
    <nav class="breadcrumb" aria-label={text('bot.breadcrumb')}>
      <ol>
        <LinkItem href={href('/')}>{t('bot.allBots')}</LinkItem>
        <LinkItem href={href(`/categories/${category}`)}>{categoryName(category)}</LinkItem>
        {bot && (
          <li>
            <NameLink {...bot} />
          </li>
        )}
      </ol>
    </nav>
  );
}

/** A name and its value in a `dl`; empty if the value is null. */
export function Fact(props: RenderableProps<{ readonly name: ComponentChildren }>): VNode | null {
  const { name, children } = props;
  if (children === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

/** The sign of a verified bot. @param props.label the text for screen readers; left out in a link with a label */
export function CheckMark({ size, label }: { readonly size: number; readonly label?: string }): VNode {
  const role =
    label === undefined ? { 'aria-hidden': true } : ({ role: 'img', 'aria-label': label } as const);
  return (
    <svg class="check-mark" width={size} height={size} viewBox="0 0 16 16" {...role}>
      <circle cx="8" cy="8" r="8" fill="currentColor" />
      <path d="m4.5 8.3 2.4 2.4 4.6-5" fill="none" stroke="var(--surface)" stroke-width="1.8" />
    </svg>
  );
}

/** Returns links to the pages of the authors who have a name, in order. */
export function listNamedAuthors(authors: AuthorIndex, ids: readonly string[]): NameLinkProps[] {
  return ids.flatMap((id) => {
    const profile = authors.findProfile(id);
    return profile ? [{ path: toAuthorPath(id), name: withoutBidiControls(profile.name) }] : [];
  });
}

/** Returns the name of an account, or else its id. */
export function nameAccount(authors: Pick<AuthorIndex, 'findProfile'>, account: string): string {
  return withoutBidiControls(authors.findProfile(account)?.name ?? account);
}

interface BylineProps {
  readonly bot: Pick<FilledMainPage, 'authors'>;
  /** The authors who have a name. */
  readonly authors: readonly NameLinkProps[];
  readonly isLinked: boolean;
}

/** The line "by NAME" of a bot. If some authors have no name, it says how many authors there are. */
export function Byline({ bot, authors, isLinked }: BylineProps): VNode | null {
  const { t, list } = usePage();
  const all = authors.length < bot.authors.length && t('bot.authors', { count: bot.authors.length });
  if (authors.length === 0) return all ? <p class="by">{all}</p> : null;
  // Names are listed by their places, because two authors may have the same name.
  const names = list.formatToParts(Object.keys(authors)).map(({ type, value }) => {
    const author = type === 'element' ? authors[Number(value)] : undefined;
    if (author === undefined) return value;
    return isLinked ? <NameLink key={value} {...author} /> : <bdi key={value}>{author.name}</bdi>;
  });
  return (
    <p class="by">
      {t('bot.by', { authors: <>{names}</> })}
      {all && <> · {all}</>}
    </p>
  );
}

interface BotImageProps {
  /** The path of the full copy. */
  readonly path: string;
  readonly alt: string;
  /** The size in CSS pixels, so that nothing moves when the image loads. */
  readonly width: number;
  readonly height: number;
  /** The width in pixels of the smaller copy; undefined to show the full copy. */
  readonly small: VariantWidth | undefined;
  /** For an image that may need the full copy: its width as in the `sizes` attribute, and the width of the full copy in pixels. */
  readonly larger?: { readonly sizes: string; readonly full: number };
  /** Whether the image is below the fold, so that it loads when it is about to be seen. */
  readonly lazy: boolean;
  readonly blurred: boolean;
}

/** An image of the cache: its smaller copy, or the full one if the screen needs it. */
export function BotImage(props: BotImageProps): VNode {
  const { path, alt, width, height, small, larger, lazy, blurred } = props;
  const src = small === undefined ? path : toVariantPath(path, small);
  return (
    <img
      class={blurred ? 'veiled' : undefined}
      src={src}
      srcset={small && larger && `${src} ${small}w, ${path} ${larger.full}w`}
      sizes={small && larger?.sizes}
      alt={alt}
      width={width}
      height={height}
      loading={lazy ? 'lazy' : undefined}
    />
  );
}

/** The cover of a bot on the stage of its page, or of the front page. */
export function CoverImage({ path, blurred }: Pick<BotImageProps, 'path' | 'blurred'>): VNode {
  // Less than its width on a phone, so that those with many pixels take the smaller copy too.
  const larger = { sizes: '(min-width: 60rem) 32rem, 40vw', full: 1280 };
  return <BotImage {...{ path, blurred, larger }} alt="" width={960} height={600} small={640} lazy={false} />;
}

/** Returns the class that has the colour of a category. */
export function toCategoryClass(category: Category): string {
  return `cat cat-${category}`;
}

export interface AvatarProps {
  readonly id: string;
  /** The category whose colour replaces a missing image. */
  readonly category?: Category;
  readonly name: string;
  /** The path of the cached copy; null without a copy. */
  readonly image: string | null;
  /** Edge in CSS pixels. */
  readonly size: number;
  readonly blurred: boolean;
  /** Whether the image is below the fold; by default it is not. */
  readonly lazy?: boolean;
}

/** A bot's image, or its initial on a shade of its category's colour. Hidden from screen readers, because the name is next to it. */
export function Avatar(props: AvatarProps): VNode {
  const { id, category = 'other', name, image, size, blurred, lazy = false } = props;
  if (image === null) {
    return (
      <span
        class={`avatar ${toCategoryClass(category)} tint-${Number(id.slice(-4)) % tintCount}`}
        aria-hidden="true"
      >
        {findInitial(name)}
      </span>
    );
  }
  return (
    <span class="avatar">
      <BotImage
        path={image}
        alt=""
        width={size}
        height={size}
        small={128}
        {...(size > 64 && { larger: { sizes: `${size}px`, full: 512 } })}
        lazy={lazy}
        blurred={blurred}
      />
    </span>
  );
}

/** The number of shades in the stylesheet; the id of a bot decides which it has. */
const tintCount = 4;

/** Returns the first letter or digit of a name. */
export function findInitial(name: string): string {
  segmenter ??= new Intl.Segmenter();
  const [first] = segmenter.segment(name.replace(/^[^\p{L}\p{N}]+/u, '') || name);
  return first?.segment.toUpperCase() ?? '';
}

/** Created once, because a page has dozens of names. */
let segmenter: Intl.Segmenter | undefined;

/** The position and the message of each fault. */
export function FaultItems({ faults }: { readonly faults: readonly Fault[] }): VNode {
  return (
    <ul lang="en" dir="ltr">
      {faults.map(({ path, line, column, message }) => (
        <li key={`${path}:${line}:${column}:${message}`}>
          <code>
            {path}:{line}:{column}
          </code>{' '}
          {message}
        </li>
      ))}
    </ul>
  );
}

export interface ProseProps {
  readonly locale: string;
  /** The text as Markdown, and as HTML. */
  readonly text: string;
  readonly html: ProposedHtml;
  /** The advice for a page that was not rendered in time. */
  readonly retry?: 'add.busy' | 'review.busy';
  /** Whether to blur the images. */
  readonly blurImages?: boolean;
}

/** A bot's page as its author wrote it. */
export function Prose({ locale, text, html, retry = 'review.busy', blurImages = false }: ProseProps): VNode {
  const { t } = usePage();
  const language = { lang: locale, dir: directionOf(locale) };
  if (html === null || html === undefined) {
    return (
      <div class="prose">
        <p class="notice">{t(html === null ? 'bot.tooComplex' : retry)}</p>
        <pre class="plain" {...language}>
          {text}
        </pre>
      </div>
    );
  }
  if (html.trim() === '') return <p class="prose muted">{t('bot.noPage')}</p>;
  const names = blurImages ? 'prose veiled-pictures' : 'prose';
  return <div class={names} {...language} dangerouslySetInnerHTML={{ __html: html }} />;
}
