import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { chmodSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { botshelf, type Run } from '../support/command-line.ts';
import { repositoryIn, type TestRepository, testRepository } from '../support/repository.ts';
import { mainPage, pagePath, translation } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const ids = ['190519304972663312', '190519304972663313', '7', '8', '9'];
const invite = (id: string): string => `https://example.org/${id}`;

describe('botshelf check in a partial clone without a work tree, as pipelines have it', () => {
  let origin: TestRepository;
  let clone: TestRepository;
  /** Has a line for each time that the clone connects to the origin. */
  const connections = join(tempFolder(), 'connections');

  before('make a catalogue, and a clone of it', () => {
    origin = testRepository(
      Object.fromEntries(
        ids.map((id) => [pagePath(id), mainPage({ name: `Bot ${id}`, invite: invite(id) })]),
      ),
    );
    origin.git('config', 'uploadpack.allowFilter', 'true');
    const folder = join(tempFolder(), 'clone');
    const uploadPack = join(tempFolder(), 'upload-pack');
    writeFileSync(uploadPack, `#!/bin/sh\necho >>'${connections}'\nexec git upload-pack "$@"\n`);
    chmodSync(uploadPack, 0o755);
    const partial = ['--filter=blob:none', '--no-checkout', '--single-branch', '--no-tags', '--branch=main'];
    origin.git('clone', '-q', ...partial, `file://${origin.folder}`, folder);
    clone = repositoryIn(folder);
    clone.git('config', 'remote.origin.uploadpack', uploadPack);
  });

  /** Makes a pull request of these files and returns its commit. */
  function pullRequest(files: Readonly<Record<string, string>>): string {
    origin.git('switch', '-q', '--detach', 'main');
    const head = origin.commit(files, 'Change');
    origin.git('switch', '-q', 'main');
    return head;
  }

  async function check(head: string): Promise<Run & { readonly connections: number }> {
    rmSync(connections, { force: true });
    const run = await botshelf(clone.folder, ['check', '--base=HEAD', `--head=${head}`, '--fetch=origin']);
    const count = existsSync(connections) ? readFileSync(connections, 'utf8').length : 0;
    return { ...run, connections: count };
  }

  function missing(): number {
    const list = clone.git('rev-list', '--objects', '--missing=print', 'HEAD');
    return [...list.matchAll(/^\?/gm)].length;
  }

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

  it('says what is wrong with a commit that cannot be fetched', async () => {
    const nowhere = await check('0'.repeat(39) + '1');
    deepStrictEqual([nowhere.code, nowhere.stdout], [2, '']);
    match(
      nowhere.stderr,
      /^commit 0+1 cannot be fetched from "origin", or has broken objects: .*not our ref/,
    );
    const branch = await check('main');
    deepStrictEqual([branch.code, branch.connections], [2, 0]);
    match(branch.stderr, /^"main" is not the id of a commit: /);
    const alone = await botshelf(clone.folder, ['check', '--base=HEAD', '--fetch=origin']);
    deepStrictEqual([alone.code, alone.stderr], [2, '--fetch needs --head: name the commit to fetch\n']);
  });
});
