import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { createToken } from '../../src/bot/token.ts';
import { readVersion } from '../../src/app/version.ts';
import { EventReader } from '../support/event-reader.ts';
import { eventually } from '../support/eventually.ts';
import { repositoryIn, testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

describe('the log', () => {
  let service: TestService;
  const lines = (): Readonly<Record<string, unknown>>[] =>
    service
      .log()
      .split('\n')
      .map((line) => JSON.parse(line) as Record<string, unknown>);
  const find = (pattern: RegExp): Readonly<Record<string, unknown>>[] =>
    lines().filter(({ msg }) => pattern.test(String(msg)));

  before(async () => {
    const files = { [pagePath('7')]: mainPage(), [pagePath('8')]: mainPage({ invite: 'cars' }) };
    const repository = testRepository(files);
    repository.git('remote', 'add', 'origin', 'https://shelf:secret@git.example.org/bots.git');
    const env = { BOTSHELF_LOG_LEVEL: 'debug', BOTSHELF_ACCESS_LOG: 'on', BOTSHELF_PORT: '80' };
    service = await startTestService({}, { root: repository.folder, env });
    service.expectLog(/BOTSHELF_REMOTE is not set/);
    service.expectLog(/BOTSHELF_PORT is set, but there is no such setting/);
    service.expectLog(/8\.en\.md.*a file breaks a rule/);
  });

  it('is one line at the start: version, catalogue, bots, remote, login, address', async () => {
    const starts = find(/ready at/);
    strictEqual(starts.length, 1);
    const { time, ms, msg, ...fields } = starts[0] ?? {};
    ok(Date.parse(String(time)) > 0 && Number(ms) > 0);
    deepStrictEqual(fields, {
      level: 30,
      ...readVersion(),
      catalogue: service.root,
      bots: 1,
      remote: null,
      login: null,
      address: service.address,
    });
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    const { version, commit } = readVersion();
    ok(metrics.includes(`botshelf_build_info{version="${version}",commit="${commit ?? ''}"} 1\n`));
    ok(String(msg).includes(`serves 1 bot of ${service.root}, no remote, no login; ready at`), String(msg));
  });

  it('is that the clone has an origin and nothing keeps it in step with it; /readyz has that too', async () => {
    const [warning, ...more] = find(/BOTSHELF_REMOTE is not set/);
    deepStrictEqual([warning?.['level'], more], [40, []]);
    const { json } = await service.request('/readyz');
    deepStrictEqual(json.parts.remote, { ready: true, faults: [warning?.['msg']] });
  });

  it('is each request where that is set, also of the response cache, and never a token or a query', async () => {
    const path = '/api/v2/bots/7';
    const { headers } = await service.request(path);
    await service.request(path);
    await service.request(path, { headers: { 'if-none-match': headers.get('etag') ?? '' } });
    await service.request('/login/callback?code=secret&state=secret', { headers: { 'X-Secret': 'secret' } });
    await service.request(`/api/${'long/'.repeat(200)}`);
    const stream = new EventReader(`${service.address}/api/v2/changes`);
    await eventually(() => stream.lastId !== '');
    stream.close();
    await eventually(() => strictEqual(find(/^GET \/api\/v2\/changes aborted$/).length, 1));
    strictEqual(String(find(/^GET \/api\/long/)[0]?.['path']).length, 501);
    await eventually(() => strictEqual(find(/^GET \/login\/callback 404$/).length, 1));
    const requests = find(/^GET \/api\/v2\/bots\/7 /);
    deepStrictEqual(
      requests.map(({ method, path: logged, status }) => [method, logged, status]),
      [200, 200, 304].map((status) => ['GET', path, status]),
    );
    const [computed, replayed, notModified] = requests.map(({ bytes }) => Number(bytes));
    ok(Math.abs(Number(computed) - Number(replayed)) < 100 && Number(notModified) < Number(replayed));
    strictEqual(new Set(requests.map(({ id }) => id)).size, 3);
    ok(!service.log().includes('secret'));
  });

  it('is each refused token, at a low level and counted', async () => {
    const post = async (authorization: string): Promise<void> => {
      const { status } = await service.post('7', authorization, {});
      strictEqual(status, 401);
    };
    const unknown = createToken();
    for (const token of ['', 'junk', unknown, unknown]) await post(token);
    const refused = find(/^a token was refused/);
    deepStrictEqual(
      refused.map(({ level, bot, reason, address }) => [level, bot, reason, address]),
      ['missing', 'malformed', 'unknown', 'unknown'].map((reason) => [20, '7', reason, '127.0.0.1']),
    );
    ok(!service.log().includes(unknown));
    const metrics = await (await fetch(`${service.address}/metrics`)).text();
    ok(metrics.includes('botshelf_refused_tokens_total{reason="unknown"} 2\n'));
    ok(metrics.includes('botshelf_refused_tokens_total{reason="other-bot"} 0\n'));
  });

  it('is that a file is valid again', async () => {
    repositoryIn(service.root).write(pagePath('8'), mainPage());
    await eventually(() => strictEqual(find(/^bots\/008\/8\.en\.md is valid again$/).length, 1));
  });
});
