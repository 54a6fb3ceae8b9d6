import { match, notStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { WritesUnavailable } from '../../src/bot/errors.ts';
import { testRepository } from '../support/repository.ts';
import { committerOn, settled } from './committing.ts';
import { setKey } from './keys.ts';

const path = 'bots/312/190519304972663312.en.md';
const other = 'bots/001/1.en.md';
const text = 'name: Homer\ncategory: fun\n\nnsfw: false\n\nThe page.\n';

describe('a committer among people', () => {
  it('keeps uncommitted edits of the very file, uncommitted', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    repository.write(path, text.replace('The page.', 'A better page.'));
    await committer.change(setKey(path, 'category', 'music'));
    strictEqual(repository.read(path), text.replace('fun', 'music').replace('The page.', 'A better page.'));
    strictEqual(repository.git('show', `HEAD:${path}`), text.replace('fun', 'music').trim());
    await settled(committer);
    strictEqual(repository.status(), `M ${path}`);
    match(repository.git('diff', '-U0'), /-The page\.\n\+A better page\.$/);
  });

  it('keeps what people did to some of many files that are changed at once', async () => {
    const paths = Array.from({ length: 40 }, (_, n) => `bots/001/${n}001.en.md`);
    const [edited = '', removed = '', linked = ''] = [paths[3], paths[11], paths[36]];
    const repository = testRepository(Object.fromEntries(paths.map((each) => [each, text])));
    const committer = committerOn(repository.folder);
    repository.write(edited, text.replace('The page.', 'A better page.'));
    rmSync(join(repository.folder, removed));
    rmSync(join(repository.folder, linked));
    symlinkSync('elsewhere', join(repository.folder, linked));
    await Promise.all(paths.map(async (each) => await committer.change(setKey(each, 'category', 'music'))));
    await settled(committer);
    strictEqual(repository.status(), `D ${removed}\n M ${edited}\n T ${linked}`);
    strictEqual(repository.read(edited), text.replace('fun', 'music').replace('The page.', 'A better page.'));
    for (const each of paths.filter((one) => ![edited, removed, linked].includes(one)))
      strictEqual(repository.read(each), text.replace('fun', 'music'));
    strictEqual(repository.git('show', `HEAD:${linked}`), text.replace('fun', 'music').trim());
  });

  it('keeps what is staged staged, and nothing else', async () => {
    const repository = testRepository({ [path]: text, [other]: text });
    const committer = committerOn(repository.folder);
    repository.write(path, text.replace('The page.', 'A staged page.'));
    repository.write('bots/002/2.en.md', 'new');
    repository.git('add', '-A');
    await committer.change(setKey(path, 'category', 'music'));
    await committer.change(setKey(other, 'category', 'games'));
    await settled(committer);
    strictEqual(repository.status(), `A  bots/002/2.en.md\nM  ${path}`);
    match(repository.git('diff', '--cached', '-U0', '--', path), /-The page\.\n\+A staged page\.$/);
    repository.git('commit', '-q', '-m', 'By hand');
    strictEqual(
      repository.git('show', `HEAD:${path}`),
      text.replace('fun', 'music').replace('The page', 'A staged page').trim(),
    );
    strictEqual(repository.status(), '');
  });

  it('leaves a file alone that a person has removed', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    rmSync(join(repository.folder, path));
    await committer.change(setKey(path, 'category', 'music'));
    await settled(committer);
    strictEqual(repository.status(), `D ${path}`);
    match(repository.git('show', `HEAD:${path}`), /category: music/);
  });

  it('commits between the commits of people, and loses neither', async () => {
    const repository = testRepository({ [path]: text, [other]: text });
    const committer = committerOn(repository.folder);
    let kept = 0;
    const stop = new AbortController();
    const posting = (async () => {
      for (let n = 0; !stop.signal.aborted; n++) {
        await committer.change(setKey(path, 'count', n));
        await committer.change(setKey(path, `key${n}`, n));
        await sleep(2);
      }
    })();
    for (let n = 0; n < 15; n++) {
      repository.write(other, `${text}by hand: ${n}\n`);
      await sleep(3);
      if (repository.tryGit('commit', '-qam', `By hand ${n}`) === 0) kept++;
    }
    stop.abort();
    await posting;
    await settled(committer);
    await sleep(1500);
    await settled(committer);
    strictEqual(Number(repository.git('rev-list', '--count', '--author=Ada', 'HEAD')) - 1, kept);
    const lines = repository.git('show', `HEAD:${path}`).split('\n');
    const last = Number(/count: (\d+)/.exec(lines.join('\n'))?.[1]);
    for (let n = 0; n <= last; n++) strictEqual(lines.includes(`key${n}: ${n}`), true, `key${n} is lost`);
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(repository.status().includes(path), false);
  });

  it('makes a change again that a commit from an older index has taken back', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const tree = repository.git('write-tree');
    const { commit } = await committer.change(setKey(path, 'category', 'music'));
    const byHand = repository.git('commit-tree', tree, '-p', String(commit), '-m', 'From an older index');
    repository.git('update-ref', 'HEAD', byHand);
    while (repository.git('rev-list', '--count', 'HEAD') !== '4') await sleep(20);
    await settled(committer);
    strictEqual(repository.git('show', `HEAD:${path}`), text.replace('fun', 'music').trim());
    strictEqual(repository.status(), '');
  });

  it('makes it again before the next change of the file', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const tree = repository.git('write-tree');
    const { commit } = await committer.change(setKey(path, 'category', 'music'));
    const byHand = repository.git('commit-tree', tree, '-p', String(commit), '-m', 'From an older index');
    repository.git('update-ref', 'HEAD', byHand);
    await committer.change(setKey(path, 'nsfw', 'true'));
    await settled(committer);
    strictEqual(repository.read(path), text.replace('fun', 'music').replace('false', 'true'));
    strictEqual(repository.git('show', `HEAD:${path}`), repository.read(path).trim());
    strictEqual(repository.status(), '');
  });

  it('lets a person revert a commit of ours', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    await committer.change(setKey(path, 'category', 'music'));
    await settled(committer);
    repository.git('revert', '--no-edit', 'HEAD');
    await sleep(1500);
    await committer.settle();
    strictEqual(repository.read(path), text);
    strictEqual(repository.status(), '');
  });

  it('writes to the branch that is checked out when it commits, and to no other', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const main = (await committer.change(setKey(path, 'category', 'music'))).commit;
    await settled(committer);
    repository.git('switch', '-q', '-c', 'side', 'main~1');
    const side = (await committer.change(setKey(path, 'category', 'games'))).commit;
    await settled(committer);
    strictEqual(repository.git('rev-parse', 'main'), main);
    strictEqual(repository.git('rev-parse', 'side'), side);
    strictEqual(repository.status(), '');
    repository.git('switch', '-q', 'main');
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('takes the work tree of another branch back to it, when a person switches before all is settled', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    for (let n = 0; n < 6; n++) {
      const change = committer.change(setKey(path, 'count', n));
      repository.tryGit('switch', '-q', '-c', `side${n}`);
      await change;
      repository.tryGit('switch', '-q', '--merge', 'main');
      await sleep(10);
    }
    await settled(committer);
    await sleep(1200);
    await settled(committer);
    strictEqual(repository.status(), '');
  });

  it('waits for an index.lock of a person with the index alone, and never takes it', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const lock = join(repository.folder, '.git/index.lock');
    writeFileSync(lock, '');
    const { commit } = await committer.change(setKey(path, 'category', 'music'));
    strictEqual(repository.git('rev-parse', 'HEAD'), commit);
    strictEqual(await committer.settle(), false);
    rmSync(lock);
    await settled(committer);
    strictEqual(repository.read(path), text.replace('fun', 'music'));
    strictEqual(repository.status(), '');
  });

  it('goes on while a person collects garbage and rebases', async () => {
    const repository = testRepository({ [path]: text, [other]: text });
    const committer = committerOn(repository.folder);
    repository.git('branch', 'base');
    for (let n = 0; n < 5; n++) {
      await committer.change(setKey(path, `key${n}`, n));
      await settled(committer);
      if (n % 2 === 0) repository.git('gc', '-q', '--prune=now');
      repository.git('switch', '-q', 'base');
      repository.commit({ [other]: `${text}${n}\n` });
      repository.git('switch', '-q', 'main');
      repository.git('rebase', '-q', 'base');
      strictEqual(repository.status(), '');
    }
    await committer.change(setKey(path, 'last', 'yes'));
    await settled(committer);
    for (let n = 0; n < 5; n++) match(repository.read(path), new RegExp(`^key${n}: ${n}$`, 'm'));
    strictEqual(repository.git('fsck', '--strict', '--no-dangling'), '');
    strictEqual(repository.status(), '');
  });

  it('writes nothing while HEAD is on no branch, says so, and goes on when it is', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    repository.git('checkout', '-q', '--detach');
    await rejects(committer.change(setKey(path, 'category', 'music')), (error) => {
      match(String(error), /HEAD is on no branch: finish the rebase, or run "git switch <branch>"/);
      return error instanceof WritesUnavailable;
    });
    strictEqual(repository.status(), '');
    repository.git('switch', '-q', 'main');
    notStrictEqual((await committer.change(setKey(path, 'category', 'music'))).commit, null);
  });

  it('refuses a file in conflict while a merge is under way, and commits others', async () => {
    const repository = testRepository({ [path]: text, [other]: text });
    repository.git('switch', '-q', '-c', 'side');
    repository.commit({ [path]: text.replace('fun', 'games') });
    repository.git('switch', '-q', 'main');
    repository.commit({ [path]: text.replace('fun', 'music') });
    notStrictEqual(repository.tryGit('merge', 'side'), 0);
    const before = repository.read(path);
    const committer = committerOn(repository.folder);
    await rejects(
      committer.change(setKey(path, 'nsfw', 'true')),
      /is in conflict in a merge that is under way/,
    );
    await committer.change(setKey(other, 'nsfw', 'true'));
    await settled(committer);
    strictEqual(repository.read(path), before);
    strictEqual(repository.status(), `UU ${path}`);
    repository.write(path, text);
    repository.git('commit', '-qam', 'Merge by hand');
    match(repository.git('show', `HEAD:${other}`), /nsfw: true/);
    strictEqual(repository.status(), '');
  });

  it('says what to do while nothing can be written, and heals by itself', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    repository.write('var', 'a file in the way');
    const before = repository.git('rev-parse', 'HEAD');
    await rejects(committer.change(setKey(path, 'category', 'music')), (error) => {
      match(String(error), /look at the disk and the repository/);
      return error instanceof WritesUnavailable;
    });
    strictEqual(repository.git('rev-parse', 'HEAD'), before);
    rmSync(join(repository.folder, 'var'));
    notStrictEqual((await committer.change(setKey(path, 'category', 'music'))).commit, null);
    await settled(committer);
    strictEqual(repository.status(), '');
  });

  it('says that git is missing from the PATH, and goes on when it is there again', async () => {
    const repository = testRepository({ [path]: text });
    const committer = committerOn(repository.folder);
    const found = process.env['PATH'];
    process.env['PATH'] = join(repository.folder, 'nowhere');
    try {
      await rejects(committer.change(setKey(path, 'category', 'music')), /git cannot be run: install it/);
    } finally {
      process.env['PATH'] = found;
    }
    notStrictEqual((await committer.change(setKey(path, 'category', 'music'))).commit, null);
  });
});
