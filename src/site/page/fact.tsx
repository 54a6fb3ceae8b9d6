import type { ComponentChildren, RenderableProps, VNode } from 'preact';

/** A name and its value, in a `dl`; nothing where the value is null. */
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
