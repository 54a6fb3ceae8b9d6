import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { readVersion } from '../src/app/version.ts';
import { botshelf } from './support/command-line.ts';
import { tempFolder } from './support/temp-folder.ts';

describe('botshelf', () => {
  const root = tempFolder();

  it('explains itself and each of its commands', async () => {
    for (const args of [
      [],
      ['serve'],
      ['settings'],
      ['check'],
      ['format'],
      ['new'],
      ['init'],
      ['token'],
      ['revoke'],
      ['images'],
      ['doctor'],
      ['report'],
    ]) {
      const { code, stdout, stderr } = await botshelf(root, [...args, '--help']);
      deepStrictEqual([code, stderr], [0, '']);
      ok(stdout.startsWith(['Usage: botshelf', ...args].join(' ')), stdout);
    }
  });

  it('says which version it is', async () => {
    const { version } = readVersion();
    deepStrictEqual(await botshelf(root, ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('ends with 2 when it is used wrongly', async () => {
    for (const args of [[], ['chekc'], ['check', '--bsae=x'], ['new', '1', '2']]) {
      const { code, stdout, stderr } = await botshelf(root, args);
      deepStrictEqual([code, stdout], [2, '']);
      match(stderr, /^(error: |Usage: )/);
    }
  });

  it('tells a fault of the surroundings in one line', async () => {
    const { code, stderr } = await botshelf(root, ['check'], { env: { BOTSHELF_CATALOGUE: '/dev/null' } });
    strictEqual(code, 2);
    match(stderr, /^[^\n]+\n$/);
  });
});
