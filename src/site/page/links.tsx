import type { RenderableProps, VNode } from 'preact';

/** A link in a list of links. */
export function LinkItem({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <li>
      <a href={href}>{children}</a>
    </li>
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
