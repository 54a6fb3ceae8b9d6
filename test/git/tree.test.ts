import { deepStrictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { parseTree } from '../../src/git/objects.ts';
import { repositoryIn, testRepository, type TestRepository } from '../support/repository.ts';
import { tempFolder } from '../support/temp-folder.ts';
import { openUntilEnd } from '../support/opened.ts';

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
