import { match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { EditConflictError, WritesUnavailableError } from '../../src/bot/errors.ts';
import { testRepository } from '../support/repository.ts';
import { committerOn } from '../support/committing.ts';
import { setKey } from '../support/keys.ts';

const path = 'bots/312/190519304972663312.en.md';
const other = 'bots/001/1.en.md';
const text = 'name: Homer\ncategory: fun\n\nnsfw: false\n\nThe page.\n';

/** What every repository holds, so that one can be copied for all. */
const files = { [path]: text, [other]: text };

describe('a committer among people', () => {
  it('refuses a change to a file that has uncommitted edits, and takes it when they are committed', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    const edited = text.replace('The page.', 'A better page.');
    repository.write(path, edited);
    await rejects(committer.commit(setKey(path, 'category', 'music')), isConflict(/has uncommitted edits/));
    strictEqual(repository.read(path), edited);
    strictEqual(repository.status(), `M ${path}`);
    notStrictEqual(await committer.commit(setKey(other, 'category', 'music')), null, 'others are changed');
    repository.git('commit', '-qam', 'By hand');
    await committer.commit(setKey(path, 'category', 'music'));
    strictEqual(repository.read(path), edited.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('refuses, of many changes at once, those to files that people have edited, removed or replaced', async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `bots/001/${n}001.en.md`);
    const [edited = '', removed = '', linked = ''] = [paths[3], paths[11], paths[36]];
    const repository = testRepository(Object.fromEntries(paths.map((each) => [each, text])));
    const committer = committerOn(repository.folder);
    repository.write(edited, text.replace('The page.', 'A better page.'));
    rmSync(join(repository.folder, removed));
    rmSync(join(repository.folder, linked));
    symlinkSync('elsewhere', join(repository.folder, linked));
    const results = await Promise.allSettled(
      paths.map(async (each) => await committer.commit(setKey(each, 'category', 'music'))),
    );
    for (const [i, each] of paths.entries()) {
      const refused = [edited, removed, linked].includes(each);
      strictEqual(results[i]?.status, refused ? 'rejected' : 'fulfilled', each);
      if (!refused) strictEqual(repository.read(each), text.replace('fun', 'music'));
    }
    // The others are in the branch as they are in the folder.
    strictEqual(repository.status(), `D ${removed}\n M ${edited}\n T ${linked}`);
    for (const each of [edited, removed, linked])
      strictEqual(repository.git('show', `HEAD:${each}`), text.trim());
  });

  it('refuses a change to a file of which something is staged, and stages nothing else', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    repository.write(path, text.replace('The page.', 'A staged page.'));
    repository.write('bots/002/2.en.md', 'new');
    repository.git('add', '-A');
    repository.write(path, text);
    await rejects(committer.commit(setKey(path, 'category', 'music')), isConflict(/has uncommitted edits/));
    await committer.commit(setKey(other, 'category', 'games'));
    strictEqual(repository.status(), `A  bots/002/2.en.md\nMM ${path}`);
    repository.git('commit', '-q', '-m', 'By hand');
    strictEqual(repository.git('show', `HEAD:${path}`), text.replace('The page', 'A staged page').trim());
    strictEqual(repository.git('show', `HEAD:${other}`), text.replace('fun', 'games').trim());
  });

  it('lets a person revert a commit of the service', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    await committer.commit(setKey(path, 'category', 'music'));
    repository.git('revert', '--no-edit', 'HEAD');
    strictEqual(repository.read(path), text);
    strictEqual(repository.status(), '');
  });

  it('writes to the branch that is checked out when it commits, and to no other', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    const main = await committer.commit(setKey(path, 'category', 'music'));
    repository.git('switch', '-q', '-c', 'side', 'main~1');
    const side = await committer.commit(setKey(path, 'category', 'games'));
    strictEqual(repository.git('rev-parse', 'main'), main);
    strictEqual(repository.git('rev-parse', 'side'), side);
    strictEqual(repository.status(), '');
    repository.git('switch', '-q', 'main');
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('waits for an index.lock of a person, leaves it there, and refuses the change when it is held for long', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder, { maxLockWaitMs: 500 });
    const lock = join(repository.folder, '.git/index.lock');
    writeFileSync(lock, '');
    const change = committer.commit(setKey(path, 'category', 'music'));
    await sleep(300);
    strictEqual(repository.read(path), text);
    rmSync(lock);
    const commit = await change;
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    writeFileSync(lock, '');
    await rejects(committer.commit(setKey(path, 'category', 'games')), (error) => {
      match(String(error), /another Git command holds index\.lock/);
      return error instanceof WritesUnavailableError && error.reason === 'locked';
    });
    strictEqual(existsSync(lock), true);
    rmSync(lock);
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('refuses a change while HEAD is on no branch, and commits it when it is', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    repository.git('checkout', '-q', '--detach');
    await rejects(committer.commit(setKey(path, 'category', 'music')), (error) => {
      match(String(error), /HEAD is on no branch: finish the rebase, or run "git switch <branch>"/);
      return error instanceof WritesUnavailableError;
    });
    strictEqual(repository.status(), '');
    repository.git('switch', '-q', 'main');
    notStrictEqual(await committer.commit(setKey(path, 'category', 'music')), null);
  });

  it('refuses a file in conflict while a merge is under way, and commits others', async () => {
    const repository = testRepository(files);
    repository.git('switch', '-q', '-c', 'side');
    repository.commit({ [path]: text.replace('fun', 'games') });
    repository.git('switch', '-q', 'main');
    repository.commit({ [path]: text.replace('fun', 'music') });
    notStrictEqual(repository.tryGit('merge', 'side'), 0);
    const before = repository.read(path);
    const committer = committerOn(repository.folder);
    await rejects(committer.commit(setKey(path, 'nsfw', 'true')), isConflict(/is in conflict in a merge/));
    await committer.commit(setKey(other, 'nsfw', 'true'));
    strictEqual(repository.read(path), before);
    strictEqual(repository.status(), `UU ${path}`);
    repository.write(path, text);
    repository.git('commit', '-qam', 'Merge by hand');
    match(repository.git('show', `HEAD:${other}`), /nsfw: true/);
    strictEqual(repository.status(), '');
  });

  it('refuses a change with what to do while nothing can be written, and commits it once it can', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    repository.write('.git/botshelf', 'a file in the way');
    const before = repository.git('rev-parse', 'HEAD');
    await rejects(committer.commit(setKey(path, 'category', 'music')), (error) => {
      match(String(error), /the repository is not a folder: move away what is there/);
      return error instanceof WritesUnavailableError;
    });
    strictEqual(repository.git('rev-parse', 'HEAD'), before);
    rmSync(join(repository.folder, '.git/botshelf'));
    notStrictEqual(await committer.commit(setKey(path, 'category', 'music')), null);
    strictEqual(repository.status(), '');
  });

  it('refuses a change while git is missing from the PATH, and commits it when it is there again', async () => {
    const repository = testRepository(files);
    const committer = committerOn(repository.folder);
    const found = process.env['PATH'];
    process.env['PATH'] = join(repository.folder, 'nowhere');
    try {
      await rejects(committer.commit(setKey(path, 'category', 'music')), /git cannot be run: install it/);
    } finally {
      process.env['PATH'] = found;
    }
    notStrictEqual(await committer.commit(setKey(path, 'category', 'music')), null);
  });
});

function isConflict(words: RegExp): (error: unknown) => boolean {
  return (error) => {
    match(String(error), words);
    return error instanceof EditConflictError;
  };
}
