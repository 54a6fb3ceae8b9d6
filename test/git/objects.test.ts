import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { ObjectReader, maxObjectBytes, BatchParser, parseTree } from '../../src/git/objects.ts';
import { cleanUp } from '../support/cleanup.ts';
import { eventually } from '../support/eventually.ts';
import { gitSync } from '../support/run-sync.ts';
import { testRepository, repositoryIn, type TestRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openUntilEnd } from '../support/opened.ts';

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

describe('the output of git cat-file', () => {
  const output = Buffer.from(
    'aa blob 3\na\nb\nHEAD:ä b missing\nbb blob 0\n\ncc tree 4\n\0\n \n\ndd blob 2\nde\n',
  );

  it('is read alike in pieces of any size, with objects that are empty, missing or not wanted', () => {
    for (let size = 1; size <= output.length; size++) {
      const seen: string[] = [];
      const parser = new BatchParser((header) => {
        if (header === undefined || header.id === 'cc') {
          seen.push(header?.type ?? 'missing');
          return undefined;
        }
        let text = '';
        return {
          push: (piece) => void (text += piece.toString('latin1')),
          end: () => void seen.push(`${header.id} ${text}`),
        };
      });
      for (let at = 0; at < output.length; at += size) parser.push(output.subarray(at, at + size));
      deepStrictEqual(seen, ['aa a\nb', 'missing', 'bb ', 'tree', 'dd de'], `pieces of ${size}`);
    }
  });
});

const files = { 'a/b': 'text', 'ä b': '', z: 'z' };

describe('the entries of a tree', () => {
  it('are those that git lists, with SHA-1', async () => await compare(testRepository(files)));

  it('are those that git lists, with SHA-256', async () => {
    const folder = tempFolder();
    execFileSync('git', ['init', '-q', '-b', 'main', '--object-format=sha256', folder]);
    const repository = repositoryIn(folder);
    repository.commit(files);
    await compare(repository);
  });

  it('are only the named ones where names are given', async () => {
    const { tree, hash } = await rootOf(testRepository(files));
    deepStrictEqual([...parseTree(tree, hash, new Set(['z', 'missing', 'a'])).keys()], ['a', 'z']);
    deepStrictEqual([...parseTree(Buffer.alloc(0), hash, new Set(['z']))], []);
  });
});

async function compare(repository: TestRepository): Promise<void> {
  const { tree, hash } = await rootOf(repository);
  const listed = repository.git('ls-tree', '-z', 'HEAD').split('\0').slice(0, -1);
  deepStrictEqual(
    [...parseTree(tree, hash)].map(([name, { mode, id }]) => `${mode.padStart(6, '0')} ${id} ${name}`),
    listed.map((line) => line.replace(/ (?:blob|tree) /, ' ').replace('\t', ' ')),
  );
}

async function rootOf({ folder }: TestRepository): Promise<{ tree: Buffer; hash: 'sha1' | 'sha256' }> {
  const { objects, hash } = await openUntilEnd(folder);
  const tree = await objects.readOne('HEAD^{tree}');
  return { tree: tree?.content ?? Buffer.alloc(0), hash };
}
