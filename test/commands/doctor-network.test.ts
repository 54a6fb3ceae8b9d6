import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import type { RequestListener } from 'node:http';
import { createServer } from 'node:http';
import { join } from 'node:path';
import {
  checkBaseAddress,
  checkPush,
  checkRemote,
  checkService,
  findServiceCommand,
} from '../../src/commands/doctor-network.ts';
import type { Outcome } from '../../src/commands/doctor-results.ts';
import { readVersion } from '../../src/app/version.ts';
import { freePort, listenOnLoopback } from '../support/loopback.ts';
import { doctorContext } from '../support/doctor.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { testRepository } from '../support/repository.ts';

describe('what botshelf doctor says of the remote', () => {
  const { folder, git } = testRepository({ [pagePath('7')]: mainPage() });
  const remote = tempFolder();
  before(() => void git('remote', 'add', 'origin', remote));

  it('is that it can be read, or has no such branch yet @slow', async () => {
    const context = doctorContext(folder, { BOTSHELF_REMOTE: 'origin' });
    git('init', '-q', '--bare', '--initial-branch=main', remote);
    const { state, fix } = await checkRemote(context);
    deepStrictEqual([state, fix], ['warning', 'git push origin main']);
    git('push', '-q', 'origin', 'main');
    git('--git-dir', remote, 'config', 'gc.cruftPacks', 'false');
    for (const address of [remote, `file://${remote}`]) {
      git('remote', 'set-url', 'origin', address);
      const { reason, fix } = await checkRemote(context);
      ok(reason.startsWith(`${remote} may grow by gigabytes a week: `));
      for (const command of fix?.split(' && ') ?? []) git(...command.split(' ').slice(1));
      strictEqual((await checkRemote(context)).reason, 'it can be read, and has main');
      git('--git-dir', remote, 'config', 'gc.cruftPacks', 'false');
    }
    git('--git-dir', remote, 'config', 'gc.cruftPacks', 'true');
    strictEqual((await checkPush(context)).reason, 'the remote takes pushes of this user');
  });

  it('is that an origin is there and not used', async () => {
    const { state, reason, fix } = await checkRemote(
      doctorContext(folder, { BOTSHELF_BASE_URL: 'https://bots.example.org' }),
    );
    strictEqual(state, 'warning');
    match(reason, /BOTSHELF_REMOTE is not set/);
    ok(fix?.startsWith('set BOTSHELF_REMOTE=origin'));
  });
});

/** The documents of a server, by path. */
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
    const parts = { state: { ready: true, faults: ['counts are lost: make room'] } };
    const failing = await check({ '/healthz': healthz, '/readyz': { ready: true, parts } });
    strictEqual(`${failing.state} ${failing.reason} ${failing.fix}`, 'warning counts are lost make room');
    const away = { catalogue: { ready: false, faults: [] }, remote: { ready: false, faults: ['away'] } };
    const starting = await check({ '/healthz': healthz, '/readyz': { ready: false, parts: away } });
    strictEqual(
      `${starting.state} ${starting.reason}`,
      'error it is not ready (the catalogue is not loaded yet; the remote is not loaded yet, away)',
    );
    const old = await check({ '/healthz': { ...healthz, version: '0.1', commit: null }, '/readyz': readyz });
    match(`${old.state} ${old.reason}`, /^warning botshelf 0\.1 runs, and botshelf /);
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
    const other = await at({ '/healthz': { ...healthz, instance: 'b' } });
    match(`${other.state} ${other.reason}`, /^ok .* leads to another Botshelf .*, as with several machines$/);
    match((await at({ '/api/openapi.json': 'own' })).reason, /leads to a Botshelf with this base address/);
    const moved = await at({ '/api/openapi.json': { servers: [{ url: 'https://old.example.org' }] } });
    match(`${moved.state} ${moved.reason}`, /^error .* takes https:\/\/old\.example\.org for its address$/);
    match((await at({ '/healthz': '<p>welcome to nginx' })).reason, /leads to something else/);
    const away = `http://127.0.0.1:${await freePort()}`;
    const unreachable = await checkBaseAddress(doctorContext(folder, { BOTSHELF_BASE_URL: away }));
    match(unreachable.reason, /cannot be reached from here \(.*ECONNREFUSED/);
  });
});
