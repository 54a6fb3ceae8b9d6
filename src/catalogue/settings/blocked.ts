import { basename, dirname, join } from 'node:path';
import { formatChangedBy } from '../../bot/commit-message.ts';
import { toNewFile } from '../../git/commit-files.ts';
import type { Repository } from '../../git/repository.ts';
import { BotshelfError, messageOf, UserError } from '../../lib/errors.ts';
import type { BlockedFile } from '../../../schemas/types.ts';
import { normaliseHost, parseUrl } from '../../lib/network.ts';
import { maxReadSize, type FileReading, readFromDisk } from '../page/page-file.ts';
import { ensureValid, type Parsed, parseJsonFile } from '../page/side-file.ts';

/** Accounts, bots and hosts that may not be listed, by id or name. */
export type Blocked = Readonly<Required<BlockedFile>>;

/** The name of the block list, next to `bots/`. */
export const blockedName = 'blocked.json';

/** The setting for a block list elsewhere, whose content is not public. */
const blockedSetting = 'BOTSHELF_BLOCKED';

export const nothingBlocked: Blocked = { accounts: {}, bots: {}, hosts: {} };

/** Something that is blocked. */
export interface BlockedName {
  readonly kind: 'account' | 'bot' | 'host';
  readonly name: string;
  /** Shown only to maintainers. */
  readonly reason: string | undefined;
}

/**
 * Reads the block list of the catalogue in `root`.
 * @param file the private block list that replaces the catalogue's; null for the catalogue's own
 */
export function readBlocked(root: string, file: string | null): Parsed<Blocked> {
  const at = locateBlocked(root, file);
  return at.parse(readFromDisk(at.root, at.file));
}

/** Returns the place of the block list and its parser. Parameters as for readBlocked. */
export function locateBlocked(root: string, file: string | null) {
  const path = file ?? join(root, blockedName);
  const parse = file === null ? parseBlocked : parsePrivateBlocked;
  return { root: dirname(path), file: basename(path), parse };
}

/** Parses `blocked.json`. A missing file blocks nothing. */
export function parseBlocked(reading: FileReading): Parsed<Blocked> {
  if (reading === undefined) return { value: nothingBlocked };
  const parsed = parseJsonFile<BlockedFile>('blocked', blockedName, reading, { maxSize: maxReadSize });
  return 'faults' in parsed ? parsed : { value: { ...nothingBlocked, ...parsed.value.data } };
}

/** Parses a private block list, which must exist. Its faults do not quote its content. */
function parsePrivateBlocked(reading: FileReading): Parsed<Blocked> {
  const parsed = parseBlocked(reading ?? 'there is no such file: create it, with {} if nobody is blocked');
  if ('value' in parsed) return parsed;
  const hidden = `the file that ${blockedSetting} names breaks this rule: correct it`;
  return {
    faults: parsed.faults.map(({ message, ...fault }) => {
      const isPublic = ['regular-file', 'file-size'].includes(fault.rule);
      return { ...fault, path: blockedSetting, message: isPublic ? message : hidden };
    }),
  };
}

/** Returns which of these names are blocked. An address is blocked by its host or a domain above it. */
export function findBlocked(
  blocked: Blocked,
  named: {
    /** The ids of bots and of their OAuth clients. */
    readonly bots?: readonly string[];
    readonly authors?: readonly string[];
    readonly addresses?: readonly (string | null)[];
  },
): BlockedName[] {
  if (blocked === nothingBlocked) return [];
  const { bots = [], authors = [], addresses = [] } = named;
  const find = (kind: BlockedName['kind'], names: readonly string[]): BlockedName[] => {
    const entries = blocked[`${kind}s`];
    const name = names.find((one) => Object.hasOwn(entries, one));
    return name === undefined ? [] : [{ kind, name, reason: entries[name]?.reason }];
  };
  return [
    ...bots.flatMap((bot) => find('bot', [bot])),
    ...authors.flatMap((author) => find('account', [author])),
    ...addresses.flatMap((address) => find('host', listDomains(address ?? ''))),
  ];
}

/** Describes a block. Only a maintainer, who can change it, sees the reason. */
export function describeBlocked({ kind, name, reason }: BlockedName, showsReason: boolean): string {
  return showsReason
    ? `the ${kind} ${name} is blocked${reason === undefined ? '' : ` (${reason})`}: remove it here, or from ${blockedName}`
    : `this list takes nothing with the ${kind} ${name}: remove it, or write to the maintainers if that is a mistake`;
}

/** A new block, or the end of one. */
export interface BlockedChange extends BlockedName {
  readonly ends: boolean;
}

/** A block that could not be changed. The message is for the command. */
export class BlockError extends UserError {
  readonly kind: 'name' | 'public-host' | 'common-host' | 'not-blocked' | 'maintainer';

