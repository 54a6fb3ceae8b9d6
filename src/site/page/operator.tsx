import type { VNode } from 'preact';

/** The operator's contact: a link for an https or mail address, else plain text. */
export function OperatorContact({ contact }: { readonly contact: string }): VNode {
  const href = addressOf(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
}

function addressOf(contact: string): string | undefined {
  if (/^https:\/\//i.test(contact) && URL.canParse(contact)) return contact;
  return /^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(contact) ? `mailto:${contact}` : undefined;
}
