import { existsSync } from 'node:fs';
import { networkInterfaces } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Config } from '../app/config.ts';
import { formatVersion, readVersion } from '../app/version.ts';
import { formatSwitch } from '../git/branch/feed.ts';
import { directClient, removeCredentials } from '../git/run-git.ts';
import { readOrigin, readRemoteUrl } from '../git/branch/clone.ts';
import type { Repository } from '../git/repository.ts';
import { readHead, readRef, stateRef } from '../git/refs.ts';
import { messageOf } from '../lib/errors.ts';
import { formatAddress, isPublicAddress } from '../lib/network.ts';
import { callbackPath, isSecureOrigin } from '../login/session.ts';
import { describeRemoteError } from '../sync/remote.ts';
import { describeRewrite, listRewrites } from '../sync/rewrites.ts';
import { createRemoteNotice, outOfStep } from '../sync/sync.ts';
import {
  type DoctorCheck,
  type DoctorContext,
  failure,
  fine,
  inClone,
  type Outcome,
  toOutcome,
  warning,
} from './doctor-results.ts';
import { quoteForShell } from './init.ts';

/** The remote can be read, and has the branch, which was not rewritten lately. */
export const checkRemote = inClone(async (repository, context) => {
  const { config, repositoryOpener } = context;
  if (config.remote === null) {
    const notice = createRemoteNotice(config, await readOrigin(repositoryOpener));
    if (notice === null) return fine('none is set');
    const { remote } = await readParts(context);
    if (remote && !remote.faults.includes(notice))
      return fine('not checked: only the running service has it');
    const [reason = '', fix = ''] = notice.split('; ');
    return warning(reason, fix);
  }
  const own = repository.branch().replace('refs/heads/', '');
  const { remote, branch: set } = config.remote;
  const branch = set ?? own;
  const refs = ['HEAD', 'refs/heads/*', stateRef];
  const listed = await runRemote(context, repository, ['ls-remote', '--symref', remote, ...refs]);
  if (typeof listed !== 'string') return listed;
  const defaultBranch = /^ref: refs\/heads\/(.+)\tHEAD$/m.exec(listed)?.[1];
  const wanted = set ?? defaultBranch ?? own;
  if (wanted !== own && (await readRef(repository, `refs/heads/${wanted}`)) !== null)
    return warning(
      `the clone is on ${own}, and ${set === null ? 'the default branch of the remote' : 'BOTSHELF_BRANCH'} is ${wanted}`,
      `${formatSwitch(own, wanted)}, or set BOTSHELF_BRANCH=${own} where that is meant`,
    );
  const branches = Array.from(listed.matchAll(/\trefs\/heads\/(.+)$/gm), ([, name = '']) => name);
  if (branches.length > 0 && !/\tHEAD$/m.test(listed)) {
    const named = branches.includes(branch) ? branch : (branches[0] ?? branch);
    return warning(
      `it can be read, but its HEAD names no branch that is there, so new clones of it are empty`,
      `git symbolic-ref HEAD refs/heads/${named} on the Git server${named === own ? '' : `, and git switch ${named} here`}`,
    );
  }
  if (branches.includes(branch)) {
    const rewrites = config.readOnly ? [] : await listRewrites(repository);
    const last = rewrites.at(-1);
    if (last === undefined)
      return (
        (await checkPacks(repository, remote)) ??
        fine(`it can be read, and has ${branch}${listed.includes(stateRef) ? ' and the counts' : ''}`)
      );
    const what = await describeRewrite(repository, last, repository.branch(), remote);
    return toOutcome('warning', `its branch was rewritten, ${rewrites.length}× in 30 days: ${what}`);
  }
  const reason = `it can be read, but has no branch ${branch}`;
  return defaultBranch === undefined
    ? warning(reason, `git push ${removeCredentials(remote)} ${branch}`)
    : failure(`${reason}; its default branch is ${defaultBranch}`, `set BOTSHELF_BRANCH=${defaultBranch}`);
});

/** Returns a warning as `assessPacks` does; null for a remote that is not on this machine. */
async function checkPacks(repository: Repository, remote: string): Promise<Outcome | null> {
  const address = await readAddress(repository, remote);
  const folder = address.startsWith('file:') ? fileURLToPath(address) : resolve(repository.folder, address);
  if (!existsSync(folder)) return null;
  const run = async (...args: readonly string[]): Promise<string> =>
    (await directClient.run({ folder, args, accepts: 1 })).trim();
  return assessPacks(folder, await run('--version'), await run('config', '--bool', '--get', 'gc.cruftPacks'));
}

/**
 * Returns a warning if Git would keep each pruned object of the counts as a file for two weeks; null otherwise.
 * @param version what `git --version` prints
 * @param cruftPacks the setting; empty if it is not set
 */
