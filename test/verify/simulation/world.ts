import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { type GitServer, startGitServer } from '../../support/git-server.ts';
import { startProvider, type TestProvider } from '../../support/login-provider.ts';
import { loginEnv } from '../../support/login-site.ts';
import type { TestRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { type ServiceProcess, startServiceProcess } from '../../support/service-process.ts';
import { type SharedRepository, sharedRepository } from '../../support/shared-repository.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { issueTestTokens } from '../../support/token.ts';
import { Visitor } from '../../support/visitor.ts';
import { type FaultInjector, faultInjector } from '../faults/fault-injector.ts';
import type { Trouble } from './models.ts';
import { allBots, type Deed, machineCount } from './plan.ts';
import { Recorder } from './recorder.ts';

/** The author of all bots, and the two who decide about proposals. */
export const people = { author: '1000', maintainer: '42', colleague: '43' } as const;

/** The values that the pages have at the start. */
export const firstValues = {
  website: 'https://example.org/0',
  support: 'https://example.org/0',
  count: 'none',
};

/** A page with these values. */
export function pageWith(values: object): string {
  return mainPage({ authors: [people.author], ...values });
}

/** A service with its clone, its line to the remote and the line of its clients to it. */
export interface Machine {
  readonly index: number;
  readonly clone: TestRepository;
  readonly remote: GitServer;
  readonly lineToRemote: TcpProxy;
  readonly lineOfClients: TcpProxy;
  /** Where clients reach it, also after a restart. */
  readonly address: string;
  readonly calls: FaultInjector | undefined;
  /** Days by which its clock is ahead. */
  clockDays: number;
  service: ServiceProcess | undefined;
  /** The services that ran here, also those that ended, with the days by which their clocks were wrong. */
  readonly services: { readonly service: ServiceProcess; readonly clockDays: number }[];
}

export type MachineTrouble = Trouble & { readonly machine: number };

export interface World {
  readonly shared: SharedRepository;
  readonly machines: Machine[];
  readonly recorder: Recorder;
  /** How many times longer all takes than on a machine that does nothing else, so that as much is done on a busy one. */
  readonly slowness: number;
  /** The troubles, with their times and machines. */
  readonly troubles: MachineTrouble[];
  /** The branch before and after each force push. */
  readonly rewrites: { readonly old: string; readonly commit: string }[];
  /** The branch of each backup that the remote came back from. Nothing that it had may be lost by that. */
  readonly restores: string[];
  /** Bot → the tokens that its owner got, the last one last. */
  readonly tokens: Map<string, string[]>;
  /** The browser of an account, logged in at one machine and so at all. */
  browserOf(account: string): Promise<Visitor>;
  /** Logs an account in again at a machine. */
  logIn(account: string, machine: Machine): Promise<void>;
}

/** Sets up the shared repository and starts all machines. @param canFail whether calls on files can be made to fail */
export async function createWorld(canFail: boolean): Promise<World> {
  const shared = sharedRepository({
    'botshelf.json': JSON.stringify({ maintainers: [people.maintainer, people.colleague] }),
    ...Object.fromEntries(
      allBots.map((bot) => [
        pagePath(bot),
        pageWith({ website: firstValues.website, support: firstValues.support }),
      ]),
    ),
  });
  // All that the branch was, also what a force push has dropped, stays to be looked at.
  shared.git('config', 'core.logAllRefUpdates', 'always');
  const issued = await issueTestTokens(shared.maintainer.folder, allBots);
  shared.maintainer.git('push', '-q', 'origin', 'refs/botshelf/state');
  const machines: Machine[] = [];
  for (let index = 0; index < machineCount; index++)
    machines.push(await createMachine(shared, index, canFail ? faultInjector : undefined));
  const addresses = machines.map(({ address }) => address);
  const provider = await startProvider(addresses[0] ?? '', {
    client: { redirect_uris: addresses.map((address) => `${address}/login/callback`) },
  });
  loginSettings = provider.settings;
  const begun = performance.now();
  await Promise.all(machines.map(startMachine));
  const slowness = Math.min(3, Math.max(1, (performance.now() - begun) / usualStartMs));
  const browsers = new Map<string, Promise<Visitor>>();
  const share = (visitor: Visitor, { address }: Machine): void => {
    const jar = visitor.cookies.get(new URL(address).host) ?? new Map<string, string>();
    for (const other of addresses) visitor.cookies.set(new URL(other).host, jar);
  };
  const logInAt = async (visitor: Visitor, account: string, machine: Machine): Promise<void> => {
    const page = await visitor.go(`${machine.address}/login?to=/my-bots`);
    if (page.url.origin === provider.issuer) await visitor.logIn(page, account);
    share(visitor, machine);
  };
  const browserOf = async (account: string): Promise<Visitor> => {
    const made = browsers.get(account) ?? Promise.resolve(new Visitor());
    browsers.set(account, made);
    return await made;
  };
  return {
    shared,
    machines,
    recorder: new Recorder(),
    slowness,
    troubles: [],
    rewrites: [],
    restores: [],
    tokens: new Map([...issued].map(([bot, token]) => [bot, [token]])),
    browserOf,
    logIn: async (account, machine) => await logInAt(await browserOf(account), account, machine),
  };
}

/** Milliseconds in which three services start on two cores. */
const usualStartMs = 4000;

let loginSettings: TestProvider['settings'];

/** Makes a clone of the shared repository, and the lines of its machine, where no service runs yet. */
export async function createMachine(
  shared: SharedRepository,
  index: number,
  toCalls: typeof faultInjector | undefined,
): Promise<Machine> {
  const remote = await startGitServer(dirname(shared.folder), ['shared.git']);
  const lineToRemote = await startTcpProxy(Number(new URL(remote.address).port));
  const lineOfClients = await startTcpProxy();
  const clone = shared.clone();
  clone.git('remote', 'set-url', 'origin', `http://127.0.0.1:${lineToRemote.port}/shared.git`);
  return {
    index,
    clone,
    remote,
    lineToRemote,
    lineOfClients,
    address: `http://localhost:${lineOfClients.port}`,
    calls: toCalls?.(clone.folder),
    clockDays: 0,
    service: undefined,
    services: [],
  };
}

/** Starts the service of a machine, which has none. */
export async function startMachine(machine: Machine): Promise<void> {
  const { clone, address, calls, clockDays, lineOfClients } = machine;
  const service = await startServiceProcess(clone.folder, {
    ...loginEnv(loginSettings),
    ...calls?.env,
    ...(clockDays !== 0 && { CLOCK_OFFSET: String(clockDays * 86_400) }),
    BOTSHELF_BASE_URL: address,
    BOTSHELF_REMOTE: 'origin',
    BOTSHELF_SYNC_SECONDS: '2',
    BOTSHELF_PUSH_SECONDS: '1',
    BOTSHELF_STATE_SECONDS: '1',
  });
  // The simulation judges the log itself, by what went wrong before.
  service.allowLog(/./);
  machine.service = service;
  machine.services.push({ service, clockDays });
  lineOfClients.target = Number(new URL(service.address).port);
}

export async function endMachine(machine: Machine, signal: 'SIGTERM' | 'SIGKILL'): Promise<void> {
  machine.lineOfClients.target = signal === 'SIGKILL' ? 0 : machine.lineOfClients.target;
  const code = await Promise.race([
    machine.service?.end(signal),
    rest(stopLimitMs, 'running' as const, { ref: false }),
  ]);
  machine.lineOfClients.target = 0;
  machine.service = undefined;
  if (signal === 'SIGTERM' && code !== 0) throw new Error(`machine ${machine.index}, after SIGTERM: ${code}`);
}

/** Longer than systemd waits by default. */
const stopLimitMs = 120_000;

/** Makes trouble of a kind at a machine, and records it. A wrong clock lasts until it is right again. */
export async function recordTrouble(
  { troubles, recorder }: World,
  kind: string,
  machine: Machine,
  make: () => Promise<void>,
): Promise<void> {
  const trouble = { kind, machine: machine.index, start: recorder.now, end: Number.POSITIVE_INFINITY };
  const place = troubles.push(trouble) - 1;
  await make();
  if (kind !== 'clock' || machine.clockDays === 0) troubles[place] = { ...trouble, end: recorder.now };
}

/** Makes trouble at a machine for as long as the plan says, and ends it. */
export async function makeTrouble(
  { recorder, slowness }: World,
  trouble: Extract<Deed, { readonly ms: number; readonly machine: number }>,
  machine: Machine,
): Promise<void> {
  const { lineToRemote, lineOfClients, remote, calls } = machine;
  const { do: kind, number } = trouble;
  const ms = trouble.ms * slowness;
  const half = { bytes: number };
  switch (kind) {
    case 'kill':
    case 'stop':
    case 'clock':
      await endMachine(machine, kind === 'kill' ? 'SIGKILL' : 'SIGTERM');
      await rest(ms);
      if (kind === 'clock') machine.clockDays = machine.clockDays === 0 ? (number % 2) * 2 - 1 : 0;
      await startMachine(machine);
      return;
    case 'freeze':
      machine.service?.process.kill('SIGSTOP');
      await rest(ms);
      machine.service?.process.kill('SIGCONT');
      return;
    case 'disk-full':
      calls?.arm(0, 0);
      await rest(ms);
      calls?.disarm();
      return;
    case 'calls-fail':
      for (const end = recorder.now + ms; recorder.now < end; await rest(100))
        calls?.arm(1 + (number % 40), number % 3);
      calls?.disarm();
      return;
    case 'remote-refuses':
    case 'remote-hangs':
      remote.mode = kind === 'remote-hangs' ? 'hang' : 'refuse';
      await rest(ms);
      remote.mode = 'serve';
      return;
    case 'remote-cut':
    case 'remote-slow':
    case 'remote-half':
      lineToRemote.line = kind === 'remote-cut' ? 'cut' : kind === 'remote-slow' ? 'slow' : half;
      await rest(ms);
      lineToRemote.line = 'good';
      return;
    case 'clients-cut':
    case 'clients-slow':
    case 'clients-half':
      lineOfClients.line = kind === 'clients-cut' ? 'cut' : kind === 'clients-slow' ? 'slow' : half;
      await rest(ms);
      lineOfClients.line = 'good';
      return;
    case 'edit-clone':
      throw new Error('this is no trouble');
  }
}
