import { deepStrictEqual, match, ok, rejects, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import {
  type BotListElement,
  type BotListPart,
  BotshelfError,
  type CatalogueChanges,
  createClient,
  type ExportLine,
} from '../../../clients/typescript/src/index.ts';
import { clientTypesPath, typesFromOpenApi } from '../../../scripts/schema-types.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { openApi } from '../../../src/http/api/openapi.ts';
import { createPostingCode, toPackageAddress } from '../../../src/desk/account/posting-code.ts';
import { packageFolder } from '../../support/package-files.ts';
import { type FaultyProxy, type ProxyFault, startFaultyProxy } from '../../support/faulty-proxy.ts';
import { proposalSettings } from '../../support/proposals.ts';
import { withProposals } from '../../support/replica.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';
import { needs } from '../../support/tools.ts';

const run = promisify(execFile);
/** More than a request returns. */
const ids = Array.from({ length: 101 }, (_, i) => String(i + 1));

/** Runs code that uses the Python client. @returns what it prints, as JSON */
async function runPython(code: string, ...args: readonly string[]): Promise<unknown> {
  const setup = 'import json, sys, typing; sys.dont_write_bytecode = True; import botshelf\n';
  const env = { ...process.env, PYTHONPATH: join(packageFolder, 'clients/python') };
  return JSON.parse((await run('python3', ['-c', setup + code, ...args], { env })).stdout);
}

describe('a client that reads and posts', () => {
  let root: string;
  let service: TestService;
  let proxy: FaultyProxy;
  let bots: BotListElement[];
  let token: string;

  before(async () => {
    const pages = Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()]));
    root = testRepository({ ...pages, 'botshelf.json': proposalSettings }).folder;
    service = await startTestService({}, { root, env: withProposals });
    proxy = await startFaultyProxy(service.address);
    bots = (await service.request('/api/v2/bots')).json as BotListElement[];
    token = await issueTestToken(service.root, '1');
  });

  it('has all pages of a list, a bot, and what was changed: TypeScript', async () => {
    const client = createClient({ baseUrl: `${service.address}/` });
    const listed: BotListElement[] = [];
    for await (const bot of client.list({ nsfw: false, category: ['fun'] })) listed.push(bot);
    strictEqual(bots.length, 101);
    deepStrictEqual(listed, bots);
    listed.length = 0;
    for await (const bot of client.list({ limit: 2 })) listed.push(bot);
    deepStrictEqual(listed, bots.slice(0, 2));
    deepStrictEqual(await client.read('2'), (await service.request('/api/v2/bots/2')).json);
    deepStrictEqual(await client.post('1', `${token}\n`, { count: 7 }), { bot: { count: 7 }, commit: null });
    await rejects(client.read('404'), (error) => error instanceof BotshelfError && error.status === 404);
    await rejects(client.list({ sort: 'size' }).next(), /sort/);
    deepStrictEqual((await client.counts())['1']?.count, 7);
    deepStrictEqual(await client.counts({ since: '2100-01-01' }), {});
    await rejects(client.post('1', undefined, { count: 8 }), /the token is empty/);
    proxy.faults.push(redirect());
    const moved = createClient({ baseUrl: proxy.address });
    await rejects(moved.post('1', token, { count: 8 }), /the address redirects/);
    strictEqual((await client.counts())['1']?.count, 7);
  });

  /** A redirect that would keep method, token and body. */
  const redirect = (): ProxyFault => ({
    status: 308,
    headers: { Location: `${service.address}/api/v2/bots/1` },
  });

  needs('python3', it)('has all pages of a list, a bot, and what was changed: Python', async () => {
    const code = `
shelf = botshelf.Client(sys.argv[1] + "/")
listed = list(shelf.list(nsfw=False, category=["fun"]))
first = [bot["id"] for bot in shelf.list(limit=2)]
try:
    shelf.read("404")
except botshelf.BotshelfError as error:
    status = error.status
read, posted = shelf.read(2), shelf.post(1, sys.argv[2] + "\\n", {"count": 7})
counts = [shelf.counts()["1"]["count"], shelf.counts(since="2100-01-01")]
try:
    botshelf.Client(sys.argv[3]).post(1, sys.argv[2], {"count": 8})
except botshelf.BotshelfError as error:
    moved = error.status
print(json.dumps([listed, first, read, posted, status, counts, moved]))
`;
    proxy.faults.push(redirect());
    deepStrictEqual(await runPython(code, service.address, token, proxy.address), [
      bots,
      ids.slice(0, 2),
      (await service.request('/api/v2/bots/2')).json,
      { bot: { count: 7 }, commit: null },
      404,
      [7, {}],
      308,
    ]);
  });

  const readSent = (): string =>
    repositoryIn(root).git('show', `refs/botshelf/proposals/1/1:${pagePath('1')}`);

  it('sends a page of a bot, with or without its description: TypeScript', async () => {
    const client = createClient({ baseUrl: service.address });
    const page = { locale: 'en', text: '# Homer\n\nFrom “README”.', description: 'Knows doughnuts.' };
    const waiting = { proposal: 'https://bots.example.org/proposals/1/bot', state: 'waiting' };
    deepStrictEqual(await client.putPage('1', token, page), waiting);
    match(readSent(), /"description": "Knows doughnuts\."[^]*---\n\n# Homer\n\nFrom “README”\.$/);
    deepStrictEqual(await client.putPage('1', token, { locale: 'en', text: 'Text.' }), waiting);
    match(readSent(), /"description": "Answers questions about doughnuts\."[^]*---\n\nText\.$/);
    await rejects(client.putPage('1', token, { locale: 'x1', text: '' }), /the address ends in no language/);
  });

  needs('python3', it)('sends a page of a bot, with or without its description: Python', async () => {
    const code = `
shelf = botshelf.Client(sys.argv[1])
first = shelf.put_page(1, sys.argv[2], "en", "# Homer\\n\\nFrom “README”.", "Knows donuts.")
try:
    shelf.put_page(1, sys.argv[2], "x1", "")
except botshelf.BotshelfError as error:
    print(json.dumps([first["state"], shelf.put_page(1, sys.argv[2], "en", "From Python.")["state"], error.status]))
`;
    deepStrictEqual(await runPython(code, service.address, token), ['waiting', 'waiting', 404]);
    match(readSent(), /"description": "Answers questions about doughnuts\."[^]*---\n\nFrom Python\.$/);
    match(
      repositoryIn(root).git('show', `refs/botshelf/proposals/1/1~1:${pagePath('1')}`),
      /"description": "Knows donuts\."[^]*From “README”\.$/,
    );
  });

  /** An export that ends early, as after a proxy that has stopped. */
  const lines = { 'Content-Type': 'application/x-ndjson' };
  const cutOff = { status: 200, headers: lines, body: '{"id": "1"}\n{"id": ' };

  /** The responses of proxies in between, as during a restart. */
  const faults = [
    { status: 502, headers: { 'Content-Type': 'text/html' }, body: '<p>Bad gateway</p>' },
    { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<p>No service</p>' },
    { status: 404, headers: { 'Content-Type': 'application/problem+json' }, body: '{"detail": "nothing"}' },
    'cut',
    { status: 503, headers: { 'Content-Type': 'application/problem+json' }, body: '{"detail": "starting"}' },
  ] as const;

  it('has all bots and what changes from then on, after every fault: TypeScript', async () => {
    const client = createClient({ baseUrl: proxy.address });
    const { cursor, bots: exported } = await client.export();
    const all: ExportLine[] = [];
    for await (const bot of exported) all.push(bot);
    deepStrictEqual([all.length, all[0]?.files[0]?.path], [101, pagePath('1')]);
    proxy.faults.push('half');
    const cut = createClient({ baseUrl: proxy.address, timeoutMs: 200 });
    await rejects((await cut.export()).bots.next(), /nothing came for 200 ms/);
    proxy.faults.push(cutOff);
    const short = (await client.export()).bots;
    strictEqual((await short.next()).value?.id, '1');
    await rejects(short.next(), /no response: it was cut off within a line/);
    proxy.faults.push(...faults);
    const errors: unknown[] = [];
    const options = { since: cursor, intervalMs: 20, onError: (error: unknown) => errors.push(error) };
    repositoryIn(root).commit({ [pagePath('200')]: mainPage() });
    const { value } = await client.changes(options).next();
    strictEqual((value as CatalogueChanges).changes.map(({ what, bot }) => what + bot).join(), 'added200');
    strictEqual(errors.length, faults.length);
    await rejects(client.changes({ since: '0'.repeat(40) }).next(), { status: 410 });
    strictEqual((await client.changes({ signal: AbortSignal.abort() }).next()).done, true);
  });

  needs('python3', it)('has all bots and what changes from then on, after every fault: Python', async () => {
    const { next } = (await service.request('/api/v2/changes')).json as CatalogueChanges;
    repositoryIn(root).commit({ [pagePath('201')]: mainPage() });
    proxy.faults.push('half', cutOff, ...faults);
    const code = `
cut = []
for _ in range(2):
    try:
        list(botshelf.Client(sys.argv[1], timeout=0.2).export().bots)
    except botshelf.BotshelfError as error:
        cut.append(str(error).split("no response: ")[1])
shelf = botshelf.Client(sys.argv[1])
errors = []
page = next(shelf.changes(sys.argv[2], interval=0.02, on_error=errors.append))
cursor, bots = shelf.export()
first = next(bots)
bots.close()
try:
    next(shelf.changes("0" * 40))
except botshelf.BotshelfError as error:
    status = error.status
path, bot = first["files"][0]["path"], page["changes"][0]["bot"]
print(json.dumps([cut, len(errors), bot, len(cursor), path, status]))
`;
    const cut = ['timed out', 'it was cut off within a line'];
    const seen = [cut, faults.length, '201', 40, pagePath('1'), 410];
    deepStrictEqual(await runPython(code, proxy.address, next), seen);
  });

  it('reads a count back, and the chosen bots with the chosen keys: TypeScript', async () => {
    const client = createClient({ baseUrl: service.address });
    deepStrictEqual(await client.stats('3'), { server_count: null, countedAt: null });
    await client.post('1', token, { count: 9 });
    strictEqual((await client.stats('1')).server_count, 9);
    const some: BotListPart[] = [];
    // As many as a request takes, each of which would be a parameter.
    for await (const bot of client.list({ ids: ids.slice(0, 100), fields: 'id,count' })) some.push(bot);
    deepStrictEqual([some.length, some[0], some[1]], [100, { id: '1', count: 9 }, { id: '2', count: null }]);
    deepStrictEqual(Object.keys(await client.counts({ ids: ['1', '2'] })), ['1']);
    await rejects(client.list({ ids: [] }).next(), /^BotshelfError: .*ids/);
    const { next } = (await service.request('/api/v2/changes')).json as CatalogueChanges;
    repositoryIn(root).commit({ [pagePath('301')]: mainPage(), [pagePath('302')]: mainPage() });
    const { value } = await client.changes({ since: next, ids: ['302'], intervalMs: 20 }).next();
    strictEqual((value as CatalogueChanges).changes.map(({ bot }) => bot).join(), '302');
  });

  needs('python3', it)('reads a count back, and the chosen bots with the chosen keys: Python', async () => {
    const code = `
shelf = botshelf.Client(sys.argv[1])
shelf.post(1, sys.argv[2], {"count": 9})
ids = [str(number) for number in range(1, 101)]
some = list(shelf.list(ids=ids, fields="id,count"))
page = next(shelf.changes(sys.argv[3], ids=[304], interval=0.02))
print(json.dumps([
    shelf.stats(1)["server_count"], shelf.stats(3), len(some), some[0], list(shelf.counts(ids=iter([1, 2]))),
    [change["bot"] for change in page["changes"]],
]))
`;
    const { next } = (await service.request('/api/v2/changes')).json as CatalogueChanges;
    repositoryIn(root).commit({ [pagePath('303')]: mainPage(), [pagePath('304')]: mainPage() });
    deepStrictEqual(await runPython(code, service.address, token, next), [
      9,
      { server_count: null, countedAt: null },
      100,
      { id: '1', count: 9 },
      ['1'],
      ['304'],
    ]);
  });
});

