import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFile, spawn } from 'node:child_process';
import { chmodSync, copyFileSync } from 'node:fs';
import { delimiter, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { createPostingCode } from '../../../../src/desk/account/posting-code.ts';
import { packageFolder } from '../../../support/package-files.ts';
import { eventually } from '../../../support/eventually.ts';
import { testRepository } from '../../../support/repository.ts';
import { botId, mainPage, pagePath } from '../../../support/sample.ts';
import { agePages } from '../../../support/age-pages.ts';
import { originRemote, startTestService, type TestService } from '../../../support/service.ts';
import { tempFolder } from '../../../support/temp-folder.ts';
import { issueTestToken } from '../../../support/token.ts';
import { needs } from '../../../support/tools.ts';

const homer = botId('190519304972663312');
const run = promisify(execFile);

describe('the code to post with', () => {
  let service: TestService;
  let env: Record<string, string>;

  before(async () => {
    const repo = testRepository({ [pagePath(homer)]: mainPage() });
    service = await startTestService({}, { root: repo.folder });
    env = { PATH: process.env['PATH'] ?? '', BOTSHELF_TOKEN: await issueTestToken(repo.folder, homer) };
  });

  const codeFor = (language: RegExp, address = service.address): string => {
    const found = createPostingCode(address, homer).find(({ title }) => language.test(title));
    ok(found);
    return found.code;
  };
  /** Runs the code of a bot on discord.js once. */
  const runBot = async (
    address: string,
    token = env['BOTSHELF_TOKEN'],
  ): Promise<{ readonly stdout: string; readonly stderr: string }> => {
    const folder = tempFolder({
      'bot.mjs': codeFor(/discord\.js/, address),
      'node_modules/discord.js/package.json': '{"type": "module", "exports": "./index.js"}',
      'node_modules/discord.js/index.js': discordJs,
      'node_modules/@botshelf/client/package.json': '{"type": "module", "exports": "./index.js"}',
    });
    const built = new URL('../../../../clients/typescript/src/index.js', import.meta.url);
    copyFileSync(built, join(folder, 'node_modules/@botshelf/client/index.js'));
    return await run(process.execPath, [join(folder, 'bot.mjs')], { env: { ...env, BOTSHELF_TOKEN: token } });
  };
  const botPage = async (): Promise<string> => {
    agePages();
    const headers = { accept: 'text/html' };
    return await (await fetch(`${service.address}/bots/${homer}`, { headers })).text();
  };

  it('posts with curl as it stands', async () => {
    const folder = tempFolder({ curl });
    chmodSync(join(folder, 'curl'), 0o755);
    const PATH = [folder, dirname(process.execPath), env['PATH']].join(delimiter);
    const { stdout } = await run('sh', ['-c', codeFor(/curl/)], { env: { ...env, PATH } });
    deepStrictEqual(JSON.parse(stdout), { bot: { count: 156 }, commit: null });
    match(await botPage(), /156/);
  });

  it('posts from a bot on discord.js as it stands, and says when that failed', async () => {
    deepStrictEqual(await runBot(service.address), { stdout: '', stderr: '' });
    match(await botPage(), /4,321/);
    const failed = await runBot(service.address, 'wrong');
    match(failed.stderr, /The count was not posted: .*this is not a complete token/);
  });

  needs('python3', it)('posts from a bot on discord.py as it stands', async () => {
    const folder = tempFolder({ 'bot.py': codeFor(/discord\.py/), 'discord.py': discordPy });
    const PYTHONPATH = join(packageFolder, 'clients/python');
    const bot = spawn('python3', [join(folder, 'bot.py')], {
      env: { ...env, PYTHONPATH, PYTHONDONTWRITEBYTECODE: '1', DISCORD_TOKEN: 'x' },
      stdio: 'inherit',
    });
    try {
      await eventually(async () => match(await botPage(), /4,322/));
    } finally {
      bot.kill();
    }
  });

  it('takes 202 for an answer that all is well: saved, and later at a Git server that is away', async () => {
    const { folder: root } = testRepository({ [pagePath(homer)]: mainPage() });
    const token = await issueTestToken(root, homer);
    const remote = { ...originRemote, BOTSHELF_REMOTE: `file://${root}/gone`, BOTSHELF_ACK: 'remote' };
    const service = await startTestService({}, { root, env: remote });
    service.expectLog(/not in step with the remote: .*gone/);
    service.expectLog(/listening at .*, but not ready/);
    const { address, post } = service;
    strictEqual((await post(homer, token, { count: 1 })).status, 202);
    strictEqual((await runBot(address, token)).stderr, '');
  });
});

/** As much of curl as the code asks for, for machines that have none. */
const curl = `#!/usr/bin/env node
const [url, , authorization, , type, , body] = process.argv.slice(2);
const headers = Object.fromEntries([authorization, type].map((header) => header.split(': ')));
fetch(url, { method: 'POST', headers, body }).then(async (answer) => console.log(await answer.text()));
`;

/** As much of discord.js as a bot needs to start, and nothing that keeps it alive. */
const discordJs = `
export const Events = { ClientReady: 'clientReady' };
export const GatewayIntentBits = { Guilds: 1 };
export class Client {
  guilds = { cache: { size: 4321 } };
  once(event, listener) { if (event === 'clientReady') this.ready = listener; }
  login() { setImmediate(this.ready); }
}
`;

/** As much of discord.py as a bot needs to start. */
const discordPy = `
import asyncio

class Intents:
    @staticmethod
    def default():
        return None

class Client:
    guilds = [None] * 4322

    def __init__(self, intents):
        self.ready = False

    def is_ready(self):
        return self.ready

    def run(self, token):
        asyncio.run(self.connect())

    async def connect(self):
        await self.setup_hook()
        self.ready = True
        await asyncio.Event().wait()
`;
