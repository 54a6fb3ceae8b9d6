import { userInfo } from 'node:os';
import { resolve } from 'node:path';
import { type LoginSettings, readLoginSettings, readSecrets } from './login/settings.ts';
import type { LogSettings } from './log.ts';
import { readSecretFiles, secretSettings } from './secret-files.ts';
import { nearestName } from './spelling/nearest-name.ts';

/** The settings of the service, from the environment; docs/configuration.md explains each. */
export interface Config {
  readonly host: string;
  readonly port: number;
  /** The port for probes and metrics only; null where `port` serves them too. */
  readonly probePort: number | null;
  /** The public address, which may have a path, without a slash at its end. Links and origins come from it, never from `Host`. */
  readonly baseUrl: string;
  /** Whether `baseUrl` was set; it is a guess where it was not. */
  readonly isBaseUrlSet: boolean;
  /** The folder that holds `bots/`. Absolute. */
  readonly catalogue: string;
  /** The folder for what is not in Git. Absolute. */
  readonly var: string;
  /** Believe one hop of `X-Forwarded-For`. */
  readonly trustProxy: boolean;
  /** Posts a minute and bot; 0 is no limit. */
  readonly rateLimit: number;
  /** Refused tokens a minute and address; 0 is no limit. */
  readonly badTokenLimit: number;
  /** At most one commit of counts in that time. */
  readonly stateSeconds: number;
  /** The age after which state history is pruned to one commit a day. */
  readonly stateDays: number;
  /** The shared Git server's repository to keep in step with; null where this clone is all there is. */
  readonly remote: RemoteConfig | null;
  /** Keep copies of the bots' pictures. */
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

export interface RemoteConfig {
  /** A remote's name or URL, as git accepts it. */
  readonly remote: string;
  /** The branch there; null for the one with the name of the checked-out branch. */
  readonly branch: string | null;
  /** Fetches at least that often. */
  readonly syncSeconds: number;
  /** Pushes at most that often. */
  readonly pushSeconds: number;
  /** When the response to a post is sent: once the change is durable here, or once the remote has it. */
  readonly ack: 'local' | 'remote';
  /** The secret that the Git server signs its calls of `/hooks/push` with; null where there is no webhook. */
  readonly webhookSecret: string | null;
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
  const faults: string[] = [];
  const secrets = readSecretFiles(env, faults);
  // A secret that cannot be read is not one that is missing.
  if (faults.length > 0) throw new ConfigError(faults);
  const known = new Set(['BOTSHELF_FAILPOINT', ...secretSettings.map((name) => `${name}_FILE`)]);
  const text = (name: string): string | undefined => {
    known.add(name);
    const value = env[name]?.trim() ?? '';
    return value === '' ? secrets.get(name) : value;
  };
  const integer = (name: string, fallback: number, least: number, most: number): number => {
    const value = text(name);
    if (value === undefined) return fallback;
    const number = /^\d{1,10}$/.test(value) ? Number(value) : Number.NaN;
    if (number >= least && number <= most) return number;
    faults.push(`${name} is ${JSON.stringify(value)}: set it to a whole number from ${least} to ${most}.`);
    return fallback;
  };
  const flag = (name: string, fallback = false): boolean => {
    const value = text(name)?.toLowerCase() ?? (fallback ? 'on' : 'off');
    if (['on', 'true', '1', 'yes'].includes(value)) return true;
    if (!['off', 'false', '0', 'no'].includes(value)) {
      faults.push(`${name} is ${JSON.stringify(value)}: set it to "on" or "off".`);
    }
    return false;
  };
  const choice = <const T extends string>(name: string, choices: readonly T[]): T | undefined => {
    const value = text(name)?.toLowerCase();
    const chosen = choices.find((one) => one === value);
    if (value !== undefined && chosen === undefined)
      faults.push(`${name} is ${JSON.stringify(value)}: set it to ${listOf(choices)}.`);
    return chosen;
  };
  const address = (name: string, fallback: string): string => {
    const value = text(name);
    if (value === undefined) return fallback;
    const url = URL.canParse(value) ? new URL(value) : undefined;
    const path = url?.pathname.replace(/\/$/, '') ?? '';
    if (
      url &&
      /^https?:$/.test(url.protocol) &&
      basePaths.test(path) &&
      !url.search &&
      !url.hash &&
      !url.username
    ) {
      return url.origin + path;
    }
    faults.push(
      `${name} is ${JSON.stringify(value)}: set it to an address such as https://bots.example.org or https://example.org/bots; names in its path have letters, digits, "-", "_", "." and "~" only, and the first is not "api".`,
    );
    return fallback;
  };

