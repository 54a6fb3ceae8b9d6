import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { dirname, join } from 'node:path';
import {
  assessClock,
  assessProxy,
  checkBaseAddress,
  checkClock,
  checkPush,
  checkRemote,
  checkService,
  findServiceCommand,
} from '../../src/commands/doctor-network.ts';
import type { Outcome } from '../../src/commands/doctor-results.ts';
import { readVersion } from '../../src/app/version.ts';
import { freePort, listenOnLoopback } from '../support/loopback.ts';
import { doctorContext } from '../support/doctor.ts';
import { type GitServer, startGitServer } from '../support/git-server.ts';
import type { TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { sharedRepository, type SharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('what botshelf doctor says of the remote', () => {
  let shared: SharedRepository;
  let server: GitServer;
  let clone: TestRepository;
  before(async () => {
    shared = sharedRepository({ [pagePath('7')]: mainPage() });
    server = await startGitServer(dirname(shared.folder), ['shared.git']);
    clone = shared.clone();
    clone.git('remote', 'set-url', 'origin', `${server.address}/shared.git`);
  });

  it('is that it can be read and written, and its clock agrees; nothing is pushed', async () => {
    const context = doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' });
    strictEqual((await checkRemote(context)).reason, 'it can be read, and has main');
    strictEqual((await checkPush(context)).reason, 'the remote takes pushes of this user');
    match((await checkClock(context)).reason, /agrees|no date/);
    strictEqual(shared.git('for-each-ref', 'refs/botshelf'), '');
  });

  it('is that it may be read only', async () => {
    shared.git('config', 'http.receivepack', 'false');
    const context = doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' });
    const [read, push] = await Promise.all([checkRemote(context), checkPush(context)]);
    shared.git('config', 'http.receivepack', 'true');
    strictEqual(read.state, 'ok');
    strictEqual(push.state, 'error');
    match(push.fix ?? '', /deploy key/);
  });

  it('is that the branch is not there, or nobody may come in', async () => {
    const bare = tempFolder();
    execFileSync('git', ['init', '-q', '--bare', bare]);
    const missing = await checkRemote(doctorContext(clone.folder, { BOTSHELF_REMOTE: bare }));
    strictEqual(missing.state, 'warning');
    strictEqual(missing.fix, `git push ${bare} main`);
    server.mode = 'refuse';
    const refused = await checkRemote(doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' }));
    server.mode = 'serve';
    strictEqual(refused.state, 'error');
    match(refused.reason, /git says: /);
  });

  it('is, as an error, that the branch was renamed on the host, with its new default branch', async () => {
    shared.git('branch', '-m', 'main', 'trunk');
    const context = doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' });
    const renamed = await checkRemote(context);
    const set = { BOTSHELF_REMOTE: 'origin', BOTSHELF_BRANCH: 'trunk' };
    const followed = await checkRemote(doctorContext(clone.folder, set));
    shared.git('branch', '-m', 'trunk', 'main');
    deepStrictEqual(renamed, {
      state: 'error',
      reason: 'it can be read, but has no branch main; its default branch is trunk',
      fix: 'set BOTSHELF_BRANCH=trunk',
    });
    strictEqual(followed.reason, 'it can be read, and has trunk');
  });

  it('is that the clone was left on another branch, whether the remote has that or not', async () => {
    clone.git('switch', '-q', '-c', 'typo');
    const left = [await checkRemote(doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' }))];
    clone.git('push', '-q', shared.address, 'typo');
    left.push(await checkRemote(doctorContext(clone.folder, { BOTSHELF_REMOTE: 'origin' })));
    const meant = { BOTSHELF_REMOTE: 'origin', BOTSHELF_BRANCH: 'typo' };
    strictEqual((await checkRemote(doctorContext(clone.folder, meant))).state, 'ok');
    clone.git('switch', '-q', 'main');
    for (const outcome of left)
      deepStrictEqual(outcome, {
        state: 'warning',
        reason: 'the clone is on typo, and the default branch of the remote is main',
        fix: 'git switch main, or set BOTSHELF_BRANCH=typo where that is meant',
      });
  });

  it('is that an origin is there and not used', async () => {
    const { state, reason, fix } = await checkRemote(
      doctorContext(clone.folder, { BOTSHELF_BASE_URL: 'https://bots.example.org' }),
    );
    strictEqual(state, 'warning');
    match(reason, /BOTSHELF_REMOTE is not set/);
    ok(fix?.startsWith('set BOTSHELF_REMOTE=origin'));
  });

  it('is how far the clock is off', () => {
    strictEqual(assessClock(-1400).state, 'ok');
    match(assessClock(5000).reason, /5 s ahead of that of the remote/);
    strictEqual(assessClock(-3_600_000).state, 'error');
    strictEqual(assessClock(-3_600_000).fix, 'timedatectl set-ntp true');
  });
});

/** What a server has to say, by path. */
type Documents = Record<string, unknown>;

describe('what botshelf doctor says of the running service', () => {
  const folder = tempFolder();
  const serve =
    (documents: Documents): RequestListener =>
    (request, response) => {
      const document = documents[request.url ?? ''];
      response.statusCode = document === undefined ? 404 : 200;
      response.end(typeof document === 'string' ? document : JSON.stringify(document));
    };
  const start = async (documents: Documents): Promise<string> =>
    `http://127.0.0.1:${(await listenOnLoopback(createServer(serve(documents)))).port}`;
  const healthz = { ok: true, ...readVersion(), instance: 'a' };
  const readyz = { ready: true, parts: { catalogue: { ready: true, faults: [] } } };
  const check = async (documents: Documents): Promise<Outcome> =>
    await checkService(doctorContext(folder, { PORT: new URL(await start(documents)).port }));

  it('is that it is ready, or what does not work, or that it is something else', async () => {
    const good = await check({ '/healthz': healthz, '/readyz': readyz });
    strictEqual(good.state, 'ok');
    const parts = { state: { ready: true, faults: ['counts cannot be saved: make room'] } };
    const failing = await check({ '/healthz': healthz, '/readyz': { ready: true, parts } });
    strictEqual(
      `${failing.state} ${failing.reason} ${failing.fix}`,
      'warning counts cannot be saved make room',
    );
    const away = {
      catalogue: { ready: false, faults: [] },
      remote: { ready: false, faults: ['it is away'] },
    };
    const starting = await check({ '/healthz': healthz, '/readyz': { ready: false, parts: away } });
    strictEqual(
      `${starting.state} ${starting.reason}`,
      'error it is not ready (the catalogue is not loaded yet; the remote is not loaded yet, it is away)',
    );
    const old = await check({
      '/healthz': { ...healthz, version: '0.0.1', commit: null },
      '/readyz': readyz,
    });
    match(`${old.state} ${old.reason}`, /^warning botshelf 0\.0\.1 runs, and botshelf /);
    match((await check({ '/': 'hello' })).reason, /another program responds/);
  });

  it('is that none responds, with a command of systemd only where there is a unit', async () => {
    const { state, fix } = await checkService(doctorContext(folder, { PORT: String(await freePort()) }));
    strictEqual(`${state} ${fix}`, `warning ${findServiceCommand('start')}`);
    const units = tempFolder();
    strictEqual(findServiceCommand('start', [units]), 'botshelf serve');
    writeFileSync(join(units, 'botshelf.service'), '');
    strictEqual(findServiceCommand('restart', [units]), 'systemctl restart botshelf');
  });

  it('is where the public address leads', async () => {
    const local = new URL(await start({ '/healthz': healthz })).port;
    const at = async (documents: Documents, prefix = ''): Promise<Outcome> => {
      const base = `${await start(documents)}${prefix}`;
      if (documents['/api/openapi.json'] === 'own')
        documents['/api/openapi.json'] = { servers: [{ url: base }] };
      return await checkBaseAddress(doctorContext(folder, { PORT: local, BOTSHELF_BASE_URL: base }));
    };
    match((await at({ '/healthz': healthz })).reason, /leads to this service/);
    match((await at({ '/shelf/healthz': healthz }, '/shelf')).reason, /leads to this service/);
    strictEqual((await at({ '/healthz': { ...healthz, instance: 'b' } })).state, 'warning');
    match((await at({ '/api/openapi.json': 'own' })).reason, /leads to a Botshelf with this base address/);
    const other = await at({ '/api/openapi.json': { servers: [{ url: 'https://old.example.org' }] } });
    match(`${other.state} ${other.reason}`, /^error .* takes https:\/\/old\.example\.org for its address$/);
    match((await at({ '/healthz': '<p>welcome to nginx' })).reason, /leads to something else/);
    const away = `http://127.0.0.1:${await freePort()}`;
    const unreachable = await checkBaseAddress(doctorContext(folder, { BOTSHELF_BASE_URL: away }));
    match(unreachable.reason, /cannot be reached from here \(.*ECONNREFUSED/);
  });

  it('is whether the headers of the proxy fit the settings', () => {
    const { host, baseUrl, trustProxy } = doctorContext(folder).config;
    const plain = { host, baseUrl, trustProxy };
    const https = { ...plain, baseUrl: 'https://bots.example.org' };
    strictEqual(assessProxy(plain).state, 'ok');
    strictEqual(assessProxy({ ...https, trustProxy: true }).state, 'ok');
    strictEqual(assessProxy(https).fix, 'BOTSHELF_TRUST_PROXY=on');
    match(
      assessProxy({ ...https, trustProxy: true, host: '0.0.0.0' }).reason,
      /any client that reaches 0\.0\.0\.0 can set it/,
    );
    strictEqual(assessProxy(plain, 'requests come through a proxy').reason, 'requests come through a proxy');
  });
});
