import { ok, strictEqual } from 'node:assert/strict';
import { dirname } from 'node:path';
import { setTimeout as rest } from 'node:timers/promises';
import { eventually } from '../support/eventually.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import { assertSame, History } from '../support/history.ts';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { clearedLock } from '../support/service-log.ts';
import { type ServiceProcess, startServiceProcess } from '../support/service-process.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { issueTestToken } from '../support/token.ts';
import { updateRequest } from '../support/update-request.ts';

/** The short form has two rounds: a replica that is cut off, and one that is refused. The long one is `npm run replicas`. */
const isLong = process.env['REPLICA_SECONDS'] !== undefined;
const seconds = Number(process.env['REPLICA_SECONDS'] ?? 0);
const leastRounds = 2;

/** Bot 10 is written to by all replicas, each of the others by one. */
const bots = ['10', '1', '2', '3'];

/** A service on a clone of its own, and its way to the Git server. */
interface Replica {
  readonly name: string;
  readonly clone: TestRepository;
  readonly server: GitServer;
  service: ServiceProcess;
}

describe('three replicas that take posts while pull requests are merged', () => {
  let shared: SharedRepository;
  const history = new History();
  const tokens = new Map<string, string>();
  const replicas: Replica[] = [];
  const stop = new AbortController();

  before(async () => {
    shared = sharedRepository(
      Object.fromEntries(bots.map((id) => [pagePath(id), mainPage({ website: null })])),
    );
    for (const id of bots) tokens.set(id, await issueTestToken(shared.maintainer.folder, id));
    shared.maintainer.git('push', '-q', 'origin', 'refs/botshelf/state');
    for (const name of ['1', '2', '3']) {
      const server = await startGitServer(dirname(shared.folder), ['shared.git']);
      const clone = shared.clone();
      clone.git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
      replicas.push({ name, clone, server, service: await start(clone) });
    }
  });

  it('end with the same bytes, and everything that was answered in the history of the remote', async function () {
    this.timeout(seconds * 1000 + 90_000);
    await Promise.all(replicas.map(async ({ service }) => await knowsTokens(service)));
    const traffic = replicas.flatMap((replica) => [
      postFor(replica, '10', 'content'),
      postFor(replica, '10', 'count'),
      postFor(replica, replica.name, 'content'),
      postFor(replica, replica.name, 'count'),
    ]);
    await disturb();
    stop.abort();
    await Promise.all(traffic);

    await eventually(() => {
      const tips = replicas.map(({ clone }) => tipsOf(clone.git));
      assertSame('the replicas are in step', [tipsOf(shared.git), ...tips]);
    }, 60);
    await eventually(async () => {
      for (const { service } of replicas) strictEqual(await remoteFaults(service), '');
    });
    await sameBytes();

    history.assertCommits(new Set(shared.git('rev-list', 'main').split('\n')));
    for (const id of history.botsOfOneWriter('content')) {
      const { website } = JSON.parse(await get(replicas[0], `/api/v2/bots/${id}`)) as { website: string };
      history.assertLatest(id, 'content', Number(website.split('/').at(-1)));
    }
    for (const id of history.bots('count')) history.assertLatest(id, 'count', countIn(shared, id));
    ok(history.answered > 40, `${history.answered} writes were answered`);

    for (const { clone, service } of replicas) {
      await eventually(() => strictEqual(clone.status(), ''));
      strictEqual(await service.end('SIGTERM'), 0);
      clone.git('fsck', '--strict', '--no-dangling');
    }
    shared.git('fsck', '--strict', '--no-dangling');
  });

  /** Pull requests all the time; one replica is killed and started again, another cut off, over and over. */
  async function disturb(): Promise<void> {
    const [, killed, cut] = replicas;
    if (killed === undefined || cut === undefined) throw new Error('there are not three replicas');
    cut.service.expectLog(/not in step with the remote/);
    const end = performance.now() + seconds * 1000;
    for (let round = 1; round <= leastRounds || performance.now() < end; round++) {
      cut.server.mode = round % 2 === 1 ? 'cut' : 'refuse';
      pullRequest(round);
      await rest(isLong ? 1500 : 500);
      await killed.service.end('SIGKILL');
      pullRequest(round);
      await rest(isLong ? 300 : 100);
      killed.service = await start(killed.clone);
      await rest(isLong ? 700 : 300);
      cut.server.mode = 'serve';
      await rest(isLong ? 3000 : 500);
    }
  }

  function pullRequest(round: number): void {
    shared.mergePullRequest((person) => {
      for (const id of [bots[round % bots.length] ?? '1', '10']) {
        const path = pagePath(id);
        person.write(path, `${person.read(path).trimEnd()}\n\nEdited in round ${round}.\n`);
      }
    });
  }

  let last = 0;

  /** Posts one after the other; a service that is gone is asked again when it is back. */
  async function postFor(replica: Replica, bot: string, kind: 'content' | 'count'): Promise<void> {
    while (!stop.signal.aborted) {
      const value = ++last;
      const body = kind === 'count' ? { count: value } : { website: `https://example.org/${value}` };
      try {
        await history.record({ bot, writer: replica.name, kind, value }, async () => {
          const response = await fetch(
            `${replica.service.address}/api/v2/bots/${bot}`,
            updateRequest(tokens.get(bot) ?? '', body),
          );
          const text = await response.text();
          strictEqual(response.status, 200, text);
          return (JSON.parse(text) as { commit: string | null }).commit;
        });
      } catch (error) {
        if (!(error instanceof TypeError)) throw error;
      }
      await rest(isLong ? 40 + Math.random() * 60 : 600);
    }
  }

  async function knowsTokens({ address }: ServiceProcess): Promise<void> {
    await eventually(async () => {
      const response = await fetch(`${address}/api/v2/bots/10`, updateRequest(tokens.get('10') ?? '', {}));
      await response.arrayBuffer();
      return response.status !== 401;
    });
  }

  async function sameBytes(): Promise<void> {
    const paths = [
      '/api/v2/bots',
      '/api/v1/bots',
      '/api/v2/bots?sort=-count',
      ...bots.map((id) => `/api/v2/bots/${id}`),
    ];
    for (const path of paths) {
      await eventually(async () => {
        assertSame(path, await Promise.all(replicas.map(async (replica) => await get(replica, path))));
      });
    }
  }
});

async function start(clone: TestRepository): Promise<ServiceProcess> {
  const service = await startServiceProcess(clone.folder, {
    BOTSHELF_REMOTE: 'origin',
    BOTSHELF_SYNC_SECONDS: '1',
    BOTSHELF_PUSH_SECONDS: '1',
    BOTSHELF_STATE_SECONDS: '1',
  });
  service.allowLog(/"msg":"set aside /);
  service.allowLog(clearedLock);
  return service;
}

async function get(replica: Replica | undefined, path: string): Promise<string> {
  return await (await fetch(`${replica?.service.address}${path}`)).text();
}

async function remoteFaults({ address }: ServiceProcess): Promise<string> {
  const response = await fetch(`${address}/readyz`);
  const { parts } = (await response.json()) as { parts: { remote: { faults: string[] } } };
  return parts.remote.faults.join();
}

function tipsOf(git: TestRepository['git']): string {
  return git('rev-parse', 'refs/heads/main', 'refs/botshelf/state');
}

function countIn(shared: SharedRepository, id: string): number {
  const text = shared.git('show', `refs/botshelf/state:00/${id.padStart(2, '0')}.json`);
  return Number(new RegExp(`^"${id}":\\{"count":(\\d+),`, 'm').exec(text)?.[1]);
}