export function assessPacks(folder: string, version: string, cruftPacks: string): Outcome | null {
  const [, minor] = /\b2\.(\d+)/.exec(version) ?? [];
  if (cruftPacks === 'true' || (cruftPacks === '' && Number(minor ?? 0) >= firstWithCruftPacks)) return null;
  const config = `git -C ${quoteForShell(folder)} config`;
  return warning(
    `${folder} may grow by gigabytes a week: Git keeps each object of a pruned history there as a file for two weeks`,
    `${config} gc.cruftPacks true && ${config} gc.pruneExpire 1.day.ago`,
  );
}

/** Git 2.41 is the first with cruft packs by default. */
const firstWithCruftPacks = 41;

async function readAddress(repository: Repository, remote: string): Promise<string> {
  return await readRemoteUrl(repository, remote).catch(() => remote);
}

/** The remote takes what this service pushes. */
export const checkPush = inClone(async (repository, context) => {
  const { remote, readOnly } = context.config;
  if (remote === null) return fine('not checked: no remote is set');
  if (readOnly) return fine('not checked: BOTSHELF_READ_ONLY is on, so nothing is pushed');
  const head = await readHead(repository);
  if (head === null) return fine('not checked: there is no commit yet');
  // A ref that no remote has is never refused for being behind.
  const refspec = `${head}:refs/botshelf/doctor`;
  const push = ['push', '--dry-run', '--no-verify', '--quiet', remote.remote, refspec];
  const pushed = await runRemote(context, repository, push);
  if (typeof pushed !== 'string') return pushed;
  // A protected branch refuses only what is really pushed.
  const fault = (await readParts(context))['remote']?.faults.find((each) => each.startsWith(outOfStep));
  return fault === undefined ? fine('the remote takes pushes of this user') : failure(fault, accessAdvice);
});

/** Runs git against the remote. Returns its output, or the outcome of the failure. */
async function runRemote({ signal }: DoctorContext, repository: Repository, args: readonly string[]) {
  try {
    return await repository.run(args, { stallSeconds: 30, signal });
  } catch (error) {
    return failure(describeRemoteError(error), accessAdvice);
  }
}

const accessAdvice =
  'check the address, the network and the deploy key as the service\'s user; see "Access to the Git server" in docs/several-machines.md';

/** The clocks agree: of two counts the later wins. */
export const checkClock = inClone(async (repository, { config, signal }) => {
  if (config.remote === null) return fine('not checked: there is no remote to compare with');
  const address = await readAddress(repository, config.remote.remote);
  if (!/^https?:/.test(address) || !URL.canParse(address))
    return fine('not checked: the remote is not reached over http');
  const sent = Date.now();
  const request: RequestInit = { method: 'HEAD', redirect: 'manual', signal };
  const response = await fetch(new URL(address).origin, request).catch(() => undefined);
  const date = Date.parse(response?.headers.get('date') ?? '');
  if (Number.isNaN(date)) return fine('not checked: the remote sends no date');
  return assessClock((sent + Date.now()) / 2 - date);
});

/** @param ahead milliseconds by which this clock is ahead of that of the remote, which has whole seconds */
export function assessClock(ahead: number): Outcome {
  const seconds = Math.round(Math.abs(ahead) / 1000);
  if (seconds <= 2) return fine('it agrees with that of the remote');
  const reason = `it is ${seconds} s ${ahead > 0 ? 'ahead of' : 'behind'} that of the remote`;
  return (seconds > 60 ? failure : warning)(reason, 'timedatectl set-ntp true');
}

