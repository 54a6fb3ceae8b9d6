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
  if (!/^https?:$/.test(protocol) || !hosts.test(hostname) || !paths.test(decode(pathname))) return undefined;
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

/** Returns whether a link opens a server of Discord instead of adding a bot. */
export function isServerInvite(link: string): boolean {
  if (!URL.canParse(link)) return false;
  const { hostname, pathname } = new URL(link);
  return (
    /^(?:www\.)?discord\.gg$/.test(hostname) || (hosts.test(hostname) && pathname.startsWith('/invite/'))
  );
}

/**
 * Returns the first OAuth client that an invite link adds and that is not the bot; undefined if there is none.
 * @param own the id of the bot, and its `oauth`
 */
export function findOtherClient(invite: string, own: readonly unknown[]): string | undefined {
  return parseInvite(invite)?.clients.find((client) => !own.includes(client));
}

function toComparable(text: string): unknown {
  const invite = parseInvite(text);
  if (invite === undefined || invite.permissions === 'unreadable') return text;
  return { ...invite, scopes: new Set(invite.scopes) };
}

/**
 * Returns the numbers in an address at Discord, but for the permissions: its OAuth client is one of them, however the link is
 * written. Empty for other addresses.
 */
export function listNumbers(address: string): string[] {
  if (!URL.canParse(address)) return [];
  const url = new URL(address);
  if (!anyHost.test(url.hostname)) return [];
  url.searchParams.delete('permissions');
  return (decode(url.href).match(/(?<![a-z])\d+/gi) ?? []).map((digits) => digits.replace(/^0+(?=\d)/, ''));
}

const hosts = /^(?:(?:www|ptb|canary)\.)?discord(?:app)?\.com\.?$/;
const anyHost = /(?:^|\.)discord(?:app)?\.com\.?$/;
const paths = /^\/+(?:api\/+(?:v\d{1,3}\/+)?)?oauth2\/+authorize\/*$/i;

/** Decodes ASCII characters of an address, also those that are encoded twice, as in an address within another. */
function decode(text: string): string {
  return text.replaceAll(/%(?:25)?([0-7][0-9a-f])/gi, (_, hex: string) =>
    String.fromCharCode(Number.parseInt(hex, 16)),
  );
}

/** @param values of each `permissions` in the link */
function parsePermissions([value = '', ...more]: readonly string[]): Invite['permissions'] {
  if (value === '' && more.length === 0) return 'absent';
  if (more.length > 0 || !/^\d{1,20}$/.test(value) || BigInt(value) >> 64n !== 0n) return 'unreadable';
  return BigInt(value);
}
