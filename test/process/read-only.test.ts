import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { botshelf, mainFile } from '../support/command-line.ts';
import { eventually } from '../support/eventually.ts';
import { startGitServer } from '../support/git-server.ts';
import { countsOf } from '../support/posted-counts.ts';
import { record, remoteFaults } from '../support/replica.ts';
import { repositoryIn, type TestRepository } from '../support/repository.ts';
import { mainPage, pagePath } from '../support/sample.ts';
import {
  type LocalService,
  originRemote,
  startTestService,
  startTestServiceProcess,
  type TestServiceProcess,
} from '../support/service.ts';
import { startServiceProcess } from '../support/service-process.ts';
import { type SharedRepository, sharedRepository } from '../support/shared-repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { issueTestToken } from '../support/token.ts';

const original = 'https://list.example.org';

const readOnly = { ...originRemote, BOTSHELF_READ_ONLY: 'on' };

/** Paths that take posts, of each router, and one that there is not. */
const postPaths =
  '/api/v2/bots/stats /api/v2/bots/1 /api/v2/bots/1/stats /logout /add/send /bots/1/token /review/1/2 /nothing';
const putPaths = '/api/v2/bots/1/commands /api/v2/bots/1/pages/en';

/** The pages of forms, and those for people who are logged in. */
const formPages = [
  '/add /add/collection /login /login/callback /logout /my-bots /my-bots/name /proposals/1 /review /review/1/2 /review/blocked',
  '/bots/1/edit /bots/1/translate /bots/1/report /bots/1/token /collections/best/edit /collections/best/translate',
].flatMap((paths) => paths.split(' '));

const pages =
  '/ /?q=nothing+like+it /bots/1 /bots/1/changes /bots/9 /collections /collections/best /docs'.split(' ');

const browser = { accept: 'text/html', 'accept-language': 'de' };

/** The addresses of a page that lead to forms. */
const formLinks = (page: string): string[] =>
  [...page.matchAll(/(?:href|action)="([^"]*)"/g)]
    .map(([, address = '']) => address)
    .filter((address) =>
      /\/(?:add|login|logout|edit|translate|report|token|my-bots)(?:[/?]|$)/.test(address),
    );

