import { isDeepStrictEqual } from 'node:util';

/** What an invite link of Discord says. */
export interface Invite {
  /** The ids of the OAuth clients, which are the bots that it adds: one in a sound link. */
  readonly clients: readonly string[];
  /** A set of bits. `absent`: the link leaves it out. `unreadable`: it has a value that is not a set of permissions. */
  readonly permissions: bigint | 'absent' | 'unreadable';
  /** The OAuth scopes, in the link's order, each once. */
  readonly scopes: readonly string[];
  /** The other parameters, in one order whatever the link's. */
  readonly rest: string;
}

/** Reads an invite link. Undefined for one that is not an invite link of Discord. */
export function parseInvite(invite: string): Invite | undefined {
  if (!URL.canParse(invite)) return undefined;
  const { protocol, hostname, pathname, searchParams } = new URL(invite);
  if (!/^https?:$/.test(protocol) || !hosts.test(hostname) || !paths.test(pathname)) return undefined;
  const clients = searchParams.getAll('client_id');
  const permissions = parsePermissions(searchParams.getAll('permissions'));
  const scopes = new Set(searchParams.getAll('scope').flatMap((text) => text.match(/[^ ]+/g) ?? []));
  for (const key of ['client_id', 'permissions', 'scope']) searchParams.delete(key);
  searchParams.sort();
  return { clients, permissions, scopes: [...scopes], rest: searchParams.toString() };
}

/**
 * Whether two invite links add the same bot and ask for the same, however they are written. A link of another kind is the
 * same only where its text is.
 */
export function isSameInvite(a: string, b: string): boolean {
  return a === b || isDeepStrictEqual(toComparable(a), toComparable(b));
}

function toComparable(text: string): unknown {
  const invite = parseInvite(text);
  if (invite === undefined || invite.permissions === 'unreadable') return text;
  return { ...invite, scopes: new Set(invite.scopes) };
}

const hosts = /^(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com$/;
const paths = /^\/(?:api\/(?:v\d{1,3}\/)?)?oauth2\/authorize\/?$/;

/** @param values of each `permissions` in the link */
function parsePermissions([value = '', ...more]: readonly string[]): Invite['permissions'] {
  if (value === '' && more.length === 0) return 'absent';
  if (more.length > 0 || !/^\d{1,20}$/.test(value) || BigInt(value) >> 64n !== 0n) return 'unreadable';
  return BigInt(value);
}
