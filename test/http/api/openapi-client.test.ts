import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import { openApi } from '../../../src/http/api/openapi.ts';
import { pagePath, mainPage } from '../../support/sample.ts';
import { startTestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';

const top = fileURLToPath(new URL('../../../../', import.meta.url));
const document = JSON.stringify(openApi('https://bots.example.org', toSettings()));

describe('the OpenAPI document, as tools read it', () => {
  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: document, config });
    deepStrictEqual(
      problems.map(({ ruleId, message }) => `${ruleId}: ${message}`),
      [],
    );
  });

  it('makes a typed client that reads, posts and handles problems', async () => {
    const { address, root } = await startTestService({ [pagePath('7')]: mainPage() });
    const token = await issueTestToken(root, '7');
    const { results } = (await import(pathToFileURL(buildClient()).href)) as Client;
    deepStrictEqual(await results(address, token), {
      names: ['Homer'],
      page: '# Homer\n\nThe page.',
      stored: { count: 156, nsfw: true },
      days: [156],
      refused: 'this is the text "156": write a whole number, without quotes',
      missing: 404,
    });
  });
});

interface Client {
  results(address: string, token: string): Promise<unknown>;
}

/** Generates the types of the document, and compiles the client with them. Returns its file. */
function buildClient(): string {
  const folder = tempFolder();
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'openapi.json'), document);
  writeFileSync(join(folder, 'client.ts'), source);
  const resolved = createRequire(join(top, 'test/support/typed-client/')).resolve(
    'openapi-typescript/package.json',
  );
  const generator = join(dirname(resolved), 'bin/cli.js');
  run(generator, 'openapi.json', '--output', 'api.d.ts');
  run(join(top, 'node_modules/typescript/bin/tsc'), ...options, 'client.ts');
  return join(folder, 'client.js');

  function run(program: string, ...args: readonly string[]): void {
    execFileSync(process.execPath, [program, ...args], {
      cwd: folder,
      stdio: ['ignore', 'ignore', 'inherit'],
    });
  }
}

const options = [
  '--strict',
  '--module',
  'nodenext',
  '--target',
  'es2023',
  '--lib',
  'es2023,dom',
  '--types',
  '',
];

/** A client as its user writes it. */
const source = `import createClient from 'openapi-fetch';
import type { paths } from './api.js';

export async function results(baseUrl: string, token: string) {
  const client = createClient<paths>({ baseUrl });
  const path = { id: '7' };
  const headers = { Authorization: token };
  const list = await client.GET('/api/v2/bots', { params: { query: { category: ['fun', 'games'], limit: 5 } } });
  const record = await client.GET('/api/v2/bots/{id}', { params: { path } });
  const post = await client.POST('/api/v2/bots/{id}', { params: { path }, headers, body: { bot: { count: 156, nsfw: true } } });
  const counts = await client.GET('/api/v2/bots/{id}/counts', { params: { path, query: { step: 'day' } } });
  // @ts-expect-error -- a count is a number
  const refused = await client.POST('/api/v2/bots/{id}', { params: { path }, headers, body: { bot: { count: '156' } } });
  const missing = await client.GET('/api/v2/bots/{id}', { params: { path: { id: '8' } } });
  return {
    names: list.data?.map(({ contents }) => contents['en']?.name),
    page: record.data?.contents['en']?.page,
    stored: post.data?.bot,
    days: typeof counts.data === 'object' ? counts.data.map(({ count }) => count) : [],
    refused: refused.error?.errors?.[0]?.detail,
    missing: missing.error?.status,
  };
}
`;
