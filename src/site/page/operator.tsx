import type { VNode } from 'preact';

/** The operator's contact: a link for an https or mail address, else plain text. */
export function OperatorContact({ contact }: { readonly contact: string }): VNode {
  const href = toContactAddress(contact);
  return href === undefined ? <bdi>{contact}</bdi> : <a href={href}>{contact}</a>;
}

/** Returns an address for reports. A mail begins with a subject and the address of what it is about. */
export function reportAddress(address: string, subject: string, about: string): string {
  if (!address.startsWith('mailto:')) return address;
  return `${address}?subject=${encodeURIComponent(subject)}&body=${encodeURIComponent(`${about}\n\n`)}`;
}

/** Returns the address that a contact links to; undefined for plain text. */
function toContactAddress(contact: string): string | undefined {
  if (/^https:\/\//i.test(contact) && URL.canParse(contact)) return contact;
  return /^[^\s@/]+@[^\s@/]+\.[^\s@/]+$/.test(contact) ? `mailto:${contact}` : undefined;
}
