import { deepStrictEqual, ok } from 'node:assert/strict';
import { openApi } from '../../../src/http/api/openapi.ts';
import { startTestService } from '../../support/service.ts';
import { mainPage, pagePath } from '../../support/sample.ts';

describe('the OpenAPI document', () => {
  const document = JSON.parse(JSON.stringify(openApi('https://bots.example.org'))) as object;

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
    const { request } = await startTestService({ [pagePath('7')]: mainPage() });
    const { status, json } = await request('/api/openapi.json');
    deepStrictEqual(
      [status, json.openapi, json.servers],
      [200, '3.1.0', [{ url: 'https://bots.example.org' }]],
    );
    for (const path of Object.keys(json.paths as object)) {
      deepStrictEqual((await request(path.replace('{id}', '7'))).status, 200);
    }
  });
});

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
