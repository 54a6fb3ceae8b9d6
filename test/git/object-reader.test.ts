import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { ObjectReader, maxObjectBytes } from '../../src/git/objects.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository } from '../support/repository.ts';

describe('the reader of objects', () => {
  it('returns what exists, in the requested order, nothing for what does not, and starts no git once it is closed', async () => {
    const { folder } = testRepository({ a: 'first', b: '' });
    const reader = new ObjectReader(folder);
    const objects = await reader.read(['HEAD:b', 'HEAD:c', 'HEAD:a', 'HEAD:c d']);
    deepStrictEqual(
      objects.map((object) => object?.content.toString()),
      ['', undefined, 'first', undefined],
    );
    reader.close();
    await rejects(reader.readOne('HEAD:a'), /its reader is closed/);
  });

  it('returns nothing for a file that is too large, and goes on with the rest @long', async () => {
    const { folder } = testRepository({
      large: Buffer.alloc(maxObjectBytes + 1, 'x').toString(),
      most: Buffer.alloc(maxObjectBytes, 'x').toString(),
      small: 'small',
    });
    const reader = new ObjectReader(folder);
    const all = ['HEAD:small', 'HEAD:large', 'HEAD:most', 'HEAD:large', 'HEAD:small'];
    const [read, later] = await Promise.all([reader.read(all), reader.readOne('HEAD:small')]);
    deepStrictEqual(
      [...read, later].map((object) => object?.content.length),
      [5, undefined, maxObjectBytes, undefined, 5, 5],
    );
    const last = reader.read(all);
    reader.close();
    strictEqual((await last).length, 5);
  });

  it('returns the beginning of a commit whose message is too long, and goes on with the rest', async () => {
    const { folder, git } = testRepository({ small: 'small' });
    const head = `${git('cat-file', '-p', 'HEAD').split('\n\n')[0]}\n\n`;
    const args = ['hash-object', '-w', '-t', 'commit', '--stdin'];
    const id = gitSync({ args, cwd: folder, input: head + 'x\n'.repeat(1024 * 1024) });
    const reader = new ObjectReader(folder);
    cleanUp(() => reader.close());
    const [long, small] = await reader.read([id, 'HEAD:small']);
    strictEqual(long?.content.length, 1024 * 1024);
    ok(long.content.toString().startsWith(`${head}x\n`));
    strictEqual(small?.content.toString(), 'small');
  });

  it('keeps trees of up to 32 MiB, those that were read last @long', async () => {
    const { folder } = testRepository();
    const ids = ['a', 'b', 'c'].map((first) => writeTree(folder, first));
    const [a = '', b = '', c = ''] = ids;
    const reader = new ObjectReader(folder);
    const read = async (id: string): Promise<number> => (await reader.readTrees([id]))[0]?.length ?? 0;
    for (const id of [a, b, a]) strictEqual(await read(id), treeBytes);
    for (const id of ids) if (id !== c) rmSync(join(folder, '.git/objects', id.slice(0, 2), id.slice(2)));
    for (const id of [b, a, c, a]) strictEqual(await read(id), treeBytes);
    await rejects(read(b), { code: 'missing-object' });
    reader.close();
  });

  it('keeps no pack open that a repack has deleted, once it is renewed', async () => {
    const { folder, git, commit } = testRepository({ file: 'text' });
    const openDeleted = (): string[] =>
      readdirSync('/proc')
        .filter((name) => /^\d+$/.test(name))
        .flatMap((pid) => linesOf(`/proc/${pid}/maps`))
        .filter((line) => line.includes(folder) && line.endsWith('(deleted)'));
    git('repack', '-qad');
    const reader = new ObjectReader(folder);
    cleanUp(() => reader.close());
    await reader.readOne('HEAD');
    commit({ file: 'more' });
    git('repack', '-qad');
    ok(openDeleted().length > 0);
    const underWay = reader.readOne('HEAD');
    reader.renew();
    await underWay;
    await reader.readOne('HEAD');
    await eventually(() => deepStrictEqual(openDeleted(), []));
    commit({ file: 'even more' });
    git('repack', '-qad');
    reader.renew();
    await eventually(() => deepStrictEqual(openDeleted(), []));
    strictEqual((await reader.readOne('HEAD:file'))?.content.toString(), 'even more');
  });

  it('says that git cannot be run where there is no folder, and takes no name with a line break', async () => {
    const reader = new ObjectReader('/nowhere');
    await rejects(reader.readOne('HEAD'), /ENOENT/);
    await rejects(reader.readOne('a\nb'), RangeError);
  });
});

function linesOf(path: string): string[] {
  try {
    return readFileSync(path, 'utf8').split('\n');
  } catch {
    return [];
  }
}

const treeBytes = 15_000_000;

/** Writes a tree of so many bytes, with one long name. Returns its id. */
function writeTree(folder: string, letter: string): string {
  const entry = `100644 ${letter.repeat(treeBytes - 28)}\0${'i'.repeat(20)}`;
  const args = ['-c', 'core.compression=0', 'hash-object', '-w', '-t', 'tree', '--stdin'];
  return gitSync({ args, cwd: folder, input: entry });
}
