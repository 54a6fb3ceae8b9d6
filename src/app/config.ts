import { fstatSync, readFileSync } from 'node:fs';
import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { DemoProvider } from '../login/demo-provider.ts';
import { readLoginSettings, readSecrets } from '../login/settings.ts';
import { UserError } from '../lib/errors.ts';
import { parseEnvironmentFile, SettingReader } from '../lib/setting-reader.ts';
import { findNearestName } from '../lib/text.ts';
import { type GitHostId, gitHosts } from '../git/hosts.ts';
import type { RemoteSettings } from '../sync/sync.ts';

/** The settings of a catalogue: what the commands need, and a service too. */
export type CommandConfig = Readonly<ReturnType<typeof readCatalogueSettings>>;

/** The settings of the service, from the environment; docs/configuration.md explains each. */
export interface Config extends Readonly<ReturnType<typeof readSettings>> {
  /** A sentence for each BOTSHELF_ variable that is not a setting. */
  readonly unknown: readonly string[];
}

/**
 * Reads the configuration of a service from the environment, which only this file does.
 * @throws {UserError} with a sentence for each fault: the variable's name and the values it takes
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const { config, faults, missing } = examineConfig(env);
  if (faults.length + missing.length > 0) throw new UserError([...faults, ...missing].join('\n'));
  return config;
}

/** The configuration of a service, with the default of each setting that cannot be used. */
export interface ExaminedConfig {
  readonly config: Config;
  /** A sentence for each setting that cannot be used. */
  readonly faults: readonly string[];
  /** A sentence for each secret that is needed and not set here: systemd may pass it to the service alone. */
  readonly missing: readonly string[];
}

/** Reads the configuration of a service as `readConfig` does, also if it cannot be used. */
export function examineConfig(env: NodeJS.ProcessEnv = process.env): ExaminedConfig {
  const reader = new SettingReader(env);
  const settings = readSettings(reader, env);
  const unknown = listUnknownSettings(env, new Set([...reader.names, 'BOTSHELF_FAILPOINT']));
  const { fileFaults, faults, missing } = reader;
  // A secret that cannot be read is not one that is missing.
  const found = fileFaults.length > 0 ? { faults: fileFaults, missing: [] } : { faults, missing };
  return { config: { ...settings, unknown }, ...found };
}

/**
 * Reads what a command needs of the configuration. Settings and secrets of the service alone may be missing or wrong.
 * @throws {UserError} with a sentence for each fault: the variable's name and the values it takes
 */
export function readCommandConfig(env: NodeJS.ProcessEnv = process.env): CommandConfig {
  const reader = new SettingReader(env);
  const config = readCatalogueSettings(reader, env);
  const faults = [...reader.fileFaults, ...reader.faults];
  if (faults.length > 0) throw new UserError(faults.join('\n'));
  return config;
}

/** Sets the variables of a file in this process, as systemd does for an `EnvironmentFile`. @throws a system error */
export function loadEnvironmentFile(path: string, warn: (text: string) => void): void {
  const skip = (line: number): void =>
    warn(`${path}:${line} is skipped: write NAME=VALUE, with letters, digits and _ in the name`);
  Object.assign(process.env, parseEnvironmentFile(readFileSync(path, 'utf8'), skip));
}

/**
 * Prints each setting of the service with its default and its meaning, as docs/configuration.md has them, and with the value
 * that is in force here; secrets only as being set.
 */