  const remote = (): RemoteConfig | null => {
    const name = text('BOTSHELF_REMOTE');
    const branch = text('BOTSHELF_BRANCH') ?? null;
    const webhookSecret = text('BOTSHELF_WEBHOOK_SECRET') ?? null;
    const config = {
      remote: name ?? '',
      branch,
      syncSeconds: integer('BOTSHELF_SYNC_SECONDS', 60, 1, 86400),
      pushSeconds: integer('BOTSHELF_PUSH_SECONDS', 10, 0, 3600),
      ack: choice('BOTSHELF_ACK', ['local', 'remote']) ?? 'local',
      webhookSecret,
    } as const;
    if (name?.startsWith('-'))
      faults.push("BOTSHELF_REMOTE begins with -: set it to a remote's name or an address.");
    if (branch !== null && !/^(?!-)[^\p{Cc} ~^:?*[\\]+$/u.test(branch))
      faults.push(`BOTSHELF_BRANCH is ${JSON.stringify(branch)}: set it to a branch's name such as main.`);
    if (webhookSecret !== null && webhookSecret.length < shortestWebhookSecret)
      faults.push(
        `BOTSHELF_WEBHOOK_SECRET has fewer than ${shortestWebhookSecret} characters: make one with "openssl rand -hex 32".`,
      );
    for (const needs of ['BOTSHELF_BRANCH', 'BOTSHELF_ACK', 'BOTSHELF_WEBHOOK_SECRET']) {
      if (name === undefined && text(needs) !== undefined)
        faults.push(`${needs} is set, but BOTSHELF_REMOTE is not: set both, or neither.`);
    }
    return name === undefined ? null : config;
  };

  const contact = (): string | null => {
    const value = text('BOTSHELF_CONTACT') ?? null;
    if (value !== null && !/^[^\p{Cc}]{1,200}$/u.test(value))
      faults.push(
        'BOTSHELF_CONTACT is not a single line of up to 200 characters: set it to a mail address or a link.',
      );
    return value;
  };

  const securityContact = (): string | null => {
    const value = text('BOTSHELF_SECURITY_CONTACT');
    if (value === undefined) return null;
    const uri = /^[^\s@/:]+@[^\s@/]+\.[^\s@/]+$/.test(value) ? `mailto:${value}` : value;
    if (/^(?:https:\/\/|mailto:|tel:)[\x21-\x7E]{1,200}$/.test(uri) && URL.canParse(uri)) return uri;
    faults.push(
      `BOTSHELF_SECURITY_CONTACT is ${JSON.stringify(value)}: give a mail address, or a link that begins with https://.`,
    );
    return null;
  };

  const port = integer('PORT', 8080, 0, 65535);
  const probePort =
    text('BOTSHELF_PROBE_PORT') === undefined ? null : integer('BOTSHELF_PROBE_PORT', 0, 0, 65535);
  if (probePort === port && port !== 0)
    faults.push(`BOTSHELF_PROBE_PORT is ${port}, as PORT is: set it to another one, or leave it out.`);
  const catalogue = resolve(text('BOTSHELF_CATALOGUE') ?? '.');
  const config: Config = {
    host: text('HOST') ?? '127.0.0.1',
    port,
    probePort,
    baseUrl: address('BOTSHELF_BASE_URL', `http://localhost:${port}`),
    isBaseUrlSet: text('BOTSHELF_BASE_URL') !== undefined,
    catalogue,
    var: resolve(text('BOTSHELF_VAR') ?? `${catalogue}/var`),
    trustProxy: flag('BOTSHELF_TRUST_PROXY'),
    rateLimit: integer('BOTSHELF_RATE_LIMIT', 120, 0, 1_000_000),
    badTokenLimit: integer('BOTSHELF_BAD_TOKEN_LIMIT', 20, 0, 1_000_000),
    stateSeconds: integer('BOTSHELF_STATE_SECONDS', 60, 1, 3600),
    stateDays: integer('BOTSHELF_STATE_DAYS', 1, 1, 36500),
    remote: remote(),
    images: flag('BOTSHELF_IMAGES', true),
    dev: flag('BOTSHELF_DEV'),
    demo: false,
    contact: contact(),
    securityContact: securityContact(),
    login: readLoginSettings(text, faults),
    secrets: readSecrets(text, faults),
    log: {
      level: choice('BOTSHELF_LOG_LEVEL', ['debug', 'info', 'warn', 'error']) ?? 'info',
      format: choice('BOTSHELF_LOG_FORMAT', ['json', 'pretty']) ?? null,
    },
    accessLog: flag('BOTSHELF_ACCESS_LOG'),
    notifiesSystemd: env['NOTIFY_SOCKET'] !== undefined,
    failpoint: env['NODE_ENV'] === 'test' ? (text('BOTSHELF_FAILPOINT') ?? null) : null,
    unknown: [],
  };
  if (faults.length > 0) throw new ConfigError(faults);
  return { ...config, unknown: unknownSettings(env, known) };
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

const shortestWebhookSecret = 16;

/** Not below /api: the rest of a path of the API, such as /bots, begins like a path of the site. */
const basePaths = /^(?!\/api(?:\/|$))(?:\/[\w.~-]+)*$/;

/** Returns a text such as `"json" or "pretty"`. */
function listOf(choices: readonly string[]): string {
  return new Intl.ListFormat('en', { type: 'disjunction' }).format(choices.map((one) => `"${one}"`));
}

function unknownSettings(env: NodeJS.ProcessEnv, known: ReadonlySet<string>): string[] {
  return Object.keys(env)
    .filter((name) => name.startsWith('BOTSHELF_') && !known.has(name))
    .map((name) => {
      const nearest = nearestName(name, known) ?? '';
      return `${name} is set, but there is no such setting: did you mean ${nearest}?`;
    });
}