/** The service runs, is ready and is the program that is installed. */
export const checkService: DoctorCheck = async ({ config, signal }) => {
  const address = toLocalAddress(config);
  if (address === null) return fine('not checked: PORT is 0, so its address is not known');
  const health = await ask(`${address}/healthz`, signal);
  if (health instanceof Error)
    return warning(`no service responds at ${address} (${health.message})`, findServiceCommand('start'));
  const { version, commit = null } = health;
  if (!isBotshelf(health) || version === undefined)
    return failure(`another program responds at ${address}`, 'stop it, or set PORT to another port');
  const readiness = await ask(`${address}/readyz`, signal);
  if (readiness instanceof Error || readiness.parts === undefined)
    return failure(`${address}/readyz does not respond`, 'look at the log of the service');
  const parts = Object.entries(readiness.parts);
  if (!readiness.ready) {
    const missing = parts
      .filter(([, { ready }]) => !ready)
      .map(([name, { faults }]) => [`the ${name} is not loaded yet`, ...faults].join(', '));
    return failure(
      `it is not ready (${missing.join('; ')})`,
      'wait a moment, or look at the log of the service',
    );
  }
  const [running, installed] = [{ version, commit }, readVersion()].map(formatVersion);
  if (running !== installed)
    return warning(`${running} runs, and ${installed} is installed`, findServiceCommand('restart'));
  // The address and the remote have checks of their own.
  const faults = parts.flatMap(([name, part]) => (/^(address|remote)$/.test(name) ? [] : part.faults));
  return faults.length === 0
    ? fine(`${running} is ready at ${address}`)
    : toOutcome('warning', faults.join('; '));
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

/** The headers of a proxy are trusted if there is one, and only then. */
export const checkProxy: DoctorCheck = async (context) => {
  const notice = (await readParts(context))['address']?.faults[0];
  const addresses = Object.values(networkInterfaces()).flatMap((all = []) =>
    all.map(({ address }) => address),
  );
  return assessProxy(context.config, addresses, notice);
};

/**
 * @param addresses those of this machine
 * @param notice the running service's notice about requests through a proxy
 */
export function assessProxy(
  { host, baseUrl, trustProxy }: Pick<Config, 'host' | 'baseUrl' | 'trustProxy'>,
  addresses: readonly string[],
  notice?: string,
): Outcome {
  if (notice !== undefined) {
    const [reason = '', fix = ''] = notice.split('; ');
    return warning(reason, fix);
  }
  const listening = /^(?:0\.0\.0\.0|::)$/.test(host) ? addresses : [host];
  const found = listening.find(isPublicAddress);
  if (trustProxy && found !== undefined)
    return warning(
      `X-Forwarded-For is trusted, and any client that reaches ${found} can set it`,
      'HOST=127.0.0.1, or a private address that only the proxy reaches',
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
  const there = await ask(`${baseUrl}/healthz`, signal);
  if (there instanceof Error)
    return failure(
      `${baseUrl} cannot be reached from here (${there.message})`,
      'check its DNS entry, the certificate and the proxy',
    );
  if (isBotshelf(there)) {
    const local = toLocalAddress(config);
    const own = local === null ? undefined : await ask(`${local}/healthz`, signal);
    if (own === undefined || !isBotshelf(own)) return fine(`${baseUrl} leads to a Botshelf`);
    return own.instance === there.instance
      ? fine(`${baseUrl} leads to this service`)
      : fine(`${baseUrl} leads to another Botshelf than the one at ${local}, as with several machines`);
  }
  // A proxy may not forward probes, and on a port of their own they are not public.
  const document = await ask(`${baseUrl}/api/openapi.json`, signal);
  const address = document instanceof Error ? undefined : document.servers?.[0]?.url;
  if (address === baseUrl) return fine(`${baseUrl} leads to a Botshelf with this base address`);
  return address === undefined
    ? failure(`${baseUrl} leads to something else`, 'check the address that the proxy forwards to')
    : failure(
        `${baseUrl} leads to a Botshelf that takes ${address} for its address`,
        'set BOTSHELF_BASE_URL there',
      );
};

/** Returns where probes of this machine's service respond; null if that is not known. */
function toLocalAddress({ host, port, probePort }: Config): string | null {
  const known = probePort ?? port;
  const own = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return known === 0 ? null : formatAddress(own, known);
}

/** Returns the parts that a service on this machine reports; empty if no service responds. */
export async function readParts({ config, signal }: DoctorContext): Promise<NonNullable<Answer['parts']>> {
  const address = toLocalAddress(config);
  const readiness = address === null ? {} : await ask(`${address}/readyz`, signal);
  return readiness instanceof Error ? {} : (readiness.parts ?? {});
}

/** Parts of `/healthz`, `/readyz` or the OpenAPI document of a service; all undefined if another program responds. */
interface Answer {
  readonly ok?: boolean;
  readonly version?: string;
  readonly commit?: string | null;
  readonly instance?: string;
  readonly ready?: boolean;
  readonly parts?: Readonly<Record<string, { readonly ready: boolean; readonly faults: readonly string[] }>>;
  readonly servers?: readonly { readonly url?: string }[];
}

/** Reads a JSON document of any status. Returns an error if nothing responds. */
async function ask(url: string, signal: AbortSignal): Promise<Answer | Error> {
  try {
    const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(10_000)]) });
    return { ...((await response.json()) as Answer) };
  } catch (error) {
    if (error instanceof SyntaxError) return {};
    const { cause = error } = error instanceof Error ? error : {};
    return cause instanceof Error ? cause : new Error(String(cause));
  }
}

function isBotshelf(answer: Answer | Error): answer is Answer & { readonly instance: string } {
  return !(answer instanceof Error) && answer.ok === true && typeof answer.instance === 'string';
}

/** People can log in: the address allows secure cookies, and the provider's discovery document is there and valid. */
export const checkLogin: DoctorCheck = async ({ config: { login, baseUrl, readOnly } }) => {
  if (readOnly) return fine('BOTSHELF_READ_ONLY is on, so nobody logs in here');
  if (login === null) return fine('none is set: the operator issues tokens');
  if (!isSecureOrigin(baseUrl))
    return failure(
      `${baseUrl} has no https, so cookies are not kept and nobody can log in`,
      'set BOTSHELF_BASE_URL to an address that begins with https://',
    );
  const { openProvider } = await import('../login/login.ts');
  const provider = await openProvider(login, baseUrl);
  try {
    await provider.begin();
  } catch (error) {
    return failure(
      `the discovery document of ${login.issuer} cannot be used (${messageOf(error)})`,
      'check BOTSHELF_OAUTH_ISSUER, the network and the clock',
    );
  }
  return fine(
    `${provider.name} has a valid discovery document; its redirect has to be ${baseUrl}${callbackPath}`,
  );
};