export function printSettings(): void {
  const reader = new SettingReader(process.env);
  readSettings(reader, process.env);
  const inForce = reader.listInForce();
  const file = fileURLToPath(new URL('docs/configuration.md', import.meta.resolve('#package')));
  const entries = readFileSync(file, 'utf8').matchAll(/^- `([A-Z_]+)`, (.+(?:\n {2}.+)*)/gm);
  for (const [, name = '', text = ''] of entries) {
    const { value, source } = inForce.get(name) ?? {};
    const now = value === undefined ? 'the default' : `${value}, from ${source}`;
    process.stdout.write(`${name}\n  ${text.replaceAll(/\]\([^()]*\)|[`[]/g, '')}\n  now: ${now}\n`);
  }
}

function readCatalogueSettings(reader: SettingReader, env: NodeJS.ProcessEnv) {
  const port = reader.integer('PORT', 8080, 0, 65535);
  const catalogue = resolve(reader.text('BOTSHELF_CATALOGUE') ?? '.');
  const blocked = reader.text('BOTSHELF_BLOCKED');
  const remote = reader.secret('BOTSHELF_REMOTE') ?? null;
  if (remote?.startsWith('-'))
    reader.faults.push("BOTSHELF_REMOTE begins with -: set it to a remote's name or an address.");
  return {
    /** The folder that holds `bots/`. Absolute. */
    catalogue,
    /** The folder for what is not in Git. Absolute. */
    var: resolve(reader.text('BOTSHELF_VAR') ?? `${catalogue}/var`),
    /** The file that says who is blocked, in place of that of the catalogue; null for none. Absolute. */
    blocked: blocked === undefined ? null : resolve(blocked),
    /** The name or address of the shared Git server's repository; null without one. */
    remote,
    port,
    /**
     * The public address, which may have a path, without a slash at its end. Links and origins come from it, never from
     * `Host`.
     */
    baseUrl: reader.address('BOTSHELF_BASE_URL', `http://localhost:${port}`),
    /** Whether `baseUrl` was set; otherwise it is a guess. */
    isBaseUrlSet: reader.text('BOTSHELF_BASE_URL') !== undefined,
    /** Keep copies of the bots' images. */
    images: reader.flag('BOTSHELF_IMAGES', true),
    /** Whether this is a copy of a list that takes no posts, forms and logins. */
    readOnly: reader.flag('BOTSHELF_READ_ONLY'),
    log: {
      level: reader.choice('BOTSHELF_LOG_LEVEL', ['debug', 'info', 'warn', 'error']) ?? 'info',
      format: reader.choice('BOTSHELF_LOG_FORMAT', ['json', 'pretty']) ?? null,
      isJournal: isJournal(env),
    },
  };
}

function readSettings(reader: SettingReader, env: NodeJS.ProcessEnv) {
  const shared = readCatalogueSettings(reader, env);
  const proposals = reader.choice('BOTSHELF_PROPOSALS', ['site', 'host', 'off']) ?? 'site';
  return {
    ...shared,
    host: reader.text('HOST') ?? '127.0.0.1',
    /** The port for probes and metrics only; null if `port` serves them too. */
    probePort: readProbePort(reader, shared.port),
    /** Believe one hop of `X-Forwarded-For`. */
    trustProxy: reader.flag('BOTSHELF_TRUST_PROXY'),
    /** Posts per minute per bot; 0 = unlimited. */
    rateLimit: reader.integer('BOTSHELF_RATE_LIMIT', 120, 0, 1_000_000),
    /** Commits of posted content per hour per bot; 0 = unlimited. */
    contentLimit: reader.integer('BOTSHELF_CONTENT_LIMIT', 30, 0, 1_000_000),
    /** Commits of posted commands per hour per bot; 0 = unlimited. */
    commandsLimit: reader.integer('BOTSHELF_COMMANDS_LIMIT', 10, 0, 1_000_000),
    /** Refused tokens per minute per address; 0 = unlimited. */
    badTokenLimit: reader.integer('BOTSHELF_BAD_TOKEN_LIMIT', 20, 0, 1_000_000),
    /** Minimum seconds between commits of counts. */
    stateSeconds: reader.integer('BOTSHELF_STATE_SECONDS', 60, 1, 3600),
    /** The age after which state history is pruned to one commit a day. */
    stateDays: reader.integer('BOTSHELF_STATE_DAYS', 1, 1, 36500),
    /** The shared Git server's repository to keep in step with; null without one. */
    remote: readRemoteSettings(reader, shared.remote),
    /** Where proposals of changes are reviewed: here, at the Git host, or nowhere. */
    proposals,
    /** The Git host that reviews proposals; null if they are reviewed elsewhere. */
    hostReview: readHostSettings(reader, proposals === 'host'),
    /** For people who edit the catalogue: open pages reload on edits and show faults. */
    dev: reader.flag('BOTSHELF_DEV'),
    /** The accounts that visitors of a demo log in to; null in other services: no setting makes one a demo. */
    demo: null as DemoProvider | null,
    /** How to reach the operator; null if it is not set. */
    contact: readContact(reader),
    /** A URI to which people report vulnerabilities; null if none is given. */
    securityContact: readSecurityContact(reader),
    /** Where people log in; null if nobody can. */
    login: readLoginSettings(reader),
    /** The secrets that seal cookies, newest first; if empty, one is generated. */
    secrets: readSecrets(reader),
    /** The address that notices for the people who run the list are sent to, a secret; null if they are not sent. */
    notifyUrl: readNotifyUrl(reader),
    /** The settings of a copy of a list, which takes no posts, forms and logins; null for any other service. */
    readOnly: readReadOnly(reader, shared.readOnly),
    /** Log every request. */
    accessLog: reader.flag('BOTSHELF_ACCESS_LOG'),
    /** Whether systemd waits to be told that the service is ready. */
    notifiesSystemd: env['NOTIFY_SOCKET'] !== undefined,
  };
}

