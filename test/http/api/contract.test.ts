import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
// oxlint-disable-next-line no-restricted-imports -- validates by the document alone, and not as the service does
import { Ajv2020 } from 'ajv/dist/2020.js';
import { msPerDay } from '../../../src/bot/clock.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { openApi } from '../../../src/http/api/openapi.ts';
import { eventually } from '../../support/eventually.ts';
import { createToken } from '../../../src/bot/token.ts';
import { commitCounts } from '../../support/counts.ts';
import { withProposals } from '../../support/replica.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { collection, commandsPath, mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { issueTestToken } from '../../support/token.ts';

const document = JSON.parse(JSON.stringify(openApi('https://bots.example.org', toSettings()))) as ApiDocument;
const ajv = new Ajv2020({ strict: false, validateFormats: false });
ajv.addSchema(document, 'api');

describe('the responses of the API', () => {
  let service: TestService;
  let token: string;
  let other: string;
  let unlisted: string;
  /** Operations and statuses that were seen, and the headers of those with status 200. */
  const seen = new Set<string>();

  before(async () => {
    const { folder: root } = testRepository({
      [pagePath('7')]: mainPage({ authors: ['7'] }),
      [pagePath('9')]: mainPage(),
      'botshelf.json': '{ "license": "CC-BY-4.0", "maintainers": ["42"] }',
      'collections/all.en.md': collection({ bots: ['7', '9'] }),
      'collections/more.en.md': collection({ bots: ['7', '9'] }),
    });
    commitCounts(root, [{ time: Math.floor(Date.now() / 1000) - 86_400, counts: { 7: 150 } }]);
    const env = { ...withProposals, BOTSHELF_BAD_TOKEN_LIMIT: '8', BOTSHELF_RATE_LIMIT: '120' };
    token = await issueTestToken(root, '7');
    other = await issueTestToken(root, '9');
    unlisted = await issueTestToken(root, '8');
    service = await startTestService({}, { root, env });
    // The history is read in the background.
    for (const path of ['counts', 'changes'])
      await eventually(async () =>
        strictEqual((await service.request(`/api/v2/bots/7/${path}`)).status, 200),
      );
  });

  /** Sends a request, and holds the response against the document. Returns its body. */
  async function send(path: string, status: number, init: RequestInit = {}, address = path): Promise<string> {
    const { method = 'GET' } = init;
    const { address: at } = service;
    const response = await fetch(at + address.replace('{id}', '7').replace('{locale}', 'en'), init);
    const isStream = response.headers.get('content-type')?.startsWith('text/event-stream');
    const body = isStream ? await readFirst(response) : await response.text();
    const label = `${method} ${address} ${status}`;
    strictEqual(response.status, status, `${label}: ${body}`);
    // A method that a path does not take has no operation.
    const operation = document.paths[path]?.[method === 'DELETE' ? 'get' : method.toLowerCase()];
    const sent = operation?.requestBody?.content['application/json'];
    if (status === 200 && sent) check(sent.schema ?? {}, JSON.parse(init.body as string), label);
    const described = resolve(operation?.responses[status]);
    ok(described, `${label} is not described`);
    seen.add(`${method === 'DELETE' ? 'GET' : method} ${path} ${status}`);
    for (const [name, value] of response.headers) {
      if (messageHeaders.has(name)) continue;
      const [, header] =
        Object.entries(described.headers ?? {}).find(([known]) => known.toLowerCase() === name) ?? [];
      ok(header, `${label} has the header ${name}, which is not described`);
      seen.add(`${method} ${path} ${status} ${name}`);
      match(value, resolve(header).schema.type === 'integer' ? /^\d+$/ : /./, `${label}: ${name}`);
    }
    const [type = ''] = response.headers.get('content-type')?.split(';') ?? [];
    deepStrictEqual([body === '', type === ''], [!described.content, !described.content], label);
    const schema = described.content?.[type]?.schema;
    if (described.content) ok(schema, `${label} is ${type}, which is not described`);
    if (schema?.contentSchema) {
      const all = isStream
        ? [...body.matchAll(/^data: (.*)$/gm)].map(([, data = '']) => data)
        : body.trimEnd().split('\n');
      ok(all.length > 0, label);
      for (const each of all) check(schema.contentSchema, JSON.parse(each), label);
    } else if (schema) check(schema, type.endsWith('json') ? JSON.parse(body) : body, label);
    return body;
  }

  const post = (body: unknown, headers: Readonly<Record<string, string>> = {}): RequestInit => ({
    method: 'POST',
    headers: { Authorization: token, 'Content-Type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });
  const bot = '/api/v2/bots/{id}';
  const ownStats = '/api/v2/bots/stats';
  /** Tested in image-route.test.ts. */
  const images = '/appdata/{name}.webp';

  it('take the counts that libraries post to other lists, at the address with the id or for the token', async () => {
    const stats = `${bot}/stats`;
    let count = 0;
    for (const [path, address, scheme] of [
      [stats, stats, ''],
      [stats, `${stats}/`, 'Bot '],
      [ownStats, ownStats, 'Token '],
    ] as const) {
      const body = { serverCount: ++count, shardCount: 1 };
      const answer = await send(path, 200, post(body, { Authorization: scheme + token }), address);
      deepStrictEqual(JSON.parse(answer), { bot: { count }, commit: null });
    }
  });

  it('refuse a limit, and a number of days, that is just over the one of the document', async () => {
    const checked: string[] = [];
    const today = Date.now();
    const day = (ago: number): string => new Date(today - ago * msPerDay).toISOString().slice(0, 10);
    for (const [path, { get }] of Object.entries(document.paths))
      for (const { name, description = '', schema } of get?.parameters ?? []) {
        const [, days] = /^The last day, of at most ([\d,]+)\./.exec(description) ?? [];
        const max = schema?.maximum ?? Number(days?.replace(',', ''));
        if (Number.isNaN(max)) continue;
        const query = (n: number): string =>
          days === undefined ? `${name}=${n}` : `from=${day(n - 1)}&to=${day(0)}`;
        await send(path, 200, {}, `${path}?${query(schema?.minimum ?? 2)}`);
        await send(path, 200, {}, `${path}?${query(max)}`);
        for (const n of [0, max + 1]) await send(path, 400, {}, `${path}?${query(n)}`);
        checked.push(`${path} ${name}`);
      }
    deepStrictEqual(checked, [
      '/api/v2/bots limit',
      '/api/v2/bots/{id}/counts to',
      '/api/v2/counts/history.ndjson to',
      '/api/v2/counts/history.csv to',
      '/api/v2/changes limit',
      '/api/v2/collections limit',
      '/api/v2/authors limit',
    ]);
  });

  it('are those of the OpenAPI document: status, headers and body of every one @slow', async () => {
    await send(bot, 200, post({ 'bot.count': 157, 'bot.category': 'games' }));
    const commands = `${bot}/commands`;
    for (const [path, method, good, bad] of [
      [bot, 'POST', { bot: { count: 156 } }, { bot: { count: '156' } }],
      [`${bot}/stats`, 'POST', { server_count: 156 }, { server_count: 900, shard_id: 2, shard_count: 4 }],
      [ownStats, 'POST', { server_count: [78, 78] }, { server_count: '156' }],
      [commands, 'PUT', [{ name: 'play', options: [{ type: 1, name: 'next' }] }], [{ name: '' }]],
      [commands, 'POST', [{ name: 'play' }], [{ name: '' }]],
    ] as const) {
      const write = (body: unknown, headers = {}): RequestInit => ({ ...post(body, headers), method });
      await send(path, 200, write(good));
      await send(path, 400, write('x'));
      await send(path, 401, write(good, { Authorization: '' }));
      const gone = { Authorization: path === ownStats ? unlisted : token };
      await send(path, 404, write(good, gone), path.replace('{id}', '8'));
      await send(path, 412, write(good, { 'If-Match': '"old"' }));
      await send(path, 413, write('x'.repeat(140_000)));
      await send(path, 415, write('x', { 'Content-Type': 'text/plain' }));
      await send(path, 422, write(bad));
      if (path !== ownStats) await send(path, 403, write(good, { Authorization: other }));
    }
    const pages = `${bot}/pages/{locale}`;
    const put = (body: BodyInit, headers = {}): RequestInit => ({
      method: 'PUT',
      headers: { Authorization: token, 'Content-Type': 'text/markdown', ...headers },
      body,
    });
    for (const [status, init, id] of [
      [200, put('# Homer\n\nThe page.'), '7'],
      [202, put('# Homer\n\nFrom the README.'), '7'],
      [400, put(new Uint8Array([0xff])), '7'],
      [401, put('Text.', { Authorization: '' }), '7'],
      [403, put('Text.', { Authorization: other }), '7'],
      [404, put('Text.'), '8'],
      [413, put('x'.repeat(70_000)), '7'],
      [415, put('Text.', { 'Content-Type': 'text/plain' }), '7'],
      [422, put('---\n{"name": "Bart"}\n---\n'), '7'],
    ] as const)
      await send(pages, status, init, pages.replace('{id}', id));
    repositoryIn(service.root).commit({
      [pagePath('7')]: mainPage({ authors: ['7'], category: 'games' }, 'Another page.'),
    });
    const german = put('---\n{"description": "Kennt Krapfen."}\n---\n');
    await send(pages, 409, german, pages.replace('{locale}', 'de'));
    await send(bot, 401, post({}, { Authorization: 'mistyped' }));
    const unknown = post({}, { Authorization: createToken() });
    await send(ownStats, 401, unknown);
    await send(bot, 429, post({}, { Authorization: 'mistyped' }));
    await send(`${bot}/stats`, 429, unknown);
    await send(ownStats, 429, unknown);
    for (const method of ['PUT', 'POST']) await send(commands, 429, { ...unknown, method });
    await send(pages, 429, put('Text.', { Authorization: createToken() }));

    for (const [path, { get }] of Object.entries(document.paths)) {
      if (!get || path === images) continue;
      await send(path, 200);
      if (JSON.stringify(get).includes('X-Unknown-Ids')) await send(path, 200, {}, `${path}?ids=8,7`);
      const statuses = Object.keys(get.responses);
      await send(path, 304, { headers: { 'If-None-Match': '*' } });
      await send(path, 400, {}, `${path}?nonsense=1`);
      await send(path, 405, { method: 'DELETE' });
      await send(path, 406, { headers: { 'Accept-Encoding': '*;q=0' } });
      if (statuses.includes('404')) await send(path, 404, {}, path.replace('{id}', '8'));
    }
    const list = '/api/v2/bots';
    const changes = '/api/v2/changes';
    match(
      await send(list, 200, {}, `${list}?fields=id,category&limit=1`),
      /^\[\{"id":"7","category":"games"\}\]$/,
    );
    await send(list, 200, {}, `${list}?q=Hommer`);
    await send(`${list}/{id}/counts`, 200, { headers: { Accept: 'text/csv' } });
    for (const accept of ['text/csv', 'application/x-ndjson'])
      await send('/api/v2/counts', 200, { headers: { Accept: accept } });
    await send(list, 200, {}, `${list}?fields=count`);
    for (const path of ['/api/v2/collections', '/api/v2/authors'])
      await send(path, 200, {}, `${path}?limit=1`);
    match(await send('/api/v2/categories', 200), /\{"id":"games","names":\{\},"bots":1\}/);
    await send(changes, 410, {}, `${changes}?since=${'0'.repeat(40)}`);
    const [first] = repositoryIn(service.root).git('rev-list', '--reverse', 'main').split('\n');
    match(await send(changes, 200, {}, `${changes}?since=${first}`), /"keys":\["category"/);
    await send(changes, 200, { headers: { Accept: 'text/event-stream' } }, `${changes}?since=${first}`);

    service.allowLog(/uncommitted/);
    appendFileSync(join(service.root, pagePath('7')), '\n');
    await send(bot, 409, post({ bot: { category: 'music' } }));
    appendFileSync(join(service.root, commandsPath('7')), '\n');
    for (const method of ['PUT', 'POST']) await send(commands, 409, { ...post([]), method });
    const { git } = repositoryIn(service.root);
    git('checkout', '-q', '.');
    service.expectLog(/HEAD is on no branch/);
    git('switch', '-q', '--detach');
    await send(bot, 503, post({ bot: { category: 'music' } }));
    for (const method of ['PUT', 'POST']) await send(commands, 503, { ...post([]), method });
    await send(pages, 503, put('Text.'));
    git('switch', '-q', 'main');

    const unseen = Object.entries(document.paths).flatMap(([path, methods]) =>
      Object.entries(methods).flatMap(([method, { responses }]) =>
        [
          ...Object.keys(responses),
          ...Object.keys(resolve(responses['200'])?.headers ?? {}).map((name) => `200 ${name.toLowerCase()}`),
        ]
          .map((status) => `${method.toUpperCase()} ${path} ${status}`)
          .filter(
            (each) =>
              path !== images &&
              !seen.has(each) &&
              !/^GET .* 429$|^(?:GET .*|POST .*\/stats) 503$| default$/.test(each),
          ),
      ),
    );
    // Status 202 needs a Git server that is away, 403 a read-only copy, and the next page of changes 51 commits.
    deepStrictEqual(unseen, [
      `POST ${bot} 202`,
      `PUT ${commands} 202`,
      `POST ${commands} 202`,
      `POST ${bot}/stats 202`,
      `POST ${ownStats} 202`,
      `POST ${ownStats} 403`,
      `GET ${bot}/changes 200 link`,
    ]);
  });
});

/** Headers of the connection and of the body, which OpenAPI describes elsewhere or not at all. */
const messageHeaders = new Set(
  'connection content-encoding content-length content-type date keep-alive transfer-encoding'.split(' '),
);

async function readFirst({ body }: Response): Promise<string> {
  const reader = body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  return Buffer.from(value ?? []).toString();
}

function check(schema: Schema, value: unknown, label: string): void {
  const isValid = ajv.compile(toAbsolute(schema));
  ok(isValid(value), `${label}: ${ajv.errorsText(isValid.errors)}`);
}

/** Returns a schema of the document for use outside of it. */
function toAbsolute(schema: Schema): object {
  return JSON.parse(JSON.stringify(schema).replaceAll('"#/components/', '"api#/components/')) as object;
}

function resolve<T extends object>(value: T | Reference | undefined): T {
  if (value === undefined || !('$ref' in value)) return value as T;
  const [, , kind = '', name = ''] = value.$ref.split('/');
  return document.components[kind]?.[name] as T;
}

interface Reference {
  readonly $ref: string;
}

type Named<T> = Readonly<Record<string, T>>;

interface Schema {
  readonly type?: string;
  readonly contentSchema?: Schema;
}

interface Content {
  readonly content: Named<{ readonly schema: Schema }>;
}

interface DescribedResponse extends Partial<Content> {
  readonly headers?: Named<{ readonly schema: Schema } | Reference>;
}

interface Operation {
  readonly parameters?: readonly {
    readonly name: string;
    readonly description?: string;
    readonly schema?: { readonly minimum?: number; readonly maximum?: number };
  }[];
  readonly requestBody?: Content;
  readonly responses: Named<DescribedResponse | Reference>;
}

interface ApiDocument {
  readonly paths: Named<Named<Operation>>;
  readonly components: Named<Named<object>>;
}
