import type { RenderableProps, VNode } from 'preact';

/** A link in a list of links. */
export function LinkItem({ href, children }: RenderableProps<{ readonly href: string }>): VNode {
  return (
    <li>
      <a href={href}>{children}</a>
    </li>
  );
}