describe('a client', () => {
  const userAgent = 'my-stats/1.0 (ops@example.org)';
  const problem = { status: 503, headers: { 'Content-Type': 'application/problem+json' }, body: '{}' };
  /** JSON of a server in between. */
  const foreign = { status: 200, body: '{"status": "ok"}' };
  const proxied404 = { status: 404, headers: { 'Content-Type': 'text/html' }, body: '<p>No service</p>' };
  let service: TestService;
  let proxy: FaultyProxy;
  let token: string;

  before(async () => {
    service = await startTestService({ [pagePath('7')]: mainPage() });
    proxy = await startFaultyProxy(service.address);
    token = await issueTestToken(service.root, '7');
  });

  it('tries reads that fail in passing three times, and names the program: TypeScript', async () => {
    const client = createClient({ baseUrl: proxy.address, userAgent });
    proxy.faults.push('cut', problem);
    strictEqual((await client.read('7')).id, '7');
    strictEqual(proxy.headers['user-agent'], userAgent);
    proxy.faults.push(foreign, problem);
    deepStrictEqual(await client.counts(), {});
    proxy.faults.push(problem, foreign);
    strictEqual((await (await client.export()).bots.next()).value?.id, '7');
    proxy.faults.push(problem, problem, problem);
    await rejects(client.list().next(), { status: 503 });
    strictEqual(proxy.faults.length, 0);
    const { requests } = proxy;
    await rejects(client.read('404'), { status: 404 });
    proxy.faults.push({ ...problem, headers: { ...problem.headers, 'Retry-After': '60' } });
    await rejects(client.read('7'), { retryAfterMs: 60_000 });
    strictEqual(proxy.requests, requests + 2);
  });

  it('says what is wrong: TypeScript', async () => {
    const client = createClient({ baseUrl: proxy.address });
    const errorOf = async (promise: Promise<unknown>): Promise<BotshelfError> => {
      const thrown = await promise.catch((error: unknown) => error);
      ok(thrown instanceof BotshelfError, String(thrown));
      return thrown;
    };
    const wrong = { count: -1, website: 'x' };
    const refused = await errorOf(client.post('7', token, wrong));
    deepStrictEqual(
      [refused.type, refused.isFinal, refused.isRemoved, refused.errors.map(({ pointer }) => pointer)],
      ['urn:botshelf:problem:invalid-update', true, false, ['#/bot/count', '#/bot/website']],
    );
    const removed = await errorOf(client.read('404'));
    deepStrictEqual([removed.type, removed.isRemoved], ['urn:botshelf:problem:unknown-bot', true]);
    proxy.faults.push(proxied404, proxied404, proxied404);
    const { status, type, isRemoved, isFinal } = await errorOf(client.read('7'));
    deepStrictEqual([status, type, isRemoved, isFinal], [404, undefined, false, false]);
    for (const status of [412, 413, 415, 422, 409, 429]) {
      const headers = { ...problem.headers, 'X-Request-Id': 'abc' };
      proxy.faults.push({ status, headers, body: `{"errors": [{"detail": "${token}"}]}` });
      const { isFinal, requestId, errors } = await errorOf(client.post('7', token, { count: 1 }));
      deepStrictEqual(
        [isFinal, requestId, errors],
        [status < 423 && status !== 409, 'abc', [{ detail: '(the token)' }]],
      );
    }
    for (const baseUrl of ['bots.example.org', 'ftp://example.org', 'http://a b', 'https://example.org:x'])
      strictEqual((await errorOf(createClient({ baseUrl }).read('7'))).isFinal, true, baseUrl);
    const badName = createClient({ baseUrl: proxy.address, userAgent: 'a\nb' });
    strictEqual((await errorOf(badName.read('7'))).isFinal, true);
    const values = { count: 7n as unknown as number };
    match((await errorOf(client.post('7', token, values))).message, /^this cannot be sent as JSON: .*BigInt/);
    strictEqual((await errorOf(client.putCommands('7', token, [null]))).isFinal, true);
    match((await errorOf(client.post('7', 7 as unknown as string, { count: 1 }))).message, /^the token is /);
  });

  needs('python3', it)('does the same, and asks for compression: Python', async () => {
    const code = `
shelf = botshelf.Client(sys.argv[1], user_agent=sys.argv[2])
token = sys.argv[3]

def fail(call, *args):
    try:
        call(*args)
    except botshelf.BotshelfError as error:
        return [error.status, error.type, error.is_final, error.is_removed, error.request_id, len(error.errors)]

class Number:
    pass  # as numpy has it

print(json.dumps([
    shelf.read(7)["id"],
    shelf.counts(),
    next(shelf.export().bots)["id"],
    [fail(shelf.post, 7, token, {"count": 1}) for _ in range(2)],
    fail(lambda: next(shelf.list())),
    fail(shelf.read, 7),
    fail(shelf.post, 7, token, {"count": -1, "website": "x"}),
    fail(shelf.read, 404),
    [fail(botshelf.Client(url).read, 7) for url in ("bots.example.org", "http://a b", "https://example.org:x")],
    fail(botshelf.Client(sys.argv[1], user_agent="a\\nb").read, 7),
    fail(shelf.post, 7, token, {"count": Number()}),
    fail(shelf.post, 7, token, {"count": float("nan")}),
    fail(shelf.put_commands, 7, token, [None]),
]))
`;
    const headers = { ...problem.headers, 'X-Request-Id': 'abc' };
    const body = '{"type": "x", "errors": [{}]}';
    proxy.faults.push(
      ...(['cut', problem, 'pass', foreign, problem, 'pass', problem, foreign, 'pass'] as const),
      ...[412, 429].map((status) => ({ status, headers, body })),
      ...[problem, proxied404].flatMap((each) => [each, each, each]),
    );
    const none = [null, null, true, false, null, 0];
    deepStrictEqual(await runPython(code, proxy.address, userAgent, token), [
      '7',
      {},
      '7',
      [412, 429].map((status) => [status, 'x', status === 412, false, 'abc', 1]),
      [503, null, false, false, null, 0],
      [404, null, false, false, null, 0],
      [422, 'urn:botshelf:problem:invalid-update', true, false, null, 2],
      [404, 'urn:botshelf:problem:unknown-bot', true, true, null, 0],
      [none, none, none],
      ...Array.from({ length: 4 }, () => none),
    ]);
    strictEqual(proxy.faults.length, 0);
    deepStrictEqual([proxy.headers['user-agent'], proxy.headers['accept-encoding']], [userAgent, 'gzip']);
  });
});

