import { match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { isUnavailable } from '../../src/bot/errors.ts';
import { isError } from '../../src/lib/errors.ts';
import { testRepository } from '../support/repository.ts';
import { committerOn } from '../support/committing.ts';
import { setKey } from '../support/keys.ts';

const path = 'bots/312/190519304972663312.en.md';
const other = 'bots/001/1.en.md';
const text = 'name: Homer\ncategory: fun\n\nnsfw: false\n\nThe page.\n';

/** The files of every repository, so that one can be copied for all. */
const files = { [path]: text, [other]: text };

describe('a committer among people', () => {
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
      return isUnavailable(error);
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
    return isError(error, 'edit-conflict');
  };
}
