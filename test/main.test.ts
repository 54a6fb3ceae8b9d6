import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { readVersion } from '../src/app/version.ts';
import { botshelf } from './support/command-line.ts';
import { tempFolder } from './support/temp-folder.ts';

describe('botshelf', () => {
  const root = tempFolder();

  it('explains itself and each of its commands', async () => {
    const commands = 'serve settings check format new init token revoke images doctor report'.split(' ');
    for (const args of [[], ...commands.map((command) => [command])]) {
      const { code, stdout, stderr } = await botshelf(root, [...args, '--help']);
      deepStrictEqual([code, stderr], [0, '']);
      ok(stdout.startsWith(['Usage: botshelf', ...args].join(' ')), stdout);
    }
  });

  it('says which version it is', async () => {
    const { version } = readVersion();
    deepStrictEqual(await botshelf(root, ['--version']), { code: 0, stdout: `${version}\n`, stderr: '' });
  });

  it('sets the variables of --env-file before a command, over those that are set', async () => {
    const file = join(root, 'env');
    writeFileSync(file, '# A comment\nBOTSHELF_CONTACT="Marge # 1"\nPORT=81\nexport HOST=::\n');
    const { stdout, stderr: warning } = await botshelf(root, ['--env-file', file, 'settings'], {
      env: { PORT: '82' },
    });
    match(stdout, /^BOTSHELF_CONTACT\n(?: {2}.*\n)* {2}now: Marge # 1, from the environment$/m);
    match(stdout, /^PORT\n(?: {2}.*\n)* {2}now: 81, from the environment$/m);
    strictEqual(warning, `${file}:4 is skipped: write NAME=VALUE, with letters, digits and _ in the name\n`);
  });

  it('names a file that does not exist', async () => {
    const gone = join(root, 'gone');
    for (const args of [
      ['--env-file', gone, 'settings'],
      ['import', gone, '--dry-run'],
    ]) {
      const { code, stderr } = await botshelf(root, args);
      deepStrictEqual([code, stderr], [2, `there is no ${gone}: check the path\n`]);
    }
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
