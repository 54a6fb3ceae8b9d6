import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type LoginSettings, readLoginSettings, readSecrets } from '../login/settings.ts';
import type { LogSettings } from '../lib/log.ts';
import { readSecretFiles, secretSettings } from './secret-files.ts';
import { SettingReader } from '../lib/setting-reader.ts';
import { findNearestName } from '../lib/nearest-name.ts';
import { type RemoteSettings, readRemoteSettings } from '../sync/settings.ts';

/** The settings of the service, from the environment; docs/configuration.md explains each. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port for probes and metrics only; null where `port` serves them too. */
  readonly probePort: number | null;
  /**
   * The public address, which may have a path, without a slash at its end. Links and origins come from it, never from
   * `Host`.
   */
  readonly baseUrl: string;
  /** Whether `baseUrl` was set; it is a guess where it was not. */
  readonly isBaseUrlSet: boolean;
  /** The folder that holds `bots/`. Absolute. */
  readonly catalogue: string;
  /** The folder for what is not in Git. Absolute. */
  readonly var: string;
  /** Believe one hop of `X-Forwarded-For`. */
  readonly trustProxy: boolean;
  /** Posts per minute per bot; 0 = unlimited. */
  readonly rateLimit: number;
  /** Refused tokens per minute per address; 0 = unlimited. */
  readonly badTokenLimit: number;
  /** Minimum seconds between commits of counts. */
  readonly stateSeconds: number;
  /** The age after which state history is pruned to one commit a day. */
  readonly stateDays: number;
  /** The shared Git server's repository to keep in step with; null where this clone is all there is. */
  readonly remote: RemoteSettings | null;
  /** Keep copies of the bots' images. */
  readonly images: boolean;
  /** For people who edit the catalogue: open pages reload on edits and show faults. */
  readonly dev: boolean;
  /** Mark every page as one of a demo. */
  readonly demo: boolean;
  /** How to reach the operator; null where it is not set. */
  readonly contact: string | null;
  /** A URI to which people report vulnerabilities; null where none is given. */
  readonly securityContact: string | null;
  /** Where people log in; null where nobody can. */
  readonly login: LoginSettings | null;
  /** The secrets that seal cookies, newest first; where empty, one is generated. */
  readonly secrets: readonly string[];
  readonly log: LogSettings;
  /** Log every request. */
  readonly accessLog: boolean;
  /** Whether systemd waits to be told that the service is ready. */
  readonly notifiesSystemd: boolean;
  /** The failpoint that kills the process, in tests only. */
  readonly failpoint: string | null;
  /** A sentence for each BOTSHELF_ variable that is not a setting. */
  readonly unknown: readonly string[];
}

/** Invalid settings: a sentence each, with the variable's name and the values it takes. */
export class ConfigError extends Error {
  readonly faults: readonly string[];

  constructor(faults: readonly string[]) {
    super(faults.join('\n'));
    this.name = 'ConfigError';
    this.faults = faults;
  }
}

/**
 * Reads the configuration from the environment, the only place that does.
 * @throws {ConfigError} naming every fault at once.
 */
export function readConfig(env: NodeJS.ProcessEnv = process.env): Config {
  const fileFaults: string[] = [];
  const secrets = readSecretFiles(env, fileFaults);
  // A secret that cannot be read is not one that is missing.
  if (fileFaults.length > 0) throw new ConfigError(fileFaults);
  const reader = new SettingReader(env, secrets);
  const port = reader.integer('PORT', 8080, 0, 65535);
  const probePort =
    reader.text('BOTSHELF_PROBE_PORT') === undefined
      ? null
      : reader.integer('BOTSHELF_PROBE_PORT', 0, 0, 65535);
  if (probePort === port && port !== 0)
    reader.faults.push(`BOTSHELF_PROBE_PORT is ${port}, as PORT is: set it to another one, or leave it out.`);
  const catalogue = resolve(reader.text('BOTSHELF_CATALOGUE') ?? '.');
  const config: Config = {
    host: reader.text('HOST') ?? '127.0.0.1',
    port,
    probePort,
    baseUrl: reader.address('BOTSHELF_BASE_URL', `http://localhost:${port}`),
    isBaseUrlSet: reader.text('BOTSHELF_BASE_URL') !== undefined,
    catalogue,
    var: resolve(reader.text('BOTSHELF_VAR') ?? `${catalogue}/var`),
    trustProxy: reader.flag('BOTSHELF_TRUST_PROXY'),
    rateLimit: reader.integer('BOTSHELF_RATE_LIMIT', 120, 0, 1_000_000),
    badTokenLimit: reader.integer('BOTSHELF_BAD_TOKEN_LIMIT', 20, 0, 1_000_000),
    stateSeconds: reader.integer('BOTSHELF_STATE_SECONDS', 60, 1, 3600),
    stateDays: reader.integer('BOTSHELF_STATE_DAYS', 1, 1, 36500),
    remote: readRemoteSettings(reader),
    images: reader.flag('BOTSHELF_IMAGES', true),
    dev: reader.flag('BOTSHELF_DEV'),
    demo: false,
    contact: readContact(reader),
    securityContact: readSecurityContact(reader),
    login: readLoginSettings(reader),
    secrets: readSecrets(reader),
    log: {
      level: reader.choice('BOTSHELF_LOG_LEVEL', ['debug', 'info', 'warn', 'error']) ?? 'info',
      format: reader.choice('BOTSHELF_LOG_FORMAT', ['json', 'pretty']) ?? null,
    },
    accessLog: reader.flag('BOTSHELF_ACCESS_LOG'),
    notifiesSystemd: env['NOTIFY_SOCKET'] !== undefined,
    failpoint: env['NODE_ENV'] === 'test' ? (reader.text('BOTSHELF_FAILPOINT') ?? null) : null,
    unknown: [],
  };
  if (reader.faults.length > 0) throw new ConfigError(reader.faults);
  const known = [...reader.names, 'BOTSHELF_FAILPOINT', ...secretSettings.map((name) => `${name}_FILE`)];
  return { ...config, unknown: listUnknownSettings(env, new Set(known)) };
}

/**
 * Returns the settings of a demo of `catalogue`: HOST and PORT from the environment, and the defaults of all others.
 * @param freePort where to listen when PORT is not set, or 0
 */
export function readDemoConfig(
  catalogue: string,
  freePort: number,
  { HOST, PORT = '0' }: NodeJS.ProcessEnv = process.env,
): Config {
  const port = Number(PORT) === 0 ? String(freePort) : PORT;
  return { ...readConfig({ HOST, PORT: port, BOTSHELF_CATALOGUE: catalogue }), demo: true };
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
  const uri = /^[^\s@/:]+@[^\s@/]+\.[^\s@/]+$/.test(value) ? `mailto:${value}` : value;
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
