import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { openApi } from '../../../src/http/api/openapi.ts';
import { packageFolder } from '../../support/clone.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { mainPage, pagePath } from '../../support/sample.ts';

describe('the OpenAPI document', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
  });

  const document = JSON.parse(JSON.stringify(openApi('https://bots.example.org', toSettings()))) as object;

  it('has no reference that leads nowhere', () => {
    const references = [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(
      ([, target]) => target ?? '',
    );
    ok(references.length > 50);
    deepStrictEqual(
      references.filter((reference) => !leads(document, reference)),
      [],
    );
  });

  it('describes paths that are there', async () => {
    const { request } = service;
    const { status, json } = await request('/api/openapi.json');
    deepStrictEqual(
      [status, json.openapi, json.servers],
      [200, '3.1.0', [{ url: 'https://bots.example.org' }]],
    );
    for (const path of Object.keys(json.paths as object)) {
      deepStrictEqual((await request(path.replace('{id}', '7'))).status, 200);
    }
  });

  it('is where /api, /api/v2 and /openapi.json lead', async () => {
    for (const [path, target] of [
      ['/api', '/docs'],
      ['/api/v2', '/docs'],
      ['/openapi.json', '/api/openapi.json'],
    ] as const) {
      const { status, headers } = await fetch(service.address + path, { redirect: 'manual' });
      deepStrictEqual([status, headers.get('location')], [302, target]);
      strictEqual(headers.get('link'), '</api/openapi.json>; rel="service-desc"');
      strictEqual((await fetch(service.address + target)).status, 200);
    }
  });

  it('has the query parameters that each path reads, and no others', async () => {
    const { request } = service;
    const { paths } = document as { paths: Record<string, { get: Operation }> };
    for (const [path, { get }] of Object.entries(paths)) {
      const documented = (get.parameters ?? []).filter((parameter) => parameter.in === 'query');
      const { status, json } = await request(`${path.replace('{id}', '7')}?nonsense=1`);
      const [{ pointer, detail }] = json.errors as [{ pointer: string; detail: string }];
      deepStrictEqual([status, pointer], [400, '?nonsense'], path);
      const read = detail === takesNone ? [] : detail.replace(/^.*: use /, '').split(', ');
      deepStrictEqual(read.toSorted(), documented.map(({ name }) => name).toSorted(), path);
    }
  });

  it('has no path, method or parameter that docs/api.md leaves out', () => {
    const text = readFileSync(join(packageFolder, 'docs/api.md'), 'utf8');
    const { paths } = document as { paths: Record<string, Record<string, Operation>> };
    for (const [path, methods] of Object.entries(paths))
      for (const [method, { parameters = [] }] of Object.entries(methods)) {
        const address = `${method.toUpperCase()} ${path.replace('{id}', ':id')}`;
        ok(text.includes(`\`${address}\``), address);
        for (const { name, in: place } of parameters)
          ok(place === 'path' || text.includes(`\`${name}\``), `${name} of ${address}`);
      }
  });
});

interface Operation {
  readonly parameters?: readonly { readonly name: string; readonly in: string }[];
}

const takesNone = 'this address takes no parameters: leave it out';

function leads(document: unknown, reference: string): boolean {
  return (
    reference.startsWith('#/') &&
    reference
      .slice(2)
      .split('/')
      .reduce((value: unknown, key) => (value as Record<string, unknown> | undefined)?.[key], document) !==
      undefined
  );
}
