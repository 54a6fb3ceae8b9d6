import { toShardNumber, toShardPath } from '../../src/counts/state.ts';
import { eventually } from './eventually.ts';
import { loginEnv } from './login-site.ts';
import type { TestRepository } from './repository.ts';
import { botId, mainPage, pagePath } from './sample.ts';
import { originRemote, type LocalService, startTestService, type TestService } from './service.ts';
import { type SharedRepository, sharedRepository } from './shared-repository.ts';
import { issueTestTokens } from './token.ts';

/** The page of each of its bots. */
export const replicaPage = mainPage({ website: null, edited: 1_700_000_000_000 });

/** A service on a clone that it keeps in step with a shared repository. */
export interface Replica {
  readonly shared: SharedRepository;
  readonly clone: TestRepository;
  readonly service: LocalService;
  /** Bot → its token. */
  readonly tokens: ReadonlyMap<string, string>;
}

/** The login of a service that takes proposals, at which nobody logs in. */
export const withProposals = loginEnv({
  kind: 'oidc',
  issuer: 'https://login.example.org',
  clientId: 'botshelf',
  clientSecret: 'secret',
  idClaim: 'sub',
});

/** Starts a service on a clone of a shared repository with twenty bots from 312 on. */
export async function startReplica(more: Readonly<Record<string, string>> = {}): Promise<Replica> {
  const ids = Array.from({ length: 20 }, (_, i) => String(312 + i));
  const shared = sharedRepository(Object.fromEntries(ids.map((id) => [pagePath(id), replicaPage])));
  const clone = shared.clone();
  const tokens = await issueTestTokens(clone.folder, ids);
  const env = { ...originRemote, BOTSHELF_STATE_SECONDS: '1', ...more };
  const service = await startTestService({}, { root: clone.folder, env });
  await eventually(() => clone.git('rev-parse', 'refs/botshelf/remote/base-main'));
  return { shared, clone, service, tokens };
}

/** The record of a bot; undefined if it does not exist. */
// oxlint-disable-next-line typescript/no-explicit-any -- a record, looked into
export async function record(service: TestService, id: string): Promise<any> {
  const { status, json } = await service.request(`/api/v2/bots/${id}`);
  return status === 200 ? json : undefined;
}

/** The faults of the remote in `/readyz`. */
export async function remoteFaults(service: TestService): Promise<string[]> {
  return (await service.request('/readyz')).json.parts.remote.faults;
}

/** The text of the state ref's file that a bot is in. */
export function stateOf(shared: SharedRepository, id: string): string {
  return shared.git('show', `refs/botshelf/state:${toShardPath(toShardNumber(botId(id)))}`);
}

/** The value of a metric. */
export async function metric({ address }: TestService, name: string): Promise<number> {
  const metrics = await (await fetch(`${address}/metrics`)).text();
  return Number(new RegExp(`^${name} (\\S+)$`, 'm').exec(metrics)?.[1]);
}

/** The lines of the log that have these words. */
export function linesAbout(service: TestService, words: string): string[] {
  return service
    .log()
    .split('\n')
    .filter((line) => line.includes(words));
}
