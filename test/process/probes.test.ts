import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readVersion } from '../../src/app/version.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startTestService, type TestService } from '../support/service.ts';

const probes = ['/healthz', '/readyz', '/metrics'];

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

describe('probes and metrics', () => {
  let service: TestService;
  before(async () => {
    const env = { BOTSHELF_BASE_URL: '' };
    const files = {
      [pagePath('1')]: mainPage(),
      [pagePath('2')]: mainPage({ category: 'cars', invite: 'nowhere' }),
      'bots/notes.txt': 'x',
    };
    service = await startTestService(files, { env });
    service.expectLog(/2\.en\.md.*a file breaks a rule/);
    service.expectLog(/notes\.txt.*a file breaks a rule/);
  });

  it('are served on their exact paths only, so that a rule of a proxy for these paths keeps them private', async () => {
    const { address } = service;
    for (const path of probes) {
      strictEqual(await statusOf(address + path), 200, path);
      for (const other of [`${path}/`, path.toUpperCase(), `/${path}`, `${path}%20`, `/%${hex(path)}`])
        strictEqual(await statusOf(address + other), 404, other);
    }
  });

  it('say that the service lives and is ready', async () => {
    const { instance, ...rest } = (await service.request('/healthz')).json;
    deepStrictEqual(rest, { ok: true, ...readVersion() });
    match(instance, /^[\da-f-]{36}$/);
    const { status, json } = await service.request('/readyz');
    deepStrictEqual([status, json.ready], [200, true]);
  });

  it('list every faulty file with its place and the fix, and the other bots are served', async () => {
    const { json } = await service.request('/readyz');
    strictEqual(json.faultyFiles, 2);
    const faults: { path: string; line: number; rule: string; message: string }[] = json.files;
    deepStrictEqual(
      faults.map(({ path, line, rule }) => `${path}:${line} ${rule}`),
      [`${pagePath('2')}:8 enum`, `${pagePath('2')}:10 pattern`, 'bots/notes.txt:1 stray-file'],
    );
    ok(faults.every(({ message }) => message.includes(': ')));
    strictEqual(await statusOf(`${service.address}/api/v2/bots/1`), 200);
  });

  it('say that the public address is not set and the proxy not trusted, once a request has come through it, and stay ready', async () => {
    const faults = async (): Promise<string[]> =>
      (await service.request('/readyz')).json.parts.address.faults;
    deepStrictEqual(await faults(), []);
    service.expectLog(/come through a proxy \(X-Forwarded-For\), but BOTSHELF_BASE_URL is not set/);
    service.expectLog(/a request has X-Forwarded-For, but BOTSHELF_TRUST_PROXY is off/);
    for (const address of ['192.0.2.1', '192.0.2.2'])
      await service.request('/api/v2/bots', { headers: { 'X-Forwarded-For': address } });
    match(
      (await faults()).join('\n'),
      /^requests come through a proxy .*: links and the login lead to http:\/\/localhost:0;.*\na request has X-Forwarded-For/,
    );
    strictEqual((await service.request('/readyz')).json.ready, true);
  });

  it('are served on a port of their own where one is set, and there alone', async () => {
    const env = { BOTSHELF_PROBE_PORT: '0' };
    const other = await startTestService({ [pagePath('1')]: mainPage() }, { env });
    const [, apart = ''] = /probes and metrics at (http:\/\/[^"]+)/.exec(other.log()) ?? [];
    match(apart, /^http:/);
    for (const path of probes) {
      strictEqual(await statusOf(apart + path), 200, path);
      strictEqual(await statusOf(other.address + path), 404, path);
    }
    match(await (await fetch(`${apart}/readyz`)).text(), /"files":\[\]/);
    const elsewhere = await fetch(`${apart}/api/v2/bots`);
    strictEqual(elsewhere.status, 404);
    match(await elsewhere.text(), /: this port has \/healthz, \/readyz and \/metrics"/);
    strictEqual(await statusOf(`${other.address}/api/v2/bots`), 200);
  });
});

/** The path with its first letter as a URL may have it too. */
function hex(path: string): string {
  return `${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
}
