import type { RenderableProps, VNode } from 'preact';
import type { MessageKey } from '../language/message-file.ts';
import { useLanguage } from '../language/page-language.tsx';
import { withoutBidiControls } from './bidi.ts';

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

/** A link to what has a name that somebody chose. */
export function NameLink({ path, name }: NameLinkProps): VNode {
  const { href } = useLanguage();
  return (
    <a href={href(path)}>
      <bdi>{withoutBidiControls(name)}</bdi>
    </a>
  );
}

/** The way back from a page to the one that it belongs to, with an arrow. */
export function BackLink(props: NameLinkProps): VNode {
  return (
    <p class="back">
      <NameLink {...props} />
    </p>
  );
}

/** A form of one button, which changes something. @param props.version of what it changes, where that has one */
export function PostButton(
  props: RenderableProps<{
    readonly path: string;
    readonly look?: 'quiet' | 'danger';
    readonly version?: string;
  }>,
): VNode {
  const { path, look, version, children } = props;
  const { href } = useLanguage();
  return (
    <form method="post" action={href(path)}>
      {version !== undefined && <input type="hidden" name="version" value={version} />}
      <button class={look} type="submit">
        {children}
      </button>
    </form>
  );
}

/** A button that copies the element of this id; shown where scripts run. */
export function CopyButton(props: { readonly of: string; readonly label?: MessageKey }): VNode {
  const { t, text } = useLanguage();
  return (
    <button class="quiet" type="button" hidden data-copy={props.of} data-copied={text('token.copied')}>
      {t(props.label ?? 'token.copy')}
    </button>
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

/** A button that leads to a place of an author's choice. */
export function OwnLink({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <li>
      <a class="button quiet" href={href} rel="nofollow ugc noopener">
        {children}
      </a>
    </li>
  );
}
