import { match, strictEqual } from 'node:assert/strict';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { startTestService } from '../support/service.ts';

const probes = ['/healthz', '/readyz', '/metrics'];

async function statusOf(url: string): Promise<number> {
  const response = await fetch(url);
  await response.arrayBuffer();
  return response.status;
}

describe('probes and metrics', () => {
  it('are served on their exact paths only, so that a rule of a proxy for these paths keeps them private', async () => {
    const { address } = await startTestService({ [pagePath('1')]: mainPage() });
    for (const path of probes) {
      strictEqual(await statusOf(address + path), 200, path);
      for (const other of [`${path}/`, path.toUpperCase(), `/${path}`, `${path}%20`, `/%${hex(path)}`])
        strictEqual(await statusOf(address + other), 404, other);
    }
  });

  it('are served on a port of their own where one is set, and there alone', async () => {
    const { folder } = testRepository({ [pagePath('1')]: mainPage() });
    const service = await startServiceProcess(folder, { BOTSHELF_PROBE_PORT: '0' });
    const [, apart = ''] = /probes and metrics at (http:\/\/[^"]+)/.exec(service.log()) ?? [];
    match(apart, /^http:/);
    for (const path of probes) {
      strictEqual(await statusOf(apart + path), 200, path);
      strictEqual(await statusOf(service.address + path), 404, path);
    }
    strictEqual(await statusOf(`${apart}/api/v2/bots`), 404);
    strictEqual(await statusOf(`${service.address}/api/v2/bots`), 200);
    strictEqual(await service.end('SIGTERM'), 0);
  });
});

/** The path with its first letter as a URL may have it too. */
function hex(path: string): string {
  return `${path.charCodeAt(1).toString(16)}${path.slice(2)}`;
}