function readProbePort(reader: SettingReader, port: number): number | null {
  if (reader.text('BOTSHELF_PROBE_PORT') === undefined) return null;
  const probePort = reader.integer('BOTSHELF_PROBE_PORT', 0, 0, 65535);
  if (probePort === port && port !== 0)
    reader.faults.push(`BOTSHELF_PROBE_PORT is ${port}, as PORT is: set it to another one, or leave it out.`);
  return probePort;
}

/** A read-only copy of a list: it follows the repository, and refuses posts, forms and logins. */
export interface ReadOnly {
  /** The public address of the original, without a slash at its end; null if it is not known. */
  readonly original: string | null;
}

/** Call it after all other settings are read, because it refuses those that a copy does not use. */
function readReadOnly(reader: SettingReader, isReadOnly: boolean): ReadOnly | null {
  const isSet = (name: string): boolean => reader.text(`BOTSHELF_${name}`) !== undefined;
  const hasOriginal = isSet('CANONICAL_URL');
  const unused = isReadOnly ? ofWriters.filter(isSet) : [];
  const found = [
    !isReadOnly && hasOriginal && 'BOTSHELF_CANONICAL_URL is set, but BOTSHELF_READ_ONLY is not on',
    ...unused.map((name) => `BOTSHELF_${name} is set, but has no use where BOTSHELF_READ_ONLY is on`),
  ].filter((fault) => fault !== false);
  reader.faults.push(...found.map((fault) => `${fault}: change one of the two.`));
  if (isReadOnly && !isSet('REMOTE'))
    reader.missing.push('BOTSHELF_READ_ONLY is on, but BOTSHELF_REMOTE is not set: change one of the two.');
  const original = hasOriginal ? reader.address('BOTSHELF_CANONICAL_URL', '') : null;
  return isReadOnly ? { original } : null;
}

/** The first settings of each part that a copy does not have: logins, proposals, notices and posts. */
const ofWriters = ['OAUTH_PROVIDER', 'OAUTH_ISSUER', 'PROPOSALS', 'NOTIFY_URL', 'ACK'];

/** Returns the settings of a demo of `catalogue`: HOST and PORT from the environment, and the defaults of all others. */
export function readDemoConfig(
  catalogue: string,
  demo: DemoProvider,
  { HOST, PORT = '0' }: NodeJS.ProcessEnv = process.env,
): Config {
  return { ...readConfig({ HOST, PORT, BOTSHELF_CATALOGUE: catalogue }), demo };
}

/** Returns the settings of a read-only copy of the remote `origin`: these, and all others from the environment. */
export function readMirrorConfig(settings: NodeJS.ProcessEnv, env: NodeJS.ProcessEnv = process.env): Config {
  return readConfig({ ...env, BOTSHELF_READ_ONLY: 'on', BOTSHELF_REMOTE: 'origin', ...settings });
}

/**
 * Returns whether systemd reads standard error into its journal, by device and inode: the variable is inherited, and standard
 * error may have been redirected since.
 */
export function isJournal({ JOURNAL_STREAM }: NodeJS.ProcessEnv = process.env): boolean {
  if (JOURNAL_STREAM === undefined) return false;
  const { dev, ino } = fstatSync(2);
  return JOURNAL_STREAM === `${dev}:${ino}`;
}

/** Returns who runs a command, also behind sudo: a name, or else a number. */
export function readUserName({ SUDO_USER }: NodeJS.ProcessEnv = process.env): string {
  if (SUDO_USER) return SUDO_USER;
  try {
    return userInfo().username;
  } catch {
    // No account has that number, as in a container.
    return `uid ${process.getuid?.() ?? ''}`;
  }
}

function readContact(reader: SettingReader): string | null {
  const value = reader.text('BOTSHELF_CONTACT') ?? null;
  if (value !== null && !/^[^\p{Cc}]{1,200}$/u.test(value))
    reader.faults.push(
      'BOTSHELF_CONTACT is not a single line of up to 200 characters: set it to a mail address or a link.',
    );
  return value;
}