describe('a read-only copy of a list', function () {
  let shared: SharedRepository;
  let address: string;
  let writer: LocalService;
  let copy: TestServiceProcess;
  let clone: TestRepository;
  let token: string;
  const env = {
    ...readOnly,
    BOTSHELF_CANONICAL_URL: original,
    BOTSHELF_BASE_URL: 'https://copy.example',
  };

  before(async () => {
    shared = sharedRepository({
      [pagePath('1')]: mainPage({ website: null }),
      [pagePath('2')]: mainPage({ name: 'Lisa' }),
      'collections/best.en.md': '---\n{"title": "Best", "description": "Of all.", "bots": ["1", "2"]}\n---\n',
    });
    const written = shared.clone();
    token = await issueTestToken(written.folder, '1');
    const writing = { ...originRemote, BOTSHELF_STATE_SECONDS: '1' };
    writer = await startTestService({}, { root: written.folder, env: writing });
    await eventually(() => shared.git('rev-parse', 'refs/botshelf/state'));
    // Nobody may push there.
    const server = await startGitServer(dirname(shared.folder), []);
    address = `${server.address}/shared.git`;
    clone = shared.clone();
    clone.git('remote', 'set-url', 'origin', address);
    copy = await startTestServiceProcess({}, { root: clone.folder, env });
  });

  it('shows what is posted to the original, from a repository that it may only read', async () => {
    strictEqual((await fetch(`${address}/info/refs?service=git-receive-pack`)).status, 403);
    strictEqual((await writer.post('1', token, { website: 'https://new.example', count: 7 })).status, 200);
    await eventually(async () => {
      strictEqual((await record(copy, '1')).website, 'https://new.example');
      strictEqual((await countsOf(copy.address)).get('1'), 7);
    });
    deepStrictEqual(await remoteFaults(copy), []);
    match(copy.log(), /, read-only, remote origin/);
  });

  it('refuses every post, to whatever router, and names the address that takes it', async () => {
    const before = shared.git('for-each-ref');
    for (const [method, paths] of Object.entries({ POST: postPaths, PUT: putPaths }))
      for (const path of paths.split(' ')) {
        const headers = { authorization: token, 'sec-fetch-site': 'same-origin' };
        const { status, json } = await copy.request(path, { method, headers });
        deepStrictEqual([status, json.type], [403, 'urn:botshelf:problem:read-only'], path);
        strictEqual(json.detail, `this is a read-only copy of the list: send it to ${original}${path}`);
      }
    strictEqual((await botshelf(clone.folder, ['token', '1'], { env })).code, 2);
    strictEqual(shared.git('for-each-ref'), before);
    strictEqual(existsSync(join(clone.folder, 'var/journal')), false);
  });

  it('has no forms: people who open one are led to the original', async () => {
    for (const path of formPages) {
      const response = await fetch(copy.address + path, { headers: browser, redirect: 'manual' });
      strictEqual(response.status, 403, path);
      const page = await response.text();
      match(page, /Diese Kopie ist schreibgeschützt/);
      ok(page.includes(`href="${original}${path}"`), path);
    }
  });

  it('names the original in all that pages say of themselves, and keeps all other links @long', async () => {
    for (const path of pages) {
      const page = await (await fetch(copy.address + path, { headers: browser })).text();
      for (const link of formLinks(page)) ok(link.startsWith(`${original}/`), `${path} has ${link}`);
      for (const [tag] of page.matchAll(/<[^>]*(?:rel="canonical"|hreflang="[^"]*" href="h|og:url)[^>]*>/g))
        ok(tag.includes(`"${original}/`), tag);
      doesNotMatch(page, new RegExp(`<a [^>]*href="${original}/(?:"|bots/1"|categories)`));
    }
    const page = await (await fetch(`${copy.address}/bots/1`)).text();
    ok(page.includes(`<link rel="canonical" href="${original}/bots/1"/>`));
    ok(page.includes(`"@id":"${original}/bots/1"`));
    doesNotMatch(await (await fetch(`${copy.address}/robots.txt`)).text(), /Sitemap/);
  });

  it('leaves out what leads to forms, where the address of the original is not set @long', async () => {
    const other = shared.clone();
    const service = await startTestService({}, { root: other.folder, env: readOnly });
    for (const path of pages) {
      const page = await (await fetch(service.address + path, { headers: browser })).text();
      deepStrictEqual(formLinks(page), [], path);
    }
    const { status, json } = await service.request('/api/v2/bots/1', { method: 'POST' });
    strictEqual(status, 403);
    match(json.detail, /BOTSHELF_CANONICAL_URL/);
  });

  it('follows a branch that was rewritten, but keeps what a person has not committed', async () => {
    const edited = mainPage({ name: 'Lisa, edited here' });
    clone.write(pagePath('2'), edited);
    copy.expectLog(/the remote's branch was rewritten/);
    copy.allowLog(/2\.en\.md|behind the branch/);
    const { maintainer } = shared;
    maintainer.git('fetch', '-q', 'origin');
    maintainer.git('switch', '-q', '--orphan', 'rewritten');
    maintainer.commit({
      [pagePath('1')]: mainPage({ name: 'Bart' }),
      [pagePath('2')]: mainPage({ name: 'Maggie' }),
    });
    await writer.stop();
    maintainer.git('push', '-q', '--force', 'origin', 'HEAD:main');
    await eventually(async () => strictEqual((await record(copy, '1')).contents.en.name, 'Bart'));
    strictEqual(clone.git('rev-parse', 'main'), maintainer.git('rev-parse', 'HEAD'));
    strictEqual(clone.read(pagePath('2')), edited);
    // The service may have the lock of the index.
    await eventually(() => strictEqual(clone.tryGit('checkout', '-q', '--', '.'), 0));
  });

  it('goes on after it was killed', async () => {
    await copy.end('SIGKILL');
    shared.maintainer.commit({ [pagePath('1')]: mainPage({ name: 'Ned' }) });
    shared.maintainer.git('push', '-q', 'origin', 'HEAD:main');
    copy = await startTestServiceProcess({}, { root: clone.folder, env });
    await eventually(async () => strictEqual((await record(copy, '1')).contents.en.name, 'Ned'));
    strictEqual((await countsOf(copy.address)).get('1'), 7);
  });

  it('is made by one command, which goes on in the same folder when it is run again', async () => {
    const folder = join(tempFolder(), 'copy');
    const run = [mainFile, 'mirror', address, '--folder', folder, '--canonical', original];
    const start = async (): Promise<Awaited<ReturnType<typeof startServiceProcess>>> =>
      await startServiceProcess('/nowhere', {}, [process.execPath, ...run]);
    const first = await start();
    first.allowLog(/^cloning /);
    strictEqual((await countsOf(first.address)).get('1'), 7);
    strictEqual((await fetch(`${first.address}/bots/1/edit`)).status, 403);
    await first.end('SIGTERM');
    const made = repositoryIn(join(folder, 'catalogue'));
    made.git('config', 'test.isKept', 'true');
    const second = await start();
    strictEqual((await fetch(`${second.address}/bots/1`)).status, 200);
    strictEqual(made.git('config', 'test.isKept'), 'true');
    await second.end('SIGTERM');
    const { code, stderr } = await botshelf(tempFolder(), ['mirror', shared.folder, '--folder', folder]);
    strictEqual(code, 2);
    match(stderr, /is a copy of http.*--folder/);
  });

  it('is put into a folder that has the name of the repository alone', async () => {
    const folder = tempFolder();
    const { code, stderr } = await botshelf(folder, ['mirror', 'git@127.0.0.1:list.git']);
    strictEqual(code, 2);
    match(stderr, /cloning git@127\.0\.0\.1:list\.git into \S+\/list\/catalogue\n/);
  });

  it('refuses addresses that would run a program', async () => {
    const folder = tempFolder();
    for (const bad of ['--upload-pack=touch x', 'ext::touch x', 'fd::0', 'ssh://-oProxyCommand=x/y', 'no']) {
      const { code, stderr } = await botshelf(folder, ['mirror', '--folder', 'copy', '--', bad]);
      strictEqual(code, 2, bad);
      match(stderr, /is not the address of a Git repository/);
    }
    strictEqual(existsSync(join(folder, 'copy')), false);
  });
});
