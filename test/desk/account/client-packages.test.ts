import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { toPackageAddress } from '../../../src/desk/account/posting-code.ts';
import { packageFolder, readPackageFile } from '../../support/package-files.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

describe('the packages of the clients', () => {
  let service: TestService;

  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
  });

  for (const [extension, type, client] of [
    ['.tgz', 'application/gzip', 'typescript'],
    ['.whl', 'application/zip', 'python'],
  ] as const)
    it(`are served as ${extension} as they were packed, are cached, and are named by their README`, async () => {
      const address = toPackageAddress(service.address, extension);
      const response = await fetch(address);
      const etag = response.headers.get('ETag') ?? '';
      deepStrictEqual(
        [response.status, response.headers.get('Content-Type'), response.headers.get('Content-Encoding')],
        [200, type, null],
      );
      const name = address.replace(`${service.address}/clients/`, '');
      ok(readdirSync(join(packageFolder, 'dist/packages')).includes(name));
      const bytes = Buffer.from(await response.arrayBuffer());
      ok(bytes.equals(readFileSync(join(packageFolder, 'dist/packages', name))));
      strictEqual((await fetch(address, { headers: { 'If-None-Match': etag } })).status, 304);
      const readme = readPackageFile(`clients/${client}/README.md`);
      ok(readme.includes(`/clients/${name}`));
    });

  it('are the only files there', async () => {
    for (const path of ['', '/', '/..%2fcommit', '/botshelf-client-0.0.0.tgz'])
      strictEqual((await service.request(`/clients${path}`)).status, 404, path);
  });
});
