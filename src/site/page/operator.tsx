import type { VNode } from 'preact';

/** How to reach the operator: a link where it is an address, else the text. */
export function OperatorContact({ contact }: { readonly contact: string }): VNode {
  const href = addressOf(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
}

function addressOf(contact: string): string | undefined {
  if (/^https:\/\//i.test(contact) && URL.canParse(contact)) return contact;
  return /^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(contact) ? `mailto:${contact}` : undefined;
}