describe('the types of the clients', () => {
  it('are those of the OpenAPI document: TypeScript', async () => {
    ok(
      readFileSync(clientTypesPath, 'utf8') === (await typesFromOpenApi()),
      'clients/typescript/src/api.ts is out of date: run npm run types',
    );
  });

  needs('python3', it)('are those of the OpenAPI document: Python', async () => {
    const { components } = openApi('', toSettings()) as { components: { schemas: Record<string, Schema> } };
    const own =
      'BotRecord BotListElement UpdateAnswer UpdateValues CatalogueChange CatalogueChanges PageAnswer';
    const names = [...own.split(' '), 'latestCount', 'fileText'];
    const code = `
classes = [getattr(botshelf, name[0].upper() + name[1:]) for name in sys.argv[1:]]
print(json.dumps([[sorted(typing.get_type_hints(c)), sorted(c.__required_keys__)] for c in classes]))
`;
    deepStrictEqual(
      await runPython(code, ...names),
      names.map((name) => [
        Object.keys(components.schemas[name]?.properties ?? {}).toSorted(),
        [...(components.schemas[name]?.required ?? [])].toSorted(),
      ]),
    );
  });

  it('are in the package that npm installs from the service', async () => {
    const user = tempFolder();
    writeFileSync(join(user, 'package.json'), '{ "type": "module" }');
    const { address } = await startTestService({ [pagePath('1')]: mainPage() });
    const [, { code } = { code: '' }] = createPostingCode(address, botId('1'));
    const commands = [...code.replace(' discord.js', '').matchAll(/^\/\/ (.+)$/gm)].map(([, line]) => line);
    const env = { ...process.env, npm_config_audit: 'false', npm_config_cache: tempFolder() };
    await run('sh', ['-ec', commands.join('\n')], { cwd: user, env });
    writeFileSync(join(user, 'bot.ts'), usersCode);
    writeFileSync(join(user, 'bot.cts'), usersCode.replace('await stop();', 'void stop();'));
    const tsc = join(packageFolder, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--module', 'node16', '--target', 'es2022', '--types', 'node'];
    const types = ['--typeRoots', join(packageFolder, 'node_modules/@types')];
    execFileSync(process.execPath, [tsc, ...strict, ...types, 'bot.ts', 'bot.cts'], {
      cwd: user,
      stdio: 'inherit',
    });
    for (const program of ['bot.js', 'bot.cjs'])
      strictEqual(execFileSync(process.execPath, [program], { cwd: user, encoding: 'utf8' }), 'stopped\n');
  });

  needs('pip', it)('are in the package that pip installs from the service @long', async () => {
    const folder = tempFolder();
    const { address } = await startTestService({ [pagePath('1')]: mainPage() });
    const options = '--quiet --disable-pip-version-check --no-index --no-cache-dir --target'.split(' ');
    await run('python3', ['-m', 'pip', 'install', ...options, folder, toPackageAddress(address, '.whl')]);
    const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.dist-info'));
    strictEqual(name, `botshelf-${/-([\d.]+)-py3/.exec(toPackageAddress('', '.whl'))?.[1]}.dist-info`);
    const env = { ...process.env, PYTHONPATH: folder };
    const { stdout } = await run('python3', ['-c', 'import botshelf; print(botshelf.__file__)'], { env });
    strictEqual(stdout, `${join(folder, 'botshelf/__init__.py')}\n`);
    ok(readdirSync(join(folder, 'botshelf')).includes('py.typed'));
  });
});

interface Schema {
  readonly properties: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
}

/** A bot as its owner writes it. */
const usersCode = `
import { autopost, type BotRecord, createClient } from '@botshelf/client';

const client = createClient({ baseUrl: 'http://127.0.0.1:1' });
export const name = (bot: BotRecord): string => bot.contents['en']!.name;
// @ts-expect-error -- a count is a number
export const post = () => client.post('1', 'x', { count: '1' });
const { stop } = autopost({ baseUrl: 'http://127.0.0.1:1', id: '1', token: process.env['BOTSHELF_TOKEN'], count: () => undefined });
await stop();
console.log('stopped');
`;
