import type { ComponentChildren, VNode } from 'preact';

export interface FactProps {
  readonly name: ComponentChildren;
  readonly children: ComponentChildren;
}

/** A name and its value, in a `dl`. */
export function Fact({ name, children }: FactProps): VNode {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}
