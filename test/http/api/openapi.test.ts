import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { createConfig, lintFromString } from '@redocly/openapi-core';
import type { SettingsFile } from '../../../schemas/types.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { type ApiParts, createApi } from '../../../src/http/api/api.ts';
import { openApi } from '../../../src/http/api/openapi.ts';
import { problemKinds } from '../../../src/http/problem.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { type ApiDocument, listParameters } from '../../support/api-guide.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';

const top = fileURLToPath(new URL('../../../../', import.meta.url));
const baseUrl = 'https://bots.example.org';
const text = JSON.stringify(openApi(baseUrl, toSettings()));

describe('the OpenAPI document', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage({ authors: ['7'] }) });
  });

  const document = JSON.parse(text) as object;
  const { components } = document as { components: Record<string, Record<string, Schema>> };
  const { schemas = {} } = components;

  it('refers to components only, each of which has a shape of its own, and to all of them', () => {
    const references = [...text.matchAll(/"\$ref":"([^"]+)"/g)].map(([, target]) => target ?? '');
    const { securitySchemes: _schemes, ...kinds } = components;
    const named = Object.entries(kinds).flatMap(([kind, all]) =>
      Object.keys(all).map((name) => `#/components/${kind}/${name}`),
    );
    deepStrictEqual([...new Set(references)].toSorted(), named.toSorted());
    doesNotMatch(text, /"\$(?:defs|id|schema)":|"x-/);
    // Listed addresses may have other characters.
    doesNotMatch(text, /"format":"uri"/);
    // A generator names a shape within an object after its key, in camel case.
    for (const [name, { properties = {} }] of Object.entries(schemas)) {
      const keys = Object.keys(properties).filter((key) => properties[key]?.anyOf);
      const types = keys.map((key) => key.replaceAll('_', '').toLowerCase());
      strictEqual(new Set(types).size, keys.length, name);
    }
    // A generator puts schemas and parameters into one folder.
    const files = named.map(
      (name) => /\/(?:schemas|parameters)\/(.+)/.exec(name)?.[1]?.toLowerCase() ?? name,
    );
    strictEqual(new Set(files).size, files.length);
    // A generator adds a pattern to an enum, which cannot have one.
    doesNotMatch(text, /"pattern":"[^"]*","enum"|"enum":\[[^\]]*\],"pattern"/);
    // A generator cannot limit the length of a list whose items refer to the list.
    for (const [name, { items }] of Object.entries(schemas)) {
      const item = schemas[items?.$ref?.split('/').at(-1) ?? ''];
      ok(!JSON.stringify(item ?? {}).includes(`/${name}"`), name);
    }
    // A generator ignores what is next to a reference.
    JSON.parse(text, (_key, value: unknown) => {
      if (typeof value === 'object' && value !== null && '$ref' in value)
        for (const key of Object.keys(value)) match(key, /^(?:\$ref|description|default)$/);
      return value;
    });
  });

  it('has objects that may get more keys in responses, and none in requests', () => {
    const closed = Object.keys(schemas).filter((name) =>
      JSON.stringify(schemas[name]).includes('"additionalProperties":false'),
    );
    deepStrictEqual(closed, ['Update', 'UpdateValues']);
  });

  it('has every kind of problem, and leaves room for others', () => {
    const { anyOf } = schemas['ProblemType'] as unknown as {
      anyOf: [{ enum: string[] }, { enum?: string[] }];
    };
    deepStrictEqual(
      anyOf.map((each) => each.enum),
      [Object.keys(problemKinds).map((kind) => `urn:botshelf:problem:${kind}`), undefined],
    );
  });

  it('has the licence of data and texts, and docs/api.md every kind of problem', () => {
    const describe = (file: SettingsFile): OpenApiInfo =>
      (openApi('', toSettings(file)) as { info: OpenApiInfo }).info;
    match(describe({}).description, /The list names no licence /);
    const { description, license } = describe({ license: 'CC-BY-4.0' });
    match(description, /The licence of data and texts: CC-BY-4\.0\.$/);
    deepStrictEqual(license, { name: 'CC-BY-4.0', identifier: 'CC-BY-4.0' });
    deepStrictEqual(describe({ license: 'Ours, see /about' }).license, { name: 'Ours, see /about' });
    const guide = readFileSync(join(top, 'docs/api.md'), 'utf8');
    for (const kind of Object.keys(problemKinds)) ok(guide.includes(`\`${kind}\``), kind);
  });

  for (const { input, expected } of readCases('api-contacts'))
    it(`has the contact of the operator: ${input}`, () => {
      const contact = input === 'none' ? null : input;
      const { info } = openApi('', toSettings(), contact) as { info: { contact?: unknown } };
      strictEqual(JSON.stringify(info.contact), expected[0]);
    });

  it('has a tag for each operation, and an operation for each tag', () => {
    const { tags, paths } = document as {
      tags: { name: string }[];
      paths: Record<string, Record<string, { tags: string[] }>>;
    };
    const used = Object.values(paths).flatMap((methods) => Object.values(methods).map((each) => each.tags));
    for (const each of used) strictEqual(each.length, 1);
    deepStrictEqual([...new Set(used.flat())].toSorted(), tags.map(({ name }) => name).toSorted());
  });

  it('is where /api, /api/v2 and /openapi.json lead', async () => {
    const targets = { '/api': '/docs', '/api/v2': '/docs', '/openapi.json': '/api/openapi.json' };
    for (const [path, target] of Object.entries(targets)) {
      const { status, headers } = await fetch(service.address + path, { redirect: 'manual' });
      deepStrictEqual([status, headers.get('location')], [302, target]);
      strictEqual(headers.get('link'), '</api/openapi.json>; rel="service-desc"');
      strictEqual((await fetch(service.address + target)).status, 200);
    }
  });

  it('has an operation for each route, a route for each operation, and the keys that writes take', () => {
    const { paths } = document as WrittenDocument;
    const parts = { config: { baseUrl }, catalogue: {}, images: {} } as ApiParts;
    const { posts, reads, others } = createApi(parts);
    const routes = [...posts.stack, ...reads.stack, ...others.stack].flatMap(({ path, methods }) =>
      methods.map((method) => `${method} ${String(path).replaceAll(/:(\w+)/g, '{$1}')}`),
    );
    const ownRoutes = ['/api/openapi.json', '/api', '/api/v2', '/openapi.json'].map((path) => `GET ${path}`);
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.keys(methods).map((method) => `${method.toUpperCase()} ${path}`),
    );
    deepStrictEqual(
      routes.filter((route) => !route.startsWith('HEAD ')).toSorted(),
      [...operations, ...ownRoutes].toSorted(),
    );
    for (const [path, schema] of [
      ['/api/v2/bots/{id}', 'UpdateValues'],
      ['/api/v2/bots/{id}/stats', 'stats'],
    ] as const) {
      const keys = Object.keys(schemas[schema]?.properties ?? {}).join(' ');
      ok(paths[path]?.['post']?.description.includes(`\`${keys}\``), keys);
    }
    const put = JSON.stringify(paths['/api/v2/bots/{id}/commands']?.['put']);
    match(put, /"items":\{"\$ref":"#\/components\/schemas\/command"\}/);
  });

  it('has the query parameters that each path reads, and no others', async () => {
    const { request } = service;
    const { paths } = document as ApiDocument;
    for (const [path, { get }] of Object.entries(paths)) {
      // Images ignore parameters.
      if (!get || path.startsWith('/appdata/')) continue;
      const documented = listParameters(document as ApiDocument, get).filter(
        (parameter) => parameter.in === 'query',
      );
      const { status, json } = await request(`${path.replace('{id}', '7')}?nonsense=1`);
      const [{ pointer, detail }] = json.errors as [{ pointer: string; detail: string }];
      deepStrictEqual([status, pointer], [400, '?nonsense'], path);
      const read = detail === takesNone ? [] : detail.replace(/^.*: use /, '').split(', ');
      deepStrictEqual(read.toSorted(), documented.map(({ name }) => name).toSorted(), path);
    }
    const { parameters } = (paths['/api/v2/bots']?.get ?? {}) as {
      parameters?: { name: string; explode?: boolean }[];
    };
    const category = parameters?.find(({ name }) => name === 'category');
    strictEqual(category?.explode, true, 'generators otherwise join a list by commas');
  });

  it('passes the recommended rules of a linter', async () => {
    const config = await createConfig({ extends: ['recommended'] });
    const problems = await lintFromString({ source: text, config });
    strictEqual(problems.map(({ ruleId, message }) => `${ruleId}: ${message}`).join(), '');
  });

  it('makes a typed client that reads, posts and handles problems @slow', async () => {
    const { address, root } = service;
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

interface WrittenDocument {
  readonly paths: Readonly<Record<string, Readonly<Record<string, { readonly description: string }>>>>;
}

interface OpenApiInfo {
  readonly description: string;
  readonly license: unknown;
}

interface Schema {
  readonly anyOf?: unknown;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: { readonly $ref?: string };
}

const takesNone = 'this address takes no parameters: leave it out';

interface Client {
  results(address: string, token: string): Promise<unknown>;
}

/** Generates the types of the document, and compiles the client with them. Returns its file. */
function buildClient(): string {
  const folder = tempFolder();
  symlinkSync(join(top, 'node_modules'), join(folder, 'node_modules'));
  writeFileSync(join(folder, 'package.json'), '{ "type": "module" }');
  writeFileSync(join(folder, 'openapi.json'), text);
  writeFileSync(join(folder, 'client.ts'), source);
  const resolved = createRequire(join(top, 'test/support/typed-client/')).resolve(
    'openapi-typescript/package.json',
  );
  const generator = join(dirname(resolved), 'bin/cli.js');
  run(generator, 'openapi.json', '--output', 'api.d.ts');
  run(join(top, 'node_modules/typescript/bin/tsc'), ...options, 'client.ts');
  return join(folder, 'client.js');

  function run(tool: string, ...args: readonly string[]): void {
    execFileSync(process.execPath, [tool, ...args], { cwd: folder, stdio: ['ignore', 'ignore', 'inherit'] });
  }
}

const options = [
  ...'--strict --module nodenext --target es2023 --lib es2023,dom --types'.split(' '),
  // No types of the project.
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
  const counts = await client.GET('/api/v2/bots/{id}/counts', { params: { path } });
  // @ts-expect-error -- a count is a number
  const refused = await client.POST('/api/v2/bots/{id}', { params: { path }, headers, body: { bot: { count: '156' } } });
  const missing = await client.GET('/api/v2/bots/{id}', { params: { path: { id: '8' } } });
  return {
    names: list.data?.map(({ contents }) => contents?.['en']?.name),
    page: record.data?.contents['en']?.page,
    stored: post.data?.bot,
    days: typeof counts.data === 'object' ? counts.data.map(({ count }) => count) : [],
    refused: refused.error?.errors?.[0]?.detail,
    missing: missing.error?.status,
  };
}
`;