  constructor(kind: BlockError['kind'], message: string) {
    super(message);
    this.name = 'BlockError';
    this.kind = kind;
  }
}

/**
 * Returns a change of the block of an account, a bot or a host. A host may be given as an address.
 * @throws {BlockError} name, public-host
 */
export function toBlockedChange(
  kind: BlockedName['kind'],
  text: string,
  { reason, ends }: Pick<BlockedChange, 'reason' | 'ends'>,
): BlockedChange {
  const address = text.includes('://') ? text : `https://${text}`;
  const change = { kind, name: (kind === 'host' && findHost(address)) || text, reason, ends };
  if (ends) return change;
  const isPublic = `${change.name} is a domain that anybody gets names in: name the host of the bots itself`;
  if (kind === 'host' && publicSuffix.test(change.name)) throw new BlockError('public-host', isPublic);
  try {
    changeBlocked({ value: nothingBlocked }, change);
  } catch (error) {
    throw new BlockError('name', messageOf(error));
  }
  return change;
}

/**
 * Returns the text of the file after a change. A repeated block keeps its day and, without a new reason, its reason.
 * @throws {BlockError} not-blocked
 * @throws {UserError} if the file has faults, or would have
 */
export function changeBlocked(file: Parsed<Blocked>, { kind, name, reason, ends }: BlockedChange): string {
  const before = ensureValid(file);
  const key = `${kind}s` as const;
  const { [name]: former, ...others } = before[key];
  if (ends && !Object.hasOwn(before[key], name))
    throw new BlockError('not-blocked', `the ${kind} ${name} is not blocked`);
  const since = new Date().toISOString().slice(0, 10);
  const entry = { since, ...former, ...(reason !== undefined && { reason }) };
  const after = printBlocked({ ...before, [key]: ends ? others : { ...others, [name]: entry } });
  ensureValid(parseBlocked(Buffer.from(after)));
  return after;
}

/** Plans the commit of a change onto a tip. @param by the author of the change, for the commit message @throws as changeBlocked */
export async function planBlockedCommit(
  { objects, prefix }: Pick<Repository, 'objects' | 'prefix'>,
  tip: string | null,
  change: BlockedChange,
  by: string,
) {
  const path = prefix + blockedName;
  const blob = await objects.readOne(`${tip}:${path}`);
  const file = toNewFile(changeBlocked(parseBlocked(blob?.content), change));
  const files = blob?.content.equals(file.content) ? [] : [[path, file] as const];
  const subject = `${change.ends ? 'Unblock' : 'Block'} the ${change.kind} ${change.name}`;
  return { files: new Map(files), message: `${subject}\n\n${formatChangedBy(by)}\n` };
}

/** Returns the block list. @throws {BotshelfError} unavailable, if no valid version of the file is known */
export function requireBlocked(blocked: Blocked | null): Blocked {
  if (blocked !== null) return blocked;
  throw new BotshelfError(
    'unavailable',
    `nobody can tell who is blocked: correct ${blockedName}, /readyz says what is wrong with it`,
  );
}

/** Returns the file in its canonical form: sorted, without empty keys, two spaces, LF. */
export function printBlocked({ accounts, bots, hosts }: Blocked): string {
  const file = Object.entries({ accounts, bots, hosts }).flatMap(([key, entries]) => {
    const sorted = Object.entries(entries).toSorted(([a], [b]) => numeric.compare(a, b));
    const printed = sorted.map(([name, { reason, since }]) => [name, { reason, since }]);
    return sorted.length === 0 ? [] : [[key, Object.fromEntries(printed)]];
  });
  return `${JSON.stringify(Object.fromEntries(file), null, 2)}\n`;
}

const numeric = new Intl.Collator('en', { numeric: true });

/** Returns the host of an address as `blocked.json` writes it; undefined if the text is not an address. */
export function findHost(address: string): string | undefined {
  const host = parseUrl(address)?.hostname;
  return host === undefined ? undefined : normaliseHost(host.replace(/(?<!\.)\.+$/, ''));
}

/** Returns the host of an address, and each domain above it. */
function listDomains(address: string): string[] {
  const labels = findHost(address)?.split('.') ?? [];
  return labels.map((_, i) => labels.slice(i).join('.'));
}

/** Domains in which anybody can get a name: single labels, suffixes such as `co.uk`, and services that host sites and bots. */
const publicSuffix =
  /^(?:[\w-]+|(?:ac|co|com|edu|go|gob|gov|ne|net|or|org)\.[a-z]{2}|(?:github|gitlab|codeberg)\.(?:io|page)|(?:pages|workers|fly|deno)\.dev|(?:vercel|netlify|web|replit|railway)\.app|(?:herokuapp|firebaseapp|onrender|blogspot)\.com|glitch\.me|repl\.co)$/;
