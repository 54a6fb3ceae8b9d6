import { deepStrictEqual, rejects, strictEqual } from 'node:assert/strict';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { listWorkTreeChanges } from '../../src/git/changed-files.ts';
import { readObjects } from '../../src/git/objects/objects.ts';
import { resolveRange } from '../../src/git/revision-range.ts';
import { UserError } from '../../src/lib/errors.ts';
import { commitAll, git } from '../support/command-line.ts';
import { writeFiles } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const long = Array.from({ length: 50 }, (_, i) => `line ${String(i)}\n`).join('');

async function changes(folder: string): Promise<Record<string, unknown[]>> {
  const files = await listWorkTreeChanges(folder, await resolveRange(folder, 'HEAD'), ['bots']);
  const blobs = await readObjects(
    folder,
    files.flatMap(({ previousBlob }) => previousBlob ?? []),
    1000,
  );
  return Object.fromEntries(
    files.map(({ path, previousPath, kind, previousBlob }) => [
      path,
      [previousPath, kind, blobs.get(previousBlob ?? '')?.toString() ?? null],
    ]),
  );
}

describe('the files that changed since a revision', () => {
  it('are returned with what they were, whatever their names hold', async () => {
    const root = tempFolder();
    writeFiles(root, { 'bots/a': 'a', 'bots/b\n"é': 'b', 'bots/c': long, 'bots/d': 'd', e: 'e' });
    commitAll(root);
    writeFiles(root, { 'bots/a': 'A', e: 'E', 'bots/new\n': '', unwatched: '' });
    rmSync(join(root, 'bots/b\n"é'));
    renameSync(join(root, 'bots/c'), join(root, 'bots/moved'));
    rmSync(join(root, 'bots/d'));
    symlinkSync('a', join(root, 'bots/d'));
    git(root, 'add', 'bots/c', 'bots/moved');
    deepStrictEqual(await changes(root), {
      'bots/a': ['bots/a', 'file', 'a'],
      'bots/b\n"é': ['bots/b\n"é', 'gone', 'b'],
      'bots/d': ['bots/d', 'symlink', 'd'],
      'bots/moved': ['bots/c', 'file', long],
      'bots/new\n': [null, 'file', null],
      e: ['e', 'file', 'e'],
    });
  });

  it('include what was removed from Git and is still there, and a repository within ours', async () => {
    const root = tempFolder();
    writeFiles(root, { 'bots/a': 'a' });
    commitAll(root);
    git(root, 'rm', '--quiet', '--cached', 'bots/a');
    mkdirSync(join(root, 'bots/inner'));
    writeFiles(root, { 'bots/inner/x': 'x' });
    commitAll(join(root, 'bots/inner'));
    deepStrictEqual(await changes(root), {
      'bots/a': ['bots/a', 'file', 'a'],
      'bots/inner/': [null, 'submodule', null],
    });
  });

  it('never take a revision for an option', async () => {
    const root = tempFolder();
    writeFiles(root, { 'bots/a': 'a' });
    commitAll(root);
    const target = join(root, 'written');
    for (const revision of [`--output=${target}`, '--all', '-h', 'HEAD\nHEAD', 'HEAD..HEAD', '', '^HEAD']) {
      await rejects(resolveRange(root, revision), UserError, revision);
    }
    strictEqual(existsSync(target), false);
  });
});
