import { deepStrictEqual, match, rejects, strictEqual } from 'node:assert/strict';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { join } from 'node:path';
import { listTreeChanges, resolveRange, writeWorkTree } from '../../src/check/changed-files.ts';
import { UserError } from '../../src/lib/errors.ts';
import { type TestRepository, testRepository } from '../support/repository.ts';
import { writeFiles } from '../support/temp-folder.ts';

/** The changes of the work tree since the last commit: path → where it was, what it is, and its text. */
async function changesOf({ folder, git }: TestRepository): Promise<Record<string, unknown[]>> {
  const index = readFileSync(join(folder, '.git/index'));
  const files = await listTreeChanges(folder, 'HEAD', await writeWorkTree(folder, ['bots', 'people']));
  deepStrictEqual(readFileSync(join(folder, '.git/index')), index);
  const texts = files.map(({ kind, blob }) =>
    blob === null || kind === 'submodule' ? null : git('cat-file', 'blob', blob),
  );
  return Object.fromEntries(
    files.map(({ path, previousPath, kind }, i) => [path, [previousPath, kind, texts[i]]]),
  );
}

describe('the tree of a work tree', () => {
  it('has what Git tracks and all files of the watched folders, whatever their names hold', async () => {
    const long = 'line\n'.repeat(50);
    const files = { 'bots/a': 'a', 'bots/b\n"é': 'b', 'bots/c': long, 'bots/d': 'd', e: 'e', 'f/g': 'g' };
    const repo = testRepository(files);
    const { folder, git } = repo;
    writeFiles(folder, { 'bots/a': 'A', e: 'E', 'bots/new\n': 'n', unwatched: '', '.gitignore': 'bots/x*' });
    rmSync(join(folder, 'bots/b\n"é'));
    renameSync(join(folder, 'bots/c'), join(folder, 'bots/moved'));
    rmSync(join(folder, 'bots/d'));
    symlinkSync('a', join(folder, 'bots/d'));
    rmSync(join(folder, 'f'), { recursive: true });
    writeFiles(folder, { f: 'file', 'bots/xignored': 'x' });
    git('add', 'f');
    deepStrictEqual(await changesOf(repo), {
      '.gitignore': ['.gitignore', 'file', 'bots/x*'],
      'bots/a': ['bots/a', 'file', 'A'],
      'bots/b\n"é': ['bots/b\n"é', 'gone', null],
      'bots/d': ['bots/d', 'symlink', 'a'],
      'bots/moved': ['bots/c', 'file', long.trim()],
      'bots/new\n': [null, 'file', 'n'],
      'bots/xignored': [null, 'file', 'x'],
      e: ['e', 'file', 'E'],
      f: [null, 'file', 'file'],
      'f/g': ['f/g', 'gone', null],
    });
  });

  it('has what was removed from Git and is still there, and a repository within ours as a submodule', async () => {
    const repo = testRepository({ 'bots/a': 'a', 'bots/b': 'b' });
    repo.git('rm', '--quiet', '--cached', 'bots/a');
    repo.git('init', '-q', 'bots/empty');
    deepStrictEqual(await changesOf(repo), { 'bots/empty': [null, 'submodule', null] });
  });

  it('has a file in conflict with its marks', async () => {
    const repo = testRepository({ a: '1\n', 'bots/b': 'b' });
    repo.git('switch', '-q', '-c', 'more');
    repo.commit({ a: '2\n' });
    repo.git('switch', '-q', 'main');
    repo.commit({ a: '3\n' });
    strictEqual(repo.tryGit('merge', '-q', 'more'), 1);
    match(String((await changesOf(repo))['a']?.[2]), /^<<<<<<< HEAD\n3\n=======\n2\n>>>>>>> more$/);
  });

  it('has the bytes that a commit would have, and no program of a hostile file runs', async () => {
    const repo = testRepository({ 'bots/a': 'a\n', 'bots/b': 'b\n' });
    const { folder, git } = repo;
    git('update-index', '--add', '--cacheinfo', `160000,${'1'.repeat(40)},module`);
    mkdirSync(join(folder, 'module'));
    writeFiles(folder, {
      'bots/a': 'a\r\n',
      'bots/b': 'B\r\n',
      '.gitattributes': '* filter=run diff=run\n',
      '.gitmodules': `[submodule "module"]\n\tpath = module\n\tupdate = !touch ${join(folder, 'ran')}\n`,
    });
    git('add', '.gitattributes', '.gitmodules');
    git('config', 'core.autocrlf', 'true');
    git('config', 'core.safecrlf', 'true');
    const { 'bots/b': changed, ...others } = await changesOf(repo);
    deepStrictEqual(changed, ['bots/b', 'file', 'B']);
    deepStrictEqual(Object.keys(others), ['.gitattributes', '.gitmodules', 'module']);
    strictEqual(existsSync(join(folder, 'ran')), false);
    repo.write('.gitattributes', 'bots/* working-tree-encoding=UTF-16\n');
    await rejects(writeWorkTree(folder, ['bots']), {
      name: 'UserError',
      message: /^Git cannot add the files of the work tree: .*UTF-16/,
    });
  });

  it('is written from a split index, and of a catalogue that is a folder of a repository', async () => {
    const repo = testRepository({ 'inner/bots/a': 'a', b: 'b' });
    const { folder, git } = repo;
    git('update-index', '--split-index');
    writeFiles(folder, { 'inner/bots/a': 'A', 'inner/bots/new': 'n', 'bots/c': 'c', b: 'B' });
    const inner = join(folder, 'inner');
    const files = await listTreeChanges(inner, 'HEAD', await writeWorkTree(inner, ['bots']));
    deepStrictEqual(
      files.map(({ path }) => path),
      ['bots/a', 'bots/new'],
    );
  });

  it('is refused unread where more than 10,000 files differ from the index @slow', async () => {
    const repo = testRepository({ a: 'a' });
    mkdirSync(join(repo.folder, 'bots'));
    for (let i = 0; i <= 10_000; i++) appendFileSync(join(repo.folder, 'bots', String(i)), String(i));
    await rejects(writeWorkTree(repo.folder, ['bots']), { code: 'list-too-long' });
    strictEqual(repo.git('count-objects').split(' ')[0], '4');
  });
});

describe('a revision', () => {
  it('is never taken for an option', async () => {
    const repo = testRepository({ 'bots/a': 'a' });
    const target = join(repo.folder, 'written');
    for (const revision of [`--output=${target}`, '--all', '-h', 'HEAD\nHEAD', 'HEAD..HEAD', '', '^HEAD'])
      await rejects(resolveRange(repo.folder, revision), UserError, revision);
    strictEqual(existsSync(target), false);
  });
});
