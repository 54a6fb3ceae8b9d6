import { deepStrictEqual, match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../../src/bot/errors.ts';
import { repositoryIn, testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';
import { committerOn } from '../../support/committing.ts';
import { setKey, withKey } from '../../support/keys.ts';

const path = 'bots/312/190519304972663312.en.md';
const text = 'name: Homer\ncategory: fun\n';

describe('a committer', () => {
  it('commits a change, leaves work tree and index clean, and commits nothing where nothing changes', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    strictEqual(await committer.commit(setKey(path, 'category', 'fun')), null);
    const commit = await committer.commit(setKey(path, 'category', 'music'));
    const after = 'name: Homer\ncategory: music\n';
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '2');
    strictEqual(repository.git('show', `HEAD:${path}`), after.trim());
    strictEqual(repository.read(path), after);
    strictEqual(repository.status(), '');
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(
      repository.git('log', '-1', '--format=%an <%ae> %cn%n%B'),
      'Botshelf <botshelf@localhost> Botshelf\nSet category',
    );
  });

  it('commits under the identity that the repository itself is configured with', async () => {
    const repository = testRepository({ [path]: text });
    repository.git('config', 'user.name', 'Shelf <of> bots');
    repository.git('config', 'user.email', 'shelf@example.org');
    await committerOn(repository.folder).commit(setKey(path, 'category', 'music'));
    strictEqual(repository.git('log', '-1', '--format=%an <%ae>'), 'Shelf of bots <shelf@example.org>');
  });

  it('rejects the change that throws, and commits the others of its batch', async () => {
    const repository = testRepository({ [path]: text, 'bots/001/1.en.md': text });
    const committer = committerOn(repository.folder);
    const [good, bad, last] = await Promise.allSettled([
      committer.commit(setKey(path, 'category', 'music')),
      committer.commit(setKey('bots/002/2.en.md', 'category', 'music')),
      committer.commit(setKey('bots/001/1.en.md', 'category', 'games')),
    ]);
    strictEqual(good.status, 'fulfilled');
    deepStrictEqual(last, good, 'they are one commit');
    deepStrictEqual(bad.status === 'rejected' && String(bad.reason), 'Error: there is no such file');
    strictEqual(repository.read('bots/001/1.en.md'), 'name: Homer\ncategory: games\n');
  });

  it('makes many changes of the same file in order, a thousand in one commit', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const numbers = Array.from({ length: 1200 }, (_, i) => i);
    const commits = await Promise.all(numbers.map((n) => committer.commit(setKey(path, `key${n % 100}`, n))));
    const kept = withKey(withKey(text, 'key0', 1100), 'key99', 1199).split('\n');
    for (const line of kept) match(repository.read(path), new RegExp(`^${line}$`, 'm'));
    strictEqual(new Set(commits).size, 2);
    strictEqual(repository.status(), '');
  });

  it('makes the first commit of a repository that has none, but moves no branch without one', async () => {
    const repository = testRepository();
    repository.git('switch', '-q', '--orphan', 'empty');
    const committer = committerOn(repository.folder);
    await rejects(
      committer.move(async () => undefined),
      (error) =>
        isUnavailable(error) && /the branch has no commit yet: make the first one/.test(error.message),
    );
    await committer.commit({ ...setKey(path, 'name', 'New'), creates: true });
    strictEqual(repository.git('rev-list', '--count', 'HEAD'), '1');
    strictEqual(repository.git('ls-files', path), path);
  });

  it('keeps the modes of files, in Git and on disk', async () => {
    const repository = testRepository({ [path]: text });
    chmodSync(join(repository.folder, path), 0o755);
    repository.commit({}, 'Make it executable');
    chmodSync(join(repository.folder, path), 0o750);
    const committer = committerOn(repository.folder);
    await committer.commit(setKey(path, 'category', 'music'));
    strictEqual(statSync(join(repository.folder, path)).mode & 0o777, 0o750);
    match(repository.git('ls-tree', 'HEAD', path), /^100755 /);
  });

  it('stages nothing that a person has written right before it, at the same size', async () => {
    const other = 'bots/001/1.en.md';
    const repository = testRepository({ [path]: text, [other]: text });
    repository.git('status');
    repository.write(other, text.replace('fun', 'FUN'));
    await committerOn(repository.folder).commit(setKey(path, 'category', 'music'));
    strictEqual(repository.status(), `M ${other}`);
  });

  it('works in a folder of the repository', async () => {
    const repository = testRepository({ [`shelf/${path}`]: text, [path]: text });
    const committer = committerOn(join(repository.folder, 'shelf'));
    await committer.commit(setKey(path, 'category', 'music'));
    strictEqual(repository.read(path), text);
    strictEqual(repository.read(`shelf/${path}`), 'name: Homer\ncategory: music\n');
    strictEqual(repository.git('status', '--porcelain', '--', ':!shelf/var'), '');
  });

  it('works in a linked worktree, and in a shallow clone @slow', async () => {
    const origin = testRepository({ [path]: text });
    origin.commit({ other: 'text' });
    const linked = join(tempFolder(), 'linked');
    origin.git('worktree', 'add', '-q', '-b', 'side', linked);
    const shallow = join(tempFolder(), 'shallow');
    origin.git('clone', '-q', '--depth=1', `file://${origin.folder}`, shallow);
    for (const folder of [linked, shallow]) {
      const committer = committerOn(folder);
      const commit = await committer.commit(setKey(path, 'category', 'music'));
      strictEqual(origin.git('-C', folder, 'rev-parse', 'HEAD'), commit);
      strictEqual(origin.git('-C', folder, 'status', '--porcelain'), '');
      strictEqual(origin.git('-C', folder, 'fsck', '--strict', '--no-dangling'), '');
    }
    strictEqual(origin.read(path), text);
    strictEqual(origin.status(), '');
  });

  it('works in a repository with SHA-256', async () => {
    const folder = tempFolder();
    execFileSync('git', ['init', '-q', '--object-format=sha256', folder]);
    const repository = repositoryIn(folder);
    repository.commit({ '.gitignore': '/var/\n' });
    const committer = committerOn(folder);
    await committer.commit({ ...setKey('bots/a.md', 'name', 'New'), creates: true });
    await committer.commit(setKey('bots/a.md', 'name', 'Newer'));
    strictEqual(repository.git('show', 'HEAD:bots/a.md'), 'name: Newer');
    strictEqual(repository.status(), '');
  });

  it('says so, and heals by itself, when the folder is in no repository, or a bare one', async () => {
    const bare = tempFolder();
    testRepository().git('init', '-q', '--bare', bare);
    await rejects(committerOn(bare).commit(setKey(path, 'a', 'b')), /is a bare repository/);
    const folder = tempFolder();
    const committer = committerOn(folder);
    deepStrictEqual(committer.outdatedPaths(), []);
    await rejects(committer.commit(setKey(path, 'category', 'music')), (error) => {
      match(String(error), /is in no Git repository .*: run "git init" there/s);
      return isUnavailable(error);
    });
    testRepository({ [path]: text }, folder);
    notStrictEqual(await committer.commit(setKey(path, 'category', 'music')), null);
  });

  it('refuses changes once it is closed, after those it has taken', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const last = committer.commit(setKey(path, 'category', 'music'));
    await committer.close();
    notStrictEqual(await last, null);
    strictEqual(repository.status(), '');
    strictEqual(existsSync(join(repository.folder, '.git/index.lock')), false);
    await rejects(committer.commit(setKey(path, 'category', 'fun')), /the service is stopping/);
  });
});
