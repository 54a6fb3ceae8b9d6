import { isDeepStrictEqual } from 'node:util';
import { parseUrl } from '../lib/network.ts';

/** An invite link of Discord, parsed. */
interface Invite {
  /** The ids of the OAuth clients, which are the bots that it adds: one in a valid link. */
  readonly clients: readonly string[];
  /** A set of bits. `absent`: the link leaves it out. `unreadable`: it has a value that is not a set of permissions. */
  readonly permissions: bigint | 'absent' | 'unreadable';
  /** The OAuth scopes, in the link's order, each once. */
  readonly scopes: readonly string[];
  /** The other parameters, sorted. */
  readonly rest: string;
}

/** Parses an invite link; undefined if it is not one of Discord. */
export function parseInvite(invite: string): Invite | undefined {
  const url = parseUrl(invite);
  if (url === undefined) return undefined;
  const { protocol, hostname, pathname, searchParams } = url;
  if (!/^https?:$/.test(protocol) || !hosts.test(hostname) || !paths.test(decode(pathname))) return undefined;
  const clients = searchParams.getAll('client_id');
  const permissions = parsePermissions(searchParams.getAll('permissions'));
  const scopes = new Set(searchParams.getAll('scope').flatMap((text) => text.match(/[^ ]+/g) ?? []));
  for (const key of ['client_id', 'permissions', 'scope']) searchParams.delete(key);
  searchParams.sort();
  return { clients, permissions, scopes: [...scopes], rest: searchParams.toString() };
}

/**
 * Whether two invite links add the same bot and ask for the same, however they are written. Links of another kind are
 * compared as texts.
 */
export function isSameInvite(a: string, b: string): boolean {
  return a === b || isDeepStrictEqual(toComparable(a), toComparable(b));
}

/** Returns whether a link opens a server of Discord instead of adding a bot. */
export function isServerInvite(link: string): boolean {
  const url = parseUrl(link);
  if (url === undefined) return false;
  const { hostname, pathname } = url;
  return (
    /^(?:www\.)?discord\.gg$/.test(hostname) || (hosts.test(hostname) && pathname.startsWith('/invite/'))
  );
}

/**
 * Returns the first OAuth client that an invite link adds besides the bot; undefined if it adds no other.
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
  const url = parseUrl(address);
  if (url === undefined || !anyHost.test(url.hostname)) return [];
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

/** The permissions and scopes that the invite link of a bot on Discord asks for. */
export interface InvitePermissions {
  /** `absent`: the link leaves them out. `unreadable`: it has a value that is not a set of permissions. */
  readonly permissions: StatedPermissions | 'absent' | 'unreadable';
  /** The OAuth scopes of the link, in its order; empty if it has none. */
  readonly scopes: readonly string[];
  /** Whether the link says that the bot has slash commands. */
  readonly commands: boolean;
  /** Whether the bot joins the server; else the link adds commands only. */
  readonly joins: boolean;
  /** Whether the bot joins as Administrator. */
  readonly fullControl: boolean;
}

export interface StatedPermissions {
  /** Whether the bot may do everything, whatever else is in the link. */
  readonly administrator: boolean;
  /** Without empty groups, those with the most power first. */
  readonly groups: readonly PermissionGroup[];
  /** The bits without a documented meaning, in ascending order. */
  readonly unknownBits: readonly number[];
}

/** The part of a server that a permission concerns. Voice is among the messages. */
export type PermissionSubject = 'members' | 'server' | 'messages';

interface PermissionGroup {
  readonly subject: PermissionSubject;
  /** Whether the permissions can do harm. */
  readonly isHarmful: boolean;
  readonly permissions: readonly Permission[];
}

/**
 * Every documented permission of Discord with its bit, those with the most power first. Two that people know as one
 * thing, such as reading and sending messages, have an entry of their own with both bits.
 */
const table = [
  {
    subject: 'server',
    isHarmful: true,
    bits: {
      administrator: [3],
      manageServer: [5],
      manageRoles: [28],
      manageChannels: [4],
      manageWebhooks: [29],
    },
  },
  {
    subject: 'members',
    isHarmful: true,
    bits: { banMembers: [2], kickMembers: [1], timeOutMembers: [40] },
  },
  {
    subject: 'messages',
    isHarmful: true,
    bits: { manageMessages: [13], manageThreads: [34], mentionEveryone: [17] },
  },
  {
    subject: 'server',
    isHarmful: false,
    bits: {
      manageExpressions: [30],
      createExpressions: [43],
      manageEvents: [33],
      createEvents: [44],
      viewAuditLog: [7],
      viewInsights: [19],
      viewMonetization: [41],
      createInvite: [0],
    },
  },
  {
    subject: 'members',
    isHarmful: false,
    bits: {
      manageNicknames: [27],
      muteMembers: [22],
      deafenMembers: [23],
      moveMembers: [24],
      changeNickname: [26],
    },
  },
  {
    subject: 'messages',
    isHarmful: false,
    bits: {
      readAndSendMessages: [10, 11],
      viewChannels: [10],
      sendMessages: [11],
      readHistory: [16],
      embedLinks: [14],
      attachFiles: [15],
      addReactions: [6],
      sendInThreads: [38],
      createPublicThreads: [35],
      createPrivateThreads: [36],
      pinMessages: [51],
      bypassSlowmode: [52],
      sendPolls: [49],
      sendVoiceMessages: [46],
      sendSpokenMessages: [12],
      useExternalEmoji: [18],
      useExternalStickers: [37],
      useCommands: [31],
      useExternalApps: [50],
      connectAndSpeak: [20, 21],
      connect: [20],
      speak: [21],
      prioritySpeaker: [8],
      shareScreen: [9],
      useVoiceActivity: [25],
      requestToSpeak: [32],
      setChannelStatus: [48],
      useActivities: [39],
      useSoundboard: [42],
      useExternalSounds: [45],
    },
  },
] as const satisfies readonly (Omit<PermissionGroup, 'permissions'> & {
  readonly bits: Readonly<Record<string, readonly number[]>>;
})[];

