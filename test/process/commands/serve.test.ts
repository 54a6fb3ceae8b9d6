import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, renameSync } from 'node:fs';
import { Agent, createServer, type IncomingMessage, request } from 'node:http';
import { join } from 'node:path';
import { createToken } from '../../../src/bot/token.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { botshelf, mainFile } from '../../support/command-line.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { startServiceProcess } from '../../support/service-process.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { issueTestToken, updateRequest } from '../../support/token.ts';
import { listenOnLoopback } from '../../support/loopback.ts';

/** Runs `botshelf serve` where it cannot start: every line that it says. */
async function refused(
  root: string,
  env: Readonly<Record<string, string>> = {},
): Promise<{ code: number; lines: string[] }> {
  const { code, stderr } = await botshelf(root, ['serve'], { cwd: '/', env: { PORT: '0', ...env } });
  return { code, lines: stderr.trim().split('\n') };
}

function catalogue(): string {
  return testRepository({ [pagePath('1')]: mainPage() }).folder;
}

function withoutRepository(): string {
  return tempFolder({ [pagePath('1')]: mainPage() });
}

describe('botshelf serve', () => {
  it('ends with 2 and one clear line when the port is in use', async () => {
    const { port } = await listenOnLoopback(createServer());
    const { status, stderr } = spawnSync(process.execPath, [mainFile, 'serve'], {
      env: { ...process.env, BOTSHELF_CATALOGUE: catalogue(), PORT: String(port) },
      encoding: 'utf8',
      timeout: 60_000,
    });
    strictEqual(status, 2);
    strictEqual(stderr, `port ${port} is in use: stop what listens there, or set PORT to another one\n`);
  });

  it('ends with 2 and one clear line when there is no catalogue', async () => {
    const empty = tempFolder();
    for (const root of [empty, join(empty, 'mistyped')]) {
      const { code, lines } = await refused(root);
      deepStrictEqual([code, lines.length], [2, 1]);
      match(
        lines[0] ?? '',
        /has no folder bots\/: make a catalogue with “botshelf init DIR”, or set BOTSHELF_CAT/,
      );
    }
    deepStrictEqual(readdirSync(empty), [], 'nothing was made');
  });

  it('ends with 2 and one clear line when the folder for its own files cannot be made', async () => {
    // There Node, asked for the folders above as well, would try for ever.
    const { code, lines } = await refused(catalogue(), { BOTSHELF_VAR: '/proc/none' });
    deepStrictEqual([code, lines.length], [2, 1]);
    match(lines[0] ?? '', /\/proc\/none cannot be used.*Set BOTSHELF_VAR to a writable folder/);
  });

  it('on SIGTERM responds to what it has read, saves it and ends with 0', async () => {
    const { folder, git } = testRepository({ [pagePath('1')]: mainPage() });
    const service = await startServiceProcess(folder);
    const authorization = await issueTestToken(folder, '1');
    const headers = { authorization, 'content-type': 'application/json', expect: '100-continue' };
    const agent = new Agent({ keepAlive: true });
    const post = request(`${service.address}/api/v2/bots/1`, { method: 'POST', headers, agent });
    const answered = once(post, 'response') as Promise<[IncomingMessage]>;
    post.flushHeaders();
    await once(post, 'continue');
    const ended = service.end('SIGTERM');
    await eventually(() => match(service.log(), /"stopping"/));
    post.end('{"bot": {"count": 7, "category": "music"}}');
    const [response] = await answered;
    response.resume();
    strictEqual(response.statusCode, 200);
    strictEqual(response.headers.connection, 'close', 'no further request is waited for');
    strictEqual(await ended, 0);
    match(git('show', `HEAD:${pagePath('1')}`), /"category": "music"/);
    match(git('show', 'refs/botshelf/state:00/01.json'), /"count":7,/);
    strictEqual(git('status', '--porcelain'), '');
  });

  it('refuses a second service on the same clone, whatever its var/, and names the first one', async () => {
    const root = catalogue();
    const service = await startTestService({}, { root });
    for (const varFolder of ['', tempFolder()]) {
      const { code, lines } = await refused(root, { BOTSHELF_VAR: varFolder });
      strictEqual(code, 2);
      strictEqual(lines.length, 1);
      match(lines[0] ?? '', new RegExp(`another botshelf, process ${process.pid} on .+, runs on ${root}`));
    }
    strictEqual((await fetch(`${service.address}/readyz`)).status, 200);
  });
});

describe('a service on a catalogue that is in no repository', () => {
  let root: string;
  let service: TestService;
  before(async () => {
    root = withoutRepository();
    service = await startTestService({}, { root });
    service.expectLog(/"msg":"[^"]+ is in no Git repository [^}]+ run \\"git init\\" there/);
  });

  it('serves it, and says in one sentence what writing needs', async () => {
    service.expectLog(/"msg":"requests are refused: [^}]+ run \\"git init\\" there/);
    const bot = `${service.address}/api/v2/bots/1`;
    strictEqual((await fetch(bot)).status, 200);
    strictEqual((await fetch(bot, updateRequest(createToken(), { count: 1 }))).status, 503);
    // Once at the start, once for the request.
    await eventually(() => strictEqual(service.log().match(/^.*is in no Git repository.*$/gm)?.length, 2));
    ok(!service.log().includes('"stack"'), service.log());
  });

  it('says on /readyz why nothing can be committed, for as long as that is so', async () => {
    const faults = async (): Promise<string> => {
      const response = await fetch(`${service.address}/readyz`);
      strictEqual(response.status, 200, 'reads go on');
      const { parts } = (await response.json()) as { parts: { repository: { faults: string[] } } };
      return parts.repository.faults.join();
    };
    const git = (...args: string[]): unknown => execFileSync('git', ['-C', root, ...args]);
    match(await faults(), /is in no Git repository [^]+ run "git init" there/);
    git('init', '-q', '-b', 'main');
    await eventually(async () => strictEqual(await faults(), ''));
    git('add', 'bots');
    git('-c', 'user.name=A', '-c', 'user.email=a@localhost', 'commit', '-q', '-m', 'First');
    git('switch', '-q', '--detach');
    match(await faults(), /HEAD is on no branch: [^]+ run "git switch <branch>"/);
    git('switch', '-q', 'main');
    strictEqual(await faults(), '');
    renameSync(join(root, '.git'), join(root, 'git'));
    match(await faults(), /\S/);
    renameSync(join(root, 'git'), join(root, '.git'));
    strictEqual(await faults(), '');
  });
});