function readSecurityContact(reader: SettingReader): string | null {
  const value = reader.text('BOTSHELF_SECURITY_CONTACT');
  if (value === undefined) return null;
  const uri = /^[^\s@/:]+@[^\s@/]+\.[^\s@/.]+$/.test(value) ? `mailto:${value}` : value;
  if (/^(?:https:\/\/|mailto:|tel:)[\x21-\x7E]{1,200}$/.test(uri) && URL.canParse(uri)) return uri;
  reader.faults.push(
    `BOTSHELF_SECURITY_CONTACT is ${JSON.stringify(value)}: give a mail address, or a link that begins with https://.`,
  );
  return null;
}

function listUnknownSettings(env: NodeJS.ProcessEnv, known: ReadonlySet<string>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('BOTSHELF_') && !known.has(name))
    .map((name) => {
      const nearest = findNearestName(name, known) ?? '';
      return `${name} is set, but there is no such setting: did you mean ${nearest}?`;
    });
}

/** Reads the settings of the remote, or null without one. */
function readRemoteSettings(reader: SettingReader, remote: string | null): RemoteSettings | null {
  const { faults, missing } = reader;
  const branch = reader.text('BOTSHELF_BRANCH') ?? null;
  const webhookSecret = reader.secret('BOTSHELF_WEBHOOK_SECRET') ?? null;
  const config = {
    remote: remote ?? '',
    branch,
    syncSeconds: reader.integer('BOTSHELF_SYNC_SECONDS', 60, 1, 86400),
    pushSeconds: reader.integer('BOTSHELF_PUSH_SECONDS', 10, 0, 3600),
    ack: reader.choice('BOTSHELF_ACK', ['local', 'remote']) ?? 'local',
    webhookSecret,
  } as const;
  if (branch !== null && !/^(?!-)[^\p{Cc} ~^:?*[\\]+$/u.test(branch))
    faults.push(`BOTSHELF_BRANCH is ${JSON.stringify(branch)}: set it to a branch's name such as main.`);
  if (webhookSecret !== null && webhookSecret.length < minWebhookSecretLength)
    faults.push(
      `BOTSHELF_WEBHOOK_SECRET has fewer than ${minWebhookSecretLength} characters: make one with "openssl rand -hex 32".`,
    );
  for (const needs of ['BOTSHELF_BRANCH', 'BOTSHELF_ACK', 'BOTSHELF_WEBHOOK_SECRET']) {
    if (remote === null && reader.text(needs) !== undefined)
      missing.push(`${needs} is set, but BOTSHELF_REMOTE is not: set both, or neither.`);
  }
  return remote === null ? null : config;
}

const minWebhookSecretLength = 16;

/** Reads the settings of the Git host. @param isUsed whether proposals are reviewed there */
function readHostSettings(reader: SettingReader, isUsed: boolean) {
  const kind = reader.choice('BOTSHELF_HOST_KIND', Object.keys(gitHosts) as GitHostId[]) ?? null;
  const token = reader.secret('BOTSHELF_HOST_TOKEN') ?? null;
  const api = reader.text('BOTSHELF_HOST_API')?.replace(/(?<!\/)\/+$/, '') ?? null;
  if (api !== null && !/^(?:https:\/\/|http:\/\/(?:localhost|127\.0\.0\.1)[:/])[^\s@?#]+$/.test(api))
    reader.faults.push(
      'BOTSHELF_HOST_API is not an address that can be used: give one such as https://github.example.org/api/v3.',
    );
  if (isUsed && reader.text('BOTSHELF_REMOTE') === undefined)
    reader.missing.push(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_REMOTE is not set: proposals are pushed to the remote.',
    );
  if (isUsed && token === null)
    reader.missing.push(
      'BOTSHELF_PROPOSALS is host, but BOTSHELF_HOST_TOKEN is not set: give a token of the host that may write pull requests.',
    );
  return { kind, api, token };
}

/** Reads the address that notices are sent to; null if none is set. It is a secret: no fault has it. */
function readNotifyUrl(reader: SettingReader): string | null {
  const url = reader.secret('BOTSHELF_NOTIFY_URL')?.trim();
  if (url === undefined || (URL.canParse(url) && isAllowed(new URL(url)))) return url ?? null;
  reader.faults.push(
    'BOTSHELF_NOTIFY_URL is not an address that notices can be sent to: give one that begins with https:// (http only for localhost and 127.0.0.1), without a user name.',
  );
  return null;
}

function isAllowed({ protocol, hostname, username, password }: URL): boolean {
  const isLocal = protocol === 'http:' && ['localhost', '127.0.0.1'].includes(hostname);
  return (protocol === 'https:' || isLocal) && username === '' && password === '';
}