type KeyOf<T> = T extends unknown ? keyof T : never;
export type Permission = KeyOf<(typeof table)[number]['bits']>;

/** The bits of each permission. */
const masks = Object.fromEntries(
  table.flatMap(({ bits }) =>
    Object.entries<readonly number[]>(bits).map(([name, numbers]) => [
      name,
      numbers.reduce((mask, bit) => mask | (1n << BigInt(bit)), 0n),
    ]),
  ),
) as Readonly<Record<Permission, bigint>>;

const names = Object.keys(masks) as Permission[];

/**
 * Reads what an invite link asks for.
 * @param invite an address
 * @returns undefined for a link that is not an invite link of Discord
 */
export function readInvite(invite: string): InvitePermissions | undefined {
  const link = parseInvite(invite);
  if (link === undefined) return undefined;
  const { scopes } = link;
  const permissions =
    typeof link.permissions === 'bigint' ? groupPermissions(link.permissions) : link.permissions;
  const commands = scopes.includes('applications.commands');
  const joins = hasBotJoin(link);
  const fullControl = joins && typeof permissions === 'object' && permissions.administrator;
  return { permissions, scopes, commands, joins, fullControl };
}

/**
 * Returns the documented permissions that any of these invite links asks for, those with the most power first, and
 * whether each link does. Administrator stands for all of them.
 */
export function alignPermissions(invites: readonly string[]): { name: Permission; asked: boolean[] }[] {
  let left = invites.map(readPermissions).reduce((all, set) => all | set, 0n);
  const sets = invites.map((invite) => (asksForAdministrator(invite) ? -1n : readPermissions(invite)));
  return names.flatMap((name) => {
    const bits = masks[name];
    // Two bits that people know as one permission are shown as one if no link has only one of them.
    const isWhole = sets.every((set) => [0n, bits].includes(set & bits));
    if ((left & bits) !== bits || !isWhole) return [];
    left &= ~bits;
    return { name, asked: sets.map((set) => (set & bits) !== 0n) };
  });
}

/** Whether a bot joins as Administrator with an invite link. */
export function asksForAdministrator(invite: string): boolean {
  return asksFor(invite, 'administrator');
}

/** Whether a bot joins with a permission by an invite link, whatever Administrator includes. */
export function asksFor(invite: string, permission: Permission): boolean {
  return includes(readPermissions(invite), permission);
}

/** Returns the permission of a name, ignoring case and spaces; all names if no permission has this one. */
export function parsePermission(text: string): Permission | readonly Permission[] {
  const key = text.replaceAll(/[\s_-]/g, '').toLowerCase();
  return names.find((name) => name.toLowerCase() === key) ?? names;
}

/** Returns the permissions that a bot has on a server with one invite link, but not with another. */
export function comparePermissions(invite: string, other: string): StatedPermissions {
  return groupPermissions(readPermissions(invite) & ~readPermissions(other));
}

function readPermissions(invite: string): bigint {
  const link = parseInvite(invite);
  return link && hasBotJoin(link) && typeof link.permissions === 'bigint' ? link.permissions : 0n;
}

function hasBotJoin({ scopes }: Invite): boolean {
  return scopes.includes('bot') || !scopes.includes('applications.commands');
}

function groupPermissions(set: bigint): StatedPermissions {
  let left = set;
  const groups = table.map(({ bits, ...group }) => ({
    ...group,
    permissions: (Object.keys(bits) as Permission[]).filter((name) => {
      if (!includes(left, name)) return false;
      left &= ~masks[name];
      return true;
    }),
  }));
  return {
    administrator: includes(set, 'administrator'),
    groups: groups.filter(({ permissions }) => permissions.length > 0),
    unknownBits: Array.from({ length: 64 }, (_, bit) => bit).filter((bit) => (left >> BigInt(bit)) & 1n),
  };
}

function includes(set: bigint, permission: Permission): boolean {
  return (set & masks[permission]) === masks[permission];
}
