import type { ComponentChildren, RenderableProps, VNode } from 'preact';

/** A name and its value, in a `dl`. */
export function Fact({ name, children }: RenderableProps<{ readonly name: ComponentChildren }>): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
