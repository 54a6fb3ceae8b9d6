import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { formatAddress } from '../../lib/base-url.ts';
import type { Config } from '../../app/config.ts';
import { messageOf } from '../../lib/errors.ts';
import { formatVersion, readVersion, type Version } from '../../app/version.ts';
import { type DoctorCheck, failure, fine, type Outcome, toOutcome, warning } from './results.ts';

/** The service runs, is ready and is the program that is installed. */
export const checkService: DoctorCheck = async ({ config, signal }) => {
  const address = toLocalAddress(config);
  if (address === null) return fine('not checked: PORT is 0, so its address is not known');
  const health = await read(`${address}/healthz`, signal);
  if (health instanceof Error)
    return warning(`no service responds at ${address} (${messageOf(health)})`, findServiceCommand('start'));
  const running = parseHealth(health);
  if (running === undefined)
    return failure(`another program responds at ${address}`, 'stop it, or set PORT to another port');
  const installed = readVersion();
  const ready = parseReadiness(await read(`${address}/readyz`, signal));
  if (ready === undefined)
    return failure(`${address}/readyz does not respond`, 'look at the log of the service');
  if (!ready.ready)
    return failure(
      `it is not ready (${listMissingParts(ready)})`,
      'wait a moment, or look at the log of the service',
    );
  if (formatVersion(running) !== formatVersion(installed))
    return warning(
      `${formatVersion(running)} runs, and ${formatVersion(installed)} is installed`,
      findServiceCommand('restart'),
    );
  const wrong = formatParts(ready);
  return wrong === ''
    ? fine(`${formatVersion(running)} is ready at ${address}`)
    : toOutcome('warning', wrong);
};

/**
 * Returns the command that starts the service, or stops and starts it.
 * @param folders where units are
 */
export function findServiceCommand(verb: 'start' | 'restart', folders = unitFolders): string {
  const hasUnit = folders.some((folder) => existsSync(join(folder, 'botshelf.service')));
  if (hasUnit) return `systemctl ${verb} botshelf`;
  return verb === 'start' ? 'botshelf serve' : 'stop it, then botshelf serve';
}

const unitFolders: readonly string[] = ['/etc/systemd/system', '/usr/lib/systemd/system'];

/** The proxy's headers are believed where there is a proxy, and only there. */
export const checkProxy: DoctorCheck = async ({ config, signal }) => {
  const address = toLocalAddress(config);
  const ready = address === null ? undefined : parseReadiness(await read(`${address}/readyz`, signal));
  return assessProxy(config, ready?.parts['address']?.faults[0]);
};

/** @param notice what a running service says of requests that came through a proxy */
export function assessProxy(
  { host, baseUrl, trustProxy }: Pick<Config, 'host' | 'baseUrl' | 'trustProxy'>,
  notice?: string,
): Outcome {
  if (notice !== undefined) return warning(notice, 'set BOTSHELF_BASE_URL to the public address');
  if (trustProxy && !isLoopback(host))
    return warning(
      `X-Forwarded-For is trusted, and any client that reaches ${host} can set it`,
      'HOST=127.0.0.1, or let a firewall admit the proxy alone',
    );
  if (!trustProxy && baseUrl.startsWith('https:'))
    return warning(
      'the public address is https, so there is a proxy, but X-Forwarded-For is not trusted: all visitors share one limit',
      'BOTSHELF_TRUST_PROXY=on',
    );
  return fine(trustProxy ? 'X-Forwarded-For of the proxy is trusted' : 'no proxy is set up');
}

/** The public address leads to this service. */
export const checkBaseAddress: DoctorCheck = async ({ config, signal }) => {
  const { baseUrl, isBaseUrlSet } = config;
  if (!isBaseUrlSet) return fine(`BOTSHELF_BASE_URL is not set, links lead to ${baseUrl}`);
  const seen = await read(`${baseUrl}/healthz`, signal);
  if (seen instanceof Error)
    return failure(
      `${baseUrl} cannot be reached from here (${messageOf(seen)})`,
      'check its DNS entry, the certificate and the proxy',
    );
  const local = toLocalAddress(config);
  const own = local === null ? undefined : parseHealth(await read(`${local}/healthz`, signal));
  const there = parseHealth(seen);
  if (there !== undefined)
    return own === undefined || own.instance === there.instance
      ? fine(`${baseUrl} leads to ${own ? 'this service' : 'a Botshelf'}`)
      : warning(
          `${baseUrl} leads to another Botshelf than the one at ${local}`,
          'check the address that the proxy forwards to; with several machines behind it this is as it should be',
        );
  // The proxy may keep probes to itself, and with a port of their own they are not public.
  const address = parseServer(await read(`${baseUrl}/api/openapi.json`, signal));
  if (address === baseUrl) return fine(`${baseUrl} leads to a Botshelf with this base address`);
  return address === undefined
    ? failure(`${baseUrl} leads to something else`, 'check the address that the proxy forwards to')
    : failure(
        `${baseUrl} leads to a Botshelf that takes ${address} for its address`,
        'set BOTSHELF_BASE_URL there',
      );
};

/** Returns where probes of this machine's service respond; null where that is not known. */
function toLocalAddress({ host, port, probePort }: Config): string | null {
  const known = probePort ?? port;
  if (known === 0) return null;
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return formatAddress(own, known);
}

function isLoopback(host: string): boolean {
  return /^(localhost|127(\.\d+){3}|::1)$/.test(host);
}

/** Reads a JSON document of any status; undefined for anything else, an error where nothing responds. */
async function read(url: string, signal: AbortSignal): Promise<unknown> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    const text = await response.text();
    return text.startsWith('{') ? (JSON.parse(text) as unknown) : undefined;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    const cause = error instanceof Error ? (error.cause ?? error) : error;
    return cause instanceof Error ? cause : new Error(String(cause));
  }
}

interface RunningService extends Version {
  readonly instance: string;
}

function parseHealth(value: unknown): RunningService | undefined {
  const { ok, version, commit, instance } = toObject(value);
  return ok === true && typeof version === 'string' && typeof instance === 'string'
    ? { version, commit: typeof commit === 'string' ? commit : null, instance }
    : undefined;
}

interface Readiness {
  readonly ready: boolean;
  readonly parts: Readonly<
    Record<string, { readonly ready: boolean; readonly faults: readonly string[] } | undefined>
  >;
}

function parseReadiness(value: unknown): Readiness | undefined {
  const { ready, parts } = toObject(value);
  return typeof ready === 'boolean' && typeof parts === 'object'
    ? { ready, parts: parts as Readiness['parts'] }
    : undefined;
}

/** Returns which parts of a service are not ready, and why where they say so. */
function listMissingParts({ parts }: Readiness): string {
  return Object.entries(parts)
    .filter(([, part]) => part?.ready === false)
    .map(([name, part]) => [`the ${name} is not loaded yet`, ...(part?.faults ?? [])].join(', '))
    .join('; ');
}

/** Returns what does not work in the parts of a service; the address and the remote have checks of their own. */
function formatParts({ parts }: Readiness): string {
  return Object.entries(parts)
    .filter(([name]) => name !== 'address' && name !== 'remote')
    .flatMap(([, part]) => part?.faults ?? [])
    .join('; ');
}

/** Returns the public address that an OpenAPI document names. */
function parseServer(value: unknown): string | undefined {
  const { servers } = toObject(value);
  const { url } = toObject(Array.isArray(servers) ? servers[0] : undefined);
  return typeof url === 'string' ? url : undefined;
}

function toObject(value: unknown): Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null ? { ...value } : {};
}
