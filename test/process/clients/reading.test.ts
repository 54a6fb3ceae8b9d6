import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { execFile, execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { type BotListElement, BotshelfError, createClient } from '../../../clients/typescript/src/index.ts';
import { clientTypesPath, typesFromOpenApi } from '../../../scripts/schema-types.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { openApi } from '../../../src/http/api/openapi.ts';
import { clientPackages } from '../../../src/site/page/assets.ts';
import { packageFolder } from '../../support/clone.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken } from '../../support/token.ts';
import { needs } from '../../support/tools.ts';

const run = promisify(execFile);
const ids = ['1', '2', '3'];

/** Runs code that uses the Python client. @returns what it prints, as JSON */
async function runPython(code: string, ...args: readonly string[]): Promise<unknown> {
  const setup = 'import json, sys, typing; sys.dont_write_bytecode = True; import botshelf\n';
  const env = { ...process.env, PYTHONPATH: join(packageFolder, 'clients/python') };
  return JSON.parse((await run('python3', ['-c', setup + code, ...args], { env })).stdout);
}

describe('a client that reads and posts', () => {
  let service: TestService;
  let bots: BotListElement[];
  let token: string;

  before(async () => {
    service = await startTestService(Object.fromEntries(ids.map((id) => [pagePath(id), mainPage()])));
    bots = (await service.request('/api/v2/bots')).json as BotListElement[];
    token = await issueTestToken(service.root, '1');
  });

  it('has all pages of a list, a bot, and what was changed: TypeScript', async () => {
    const client = createClient({ baseUrl: `${service.address}/` });
    const listed: BotListElement[] = [];
    for await (const bot of client.list({ limit: 1, nsfw: false, category: ['fun'] })) listed.push(bot);
    strictEqual(bots.length, 3);
    deepStrictEqual(listed, bots);
    deepStrictEqual(await client.read('2'), (await service.request('/api/v2/bots/2')).json);
    deepStrictEqual(await client.post('1', `${token}\n`, { count: 7 }), { bot: { count: 7 }, commit: null });
    await rejects(client.read('4'), (error) => error instanceof BotshelfError && error.status === 404);
    await rejects(client.list({ sort: 'size' }).next(), /sort/);
  });

  needs('python3', it)('has all pages of a list, a bot, and what was changed: Python', async () => {
    const code = `
shelf = botshelf.Client(sys.argv[1] + "/")
listed = list(shelf.list(limit=1, nsfw=False, category=["fun"]))
try:
    shelf.read("4")
except botshelf.BotshelfError as error:
    status = error.status
print(json.dumps([listed, shelf.read("2"), shelf.post("1", sys.argv[2] + "\\n", {"count": 7}), status]))
`;
    deepStrictEqual(await runPython(code, service.address, token), [
      bots,
      (await service.request('/api/v2/bots/2')).json,
      { bot: { count: 7 }, commit: null },
      404,
    ]);
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
    const { components } = openApi('', toSettings()) as { readonly components: Components };
    const { BotRecord, BotListElement, UpdateAnswer, UpdateValues } = components.schemas;
    const code = `
names = ["BotRecord", "BotListElement", "UpdateAnswer", "UpdateValues"]
classes = [getattr(botshelf, name) for name in names]
print(json.dumps([[sorted(typing.get_type_hints(c)), sorted(c.__required_keys__)] for c in classes]))
`;
    deepStrictEqual(
      await runPython(code),
      [BotRecord, BotListElement, UpdateAnswer, UpdateValues].map((schema) => [
        Object.keys(schema?.properties ?? {}).toSorted(),
        [...(schema?.required ?? [])].toSorted(),
      ]),
    );
  });

  it('are in the package that npm installs from the service', async () => {
    const user = tempFolder();
    writeFileSync(join(user, 'package.json'), '{ "type": "module" }');
    const { address } = await startTestService({ [pagePath('1')]: mainPage() });
    const options = ['--no-audit', '--no-fund', '--cache', tempFolder()];
    await run('npm', ['install', ...options, clientPackages.npm(address)], { cwd: user });
    writeFileSync(join(user, 'bot.ts'), usersCode);
    const tsc = join(packageFolder, 'node_modules/typescript/bin/tsc');
    const strict = ['--strict', '--module', 'nodenext', '--target', 'es2022', '--types', ''];
    execFileSync(process.execPath, [tsc, ...strict, 'bot.ts'], { cwd: user, stdio: 'inherit' });
    strictEqual(execFileSync(process.execPath, ['bot.js'], { cwd: user, encoding: 'utf8' }), 'stopped\n');
  });

  needs('pip', it)('are in the package that pip installs from the service', async () => {
    const folder = tempFolder();
    const { address } = await startTestService({ [pagePath('1')]: mainPage() });
    const options = [
      '--quiet',
      '--disable-pip-version-check',
      '--no-index',
      '--no-cache-dir',
      '--target',
      folder,
    ];
    await run('python3', ['-m', 'pip', 'install', ...options, clientPackages.pip(address)]);
    const [name = ''] = readdirSync(folder).filter((each) => each.endsWith('.dist-info'));
    strictEqual(name, `botshelf-${/-([\d.]+)-py3/.exec(clientPackages.pip(''))?.[1]}.dist-info`);
    const env = { ...process.env, PYTHONPATH: folder };
    const { stdout } = await run('python3', ['-c', 'import botshelf; print(botshelf.__file__)'], { env });
    strictEqual(stdout, `${join(folder, 'botshelf.py')}\n`);
  });
});

interface Components {
  readonly schemas: Readonly<Record<string, Schema>>;
}

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
const { stop } = autopost({ baseUrl: 'http://127.0.0.1:1', id: '1', token: 'bsh_x', count: () => undefined });
await stop();
console.log('stopped');
`;
