import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf, type Run } from '../../support/command-line.ts';
import { repositoryIn, type TestRepository, testRepository } from '../../support/repository.ts';
import { collection, mainPage, pagePath, profile, translation } from '../../support/sample.ts';
import { sampleImage } from '../../support/sample-images.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const ids = ['190519304972663312', '190519304972663313', '7', '8', '9'];
const invite = (id: string): string => `https://example.org/${id}`;
const pageOf = (id: string): string => mainPage({ name: `Bot ${id}`, invite: invite(id) });

describe('botshelf check in a partial clone without a work tree, as pipelines have it', () => {
  let origin: TestRepository;
  let clone: TestRepository;
  /** Has a line for each time that the clone connects to the origin. */
  const connections = join(tempFolder(), 'connections');
  const uploadPack = join(tempFolder(), 'upload-pack');

  before('make a catalogue, and a clone of it', () => {
    writeFileSync(uploadPack, `#!/bin/sh\necho >>'${connections}'\nexec git upload-pack "$@"\n`);
    chmodSync(uploadPack, 0o755);
    origin = originOf(Object.fromEntries(ids.map((id) => [pagePath(id), pageOf(id)])));
    clone = cloneOf(origin);
  });

  function originOf(files: Readonly<Record<string, string | Buffer>>): TestRepository {
    const repo = testRepository(files);
    repo.git('config', 'uploadpack.allowFilter', 'true');
    return repo;
  }

  function cloneOf(repo: TestRepository): TestRepository {
    const folder = join(tempFolder(), 'clone');
    const partial = ['--filter=blob:none', '--no-checkout', '--single-branch', '--no-tags', '--branch=main'];
    repo.git('clone', '-q', ...partial, `file://${repo.folder}`, folder);
    const made = repositoryIn(folder);
    made.git('config', 'remote.origin.uploadpack', uploadPack);
    return made;
  }

  /** Makes a pull request of these files and returns its commit. */
  function pullRequest(files: Readonly<Record<string, string>>, repo = origin): string {
    repo.git('switch', '-q', '--detach', 'main');
    const head = repo.commit(files, 'Change');
    repo.git('switch', '-q', 'main');
    return head;
  }

  async function check(head: string, { folder } = clone): Promise<Run & { readonly connections: number }> {
    writeFileSync(connections, '');
    const run = await botshelf(folder, ['check', '--base=HEAD', `--head=${head}`, '--fetch=origin']);
    return { ...run, connections: readFileSync(connections, 'utf8').length };
  }

  const missing = (): number =>
    clone.git('rev-list', '--objects', '--missing=print', 'HEAD').match(/^\?/gm)?.length ?? 0;

  it('fetches the pull request, then all that it needs in one request, and leaves the other bots where they are', async () => {
    const head = pullRequest({
      [pagePath('7')]: mainPage({ name: 'Bot 7', invite: invite('7'), category: 'music', created: 5 }),
      [pagePath('8', 'fr')]: translation('Huit', 'Répond.'),
      'notes.txt': 'Notes\n',
    });
    const { code, stdout, stderr, connections } = await check(head);
    deepStrictEqual([code, stderr], [1, '']);
    match(stdout, /^bots\/007\/7\.en\.md:\d+:\d+ created-stays /m);
    strictEqual(connections, 2);
    strictEqual(missing(), 4, 'three bots and .gitignore');
  });

  it('fetches the pages of all bots in a third request, where a name or an invite is new', async () => {
    const head = pullRequest({ [pagePath('10')]: mainPage({ name: 'Bot 9', invite: invite('10') }) });
    const { code, stdout, stderr, connections } = await check(head);
    deepStrictEqual([code, stderr], [0, '']);
    match(stdout, /^bots\/010\/10\.en\.md:\d+:\d+ name-taken warning: .+ bots\/009\/9\.en\.md already/m);
    strictEqual(connections, 3);
    ok(missing() <= 1);
    strictEqual((await check(head)).connections, 0, 'nothing is fetched twice');
  });

  it('fetches all profiles and collections in one request, where one of them changes', async () => {
    const files = ids.flatMap((id) => [
      [pagePath(id), pageOf(id)],
      [`people/${id}.json`, profile({ name: `Person ${id}` })],
      [`collections/list-${id}.en.md`, collection({ title: `List ${id}`, bots: [id] })],
    ]);
    const repo = originOf(Object.fromEntries(files) as Record<string, string>);
    const head = pullRequest({ 'people/7.json': profile({ name: 'Ada' }) }, repo);
    const run = await check(head, cloneOf(repo));
    deepStrictEqual([run.code, run.stderr, run.connections], [0, '', 2]);
  });

  describe('of 40 bots connects at most three times where the settings change', () => {
    const many = Array.from({ length: 40 }, (_, index) => String(1000 + index));
    const settings = { name: 'Ours', logo: 'logo.png', languages: ['en', 'fr'] };
    const now = (change: object): string => JSON.stringify({ ...settings, ...change });
    let large: TestRepository;

    before('make a large catalogue', async () => {
      const pages = Object.fromEntries(many.map((id) => [pagePath(id), pageOf(id)]));
      const logo = await sampleImage({ width: 64, height: 64 });
      large = originOf({ ...pages, 'botshelf.json': now({}), 'logo.png': logo });
    });

    const beside = { 'botshelf.json': now({ notice: 'Hello' }), [pagePath('5')]: pageOf('1007') };
    const french = { 'botshelf.json': now({ languages: ['fr'] }) };
    const taken = /^bots\/005\/5\.en\.md:\d+:\d+ name-taken warning: .+ bots\/007\/1007\.en\.md already/m;
    const music = { [pagePath('1007')]: pageOf('1007').replace('fun', 'music') };
    for (const [what, files, fetched, code, found] of [
      ['a notice, of which no bot is read', { 'botshelf.json': now({ notice: 'Hi' }) }, 3, 0, /^0 files, /m],
      ['a language less, and all are read', french, 3, 1, /^41 files, 40 faults, /m],
      ['a notice beside a new bot, whose name is compared with all', beside, 3, 0, taken],
      ['and none for the logo, of a bot only', music, 2, 0, /^/],
      ['nor for the logo, of a profile only', { 'people/7.json': profile({ name: 'Ada' }) }, 2, 0, /^/],
    ] as const)
      it(what, async () => {
        const clone = cloneOf(large);
        const run = await check(pullRequest(files, large), clone);
        deepStrictEqual([run.code, run.stderr, run.connections], [code, '', fetched]);
        match(run.stdout, found);
      });
  });

  it('says what is wrong with a commit that cannot be fetched', async () => {
    const nowhere = await check('0'.repeat(39) + '1');
    deepStrictEqual([nowhere.code, nowhere.stdout], [2, '']);
    match(nowhere.stderr, /^commit 0+1 cannot be fetched from "origin", or has broken objects: .*not our/);
    const branch = await check('main');
    deepStrictEqual([branch.code, branch.connections], [2, 0]);
    match(branch.stderr, /^"main" is not the id of a commit: /);
  });
});
