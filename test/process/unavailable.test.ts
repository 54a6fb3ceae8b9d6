import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { codeOf } from '../../src/lib/errors.ts';
import { eventually } from '../support/eventually.ts';
import { freePort } from '../support/loopback.ts';
import { countsOf } from '../support/posted-counts.ts';
import { testRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import { mainFile } from '../support/command-line.ts';
import {
  type Answer,
  startTestService,
  startTestServiceProcess,
  type TestService,
  type TestServiceProcess,
} from '../support/service.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken, updateRequest } from '../support/token.ts';
import { needs } from '../support/tools.ts';

/** Returns a function that updates keys of the bot 1. */
function poster(service: Pick<TestService, 'post'>, token: string): (bot: object) => Promise<Answer> {
  return async (bot) => await service.post('1', token, bot);
}

function refused({ status, headers, json }: Answer, why: RegExp): void {
  strictEqual(status, 503);
  ok(Number(headers.get('retry-after')) > 0);
  match(json.detail, why);
  doesNotMatch(json.detail, serverPath);
}

/** An absolute path, as a word or in quotes. */
const serverPath = /(^|[^\w.])\/\w/;

describe('a service that cannot write', () => {
  it('with HEAD on no branch or a faulty page at the tip responds 503 to content until it is fixed, and 200 to counts', async () => {
    const repo = testRepository({ [pagePath('1')]: mainPage() });
    const service = await startTestService({}, { root: repo.folder });
    const post = poster(service, await issueTestToken(repo.folder, '1'));
    repo.git('switch', '-q', '--detach');
    service.expectLog(/HEAD is on no branch/);
    refused(await post({ category: 'music' }), /HEAD is on no branch/);
    strictEqual((await post({ count: 5 })).status, 200);
    strictEqual((await service.request('/api/v2/bots/1')).json.category, 'fun');
    repo.git('switch', '-q', 'main');
    strictEqual((await post({ category: 'music' })).status, 200);

    repo.commit({ [pagePath('1')]: mainPage({ invite: 'nowhere' }) });
    service.expectLog(/requests are refused: bots\/001\/1\.en\.md is faulty/);
    // Where the watcher sees the file before the service is stopped.
    service.allowLog(/a file breaks a rule/);
    refused(await post({ category: 'games' }), /bots\/001\/1\.en\.md is faulty/);
    strictEqual((await post({ count: 6 })).status, 200);
  });

  it('names a folder in the log, and not in the response', async () => {
    const repo = testRepository({ [pagePath('1')]: mainPage() });
    const token = await issueTestToken(repo.folder, '1');
    const varFolder = tempFolder();
    const service = await startTestService({}, { root: repo.folder, env: { BOTSHELF_VAR: varFolder } });
    const post = poster(service, token);
    writeFileSync(join(varFolder, 'journal'), 'in the way');
    refused(await post({ count: 1 }), /cannot be saved now/);
    service.expectLog(new RegExp(`"msg":"counts cannot be saved: ${varFolder}/journal is not a folder`));
    service.expectLog(new RegExp(`"msg":"requests are refused: [^"]*${varFolder}`));

    const packs = join(repo.folder, '.git/objects/pack');
    renameSync(packs, `${packs}.away`);
    writeFileSync(packs, 'in the way');
    refused(await post({ category: 'music' }), /cannot be saved now/);
    const gone = join(repo.folder, '.git');
    renameSync(gone, `${gone}.away`);
    refused(await post({ category: 'music' }), /in no Git repository/);
    service.expectLog(new RegExp(repo.folder));
  });

  it('with files that may not grow responds 503 to counts and 200 to reads, and 200 once they may', async () => {
    const { folder } = testRepository({ [pagePath('1')]: mainPage() });
    const token = await issueTestToken(folder, '1');
    const service = await startTestServiceProcess({}, { root: folder });
    const limit = (size: string): void =>
      void execFileSync('prlimit', ['--pid', String(service.process.pid), `--fsize=${size}:unlimited`]);
    const post = poster(service, token);
    const latest = async ({ address }: TestService): Promise<unknown> => (await countsOf(address)).get('1');
    strictEqual((await post({ count: 1 })).status, 200);
    // The first count is committed immediately, and the next one begins a new file.
    await eventually(() => deepStrictEqual(readdirSync(join(folder, 'var/journal')), []));
    limit('0');
    for (const answer of await Promise.all([2, 3, 4].map(async (count) => await post({ count }))))
      refused(answer, /cannot be saved now/);
    service.expectLog(/counts cannot be saved: files may not grow any more in .*: raise the file size limit/);
    service.allowLog(/could not save the index|could not read Git’s history|could not revoke the tokens/);
    service.expectLog(/requests are refused: .*files may not grow any more/);
    strictEqual(await latest(service), 1);
    limit('unlimited');
    strictEqual((await post({ count: 5 })).status, 200);
    await service.end('SIGKILL');
    strictEqual(await latest(await startTestService({}, { root: folder })), 5);
  });

  needs('unshare', it)(
    'on a full disk responds 503 and leaves nothing half-written, until there is room @long',
    async function () {
      const template = testRepository({ [pagePath('1')]: mainPage() });
      const token = await issueTestToken(template.folder, '1');
      const disk = tempFolder();
      const service = await startOnSmallDisk(disk, template.folder);
      const inside = join(`/proc/${service.process.pid}/root`, disk);
      const { request } = service;
      const post = poster(service, token);
      strictEqual((await post({ count: 1, category: 'music' })).status, 200);

      service.expectLog(/disk is full|space/);
      const fill = join(inside, 'fill');
      try {
        writeFileSync(fill, Buffer.alloc(8_000_000));
      } catch (error) {
        strictEqual(codeOf(error), 'ENOSPC');
      }
      // The journal's last page has room for some, and so has what a git frees that the full disk ended.
      let answered = 1;
      let refusals = 0;
      let episodes = 0;
      let isSaved = true;
      while (refusals < 20) {
        const answer = await post({ count: answered + 1 });
        if (answer.status === 200) answered += 1;
        else {
          refused(answer, /disk is full/);
          refusals += 1;
          if (isSaved) episodes += 1;
        }
        isSaved = answer.status === 200;
      }
      refused(await post({ category: 'games' }), /disk is full/);
      await eventually(() => {
        const left = readdirSync(join(inside, '.git'), { recursive: true, encoding: 'utf8' });
        strictEqual(left.filter((name) => /tmp_pack|crash/.test(name)).join(), '', 'nothing is left');
      });
      strictEqual(service.log().match(/"msg":"requests are refused: /g)?.length, 1, service.log());
      strictEqual(service.log().match(/"msg":"counts cannot be saved: /g)?.length, episodes, service.log());
      strictEqual((await request('/api/v2/bots/1')).json.category, 'music');

      const faults = async (): Promise<string[]> => (await request('/readyz')).json.parts.state.faults;
      match((await faults()).join(), /disk is full/);
      rmSync(fill);
      await eventually(async () => deepStrictEqual(await faults(), []));
      await eventually(async () =>
        strictEqual((await post({ count: answered, category: 'news' })).status, 200),
      );
      strictEqual((await request('/api/v2/bots/1')).json.category, 'news');
      strictEqual(await service.end('SIGTERM'), 0);
    },
  );

  needs('unshare', it)(
    'on a read-only clone says so on /readyz and responds 503 to posts, 200 to reads',
    async () => {
      const { folder } = testRepository({ [pagePath('1')]: mainPage() });
      const token = await issueTestToken(folder, '1');
      const script =
        'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && cd "$0" && exec "$1" "$2" serve';
      const shell = ['sh', '-c', script, folder, process.execPath, mainFile];
      const env = { BOTSHELF_VAR: join(tempFolder(), 'var') };
      const command = ['unshare', '-Urm', ...shell] as const;
      const service = await startTestServiceProcess({}, { root: folder, env, command });
      const { parts } = (await service.request('/readyz')).json;
      match(parts.repository.faults.join(), /repository is on a read-only file system .* mount it writable$/);
      service.expectLog(/the repository is on a read-only file system/);
      refused(await service.post('1', token, { category: 'music' }), /cannot be saved now/);
      service.expectLog(/requests are refused: .*read-only file system/i);
      strictEqual((await service.request('/api/v2/bots/1')).json.category, 'fun');
      strictEqual(await service.end('SIGTERM'), 0);
    },
  );

  needs('unshare', it)(
    'on a disk that became read-only says so on /readyz and ends with 1 on SIGTERM @long',
    async () => {
      const template = testRepository({ [pagePath('1')]: mainPage() });
      const disk = tempFolder();
      const service = await startOnSmallDisk(disk, template.folder);
      const inside = ['-t', String(service.process.pid), '-U', '-m', '--preserve-credentials'];
      // Busy while a file there is open for writing.
      await eventually(() => execFileSync('nsenter', [...inside, 'mount', '-o', 'remount,ro', disk]));
      const { parts } = (await service.request('/readyz')).json;
      match(parts.repository.faults.join(), /^the repository is on a read-only file system/);
      strictEqual(await service.end('SIGTERM'), 1);
      // Consumers of the branch may still have begun their files.
      service.allowLog(/could not (?:read Git’s history|revoke the tokens)/);
      service.expectLog(/could not save the index/);
      service.expectLog(/stopped, but not cleanly: EROFS: read-only file system/);
    },
  );
});

/**
 * Starts a service on a copy of a clone, on a disk of 6 MB that only the service sees: from outside it is reached through
 * the service's own root.
 */
async function startOnSmallDisk(disk: string, clone: string): Promise<TestServiceProcess> {
  const script =
    'mount -t tmpfs -o size=6m tmpfs "$0" && cp -a "$1/." "$0" && cd "$0" && exec "$2" "$3" serve';
  const command = ['unshare', '-Urm', 'sh', '-c', script, disk, clone, process.execPath, mainFile] as const;
  return await startTestServiceProcess({}, { root: disk, command });
}

describe('a service that reads its catalogue', () => {
  /** Starts one that waits for a file in its folder: reading a pipe waits until somebody writes to it. */
  const startHeldUp = async (file: string, env: Readonly<Record<string, string>> = {}) => {
    const { folder } = testRepository({ [pagePath('1')]: mainPage() });
    const varFolder = tempFolder();
    const pipe = join(varFolder, file);
    mkdirSync(dirname(pipe), { recursive: true });
    execFileSync('mkfifo', [pipe]);
    const port = String(await freePort());
    const started = startTestServiceProcess(
      {},
      { root: folder, env: { BOTSHELF_VAR: varFolder, PORT: port, ...env } },
    );
    const goOn = async (): Promise<void> => {
      writeFileSync(pipe, '');
      await started;
    };
    return { folder, port, goOn };
  };
  const statusOf = async (port: string, path: string, init?: RequestInit): Promise<number | string> =>
    await fetch(`http://127.0.0.1:${port}${path}`, init).then(
      (response) => response.status,
      ({ cause }: { cause: { code: string } }) => cause.code,
    );
  const lives = async (port: string): Promise<void> =>
    await eventually(async () => strictEqual(await statusOf(port, '/healthz'), 200));

  it('responds 503 with a page that has its style and reloads', async () => {
    const { port, goOn } = await startHeldUp('index.snapshot');
    await lives(port);
    const get = async (path: string): Promise<Response> =>
      await fetch(`http://127.0.0.1:${port}${path}`, { headers: { accept: 'text/html, text/css' } });
    const page = await get('/');
    deepStrictEqual([page.status, page.headers.get('refresh')], [503, '2']);
    const style = await get(/(?<=rel="stylesheet" href=")[^"]+/.exec(await page.text())?.[0] ?? '');
    deepStrictEqual([style.status, style.headers.get('content-type')], [200, 'text/css; charset=utf-8']);
    await goOn();
    strictEqual((await get('/')).status, 200);
  });

  it('opens its main port when it is ready, if probes have a port of their own', async () => {
    const probes = String(await freePort());
    const { port, goOn } = await startHeldUp('index.snapshot', { BOTSHELF_PROBE_PORT: probes });
    await lives(probes);
    deepStrictEqual([await statusOf(probes, '/readyz'), await statusOf(port, '/')], [503, 'ECONNREFUSED']);
    await goOn();
    deepStrictEqual([await statusOf(probes, '/readyz'), await statusOf(port, '/')], [200, 200]);
  });

  it('responds to probes, and 503 to the rest until counts and tokens are read', async () => {
    const { folder, port, goOn } = await startHeldUp('journal/000000000001.ndjson');
    const post = updateRequest(await issueTestToken(folder, '1'), { count: 1 });
    const have = async (status: number): Promise<void> => {
      for (const [path, init] of [['/readyz'], ['/'], ['/api/v2/bots/1', post]] as const)
        strictEqual(await statusOf(port, path, init), status, path);
    };
    await lives(port);
    await have(503);
    await goOn();
    await have(200);
  });
});
