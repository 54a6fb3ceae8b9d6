import { strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { cpSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { testRepository } from '../../support/repository.ts';
import { tempFolder } from '../../support/temp-folder.ts';

describe('botshelf init', () => {
  it('has the check install this program from where it is from, never by its bare name @long', () => {
    const clone = testRepository({}, join(tempFolder(), 'botshelf'));
    const code = fileURLToPath(new URL('.', import.meta.resolve('#package')));
    for (const name of ['package.json', 'dist', 'schemas', 'catalogue-template'])
      cpSync(join(code, name), join(clone.folder, name), { recursive: true });
    symlinkSync(join(code, 'node_modules'), join(clone.folder, 'node_modules'));
    const checker = (...origin: string[]): string => {
      clone.git('remote', ...origin);
      const folder = join(tempFolder(), 'shelf');
      execFileSync(process.execPath, [join(clone.folder, 'dist/src/main.js'), 'init', folder]);
      const pipeline = readFileSync(join(folder, '.github/workflows/catalogue.yml'), 'utf8');
      return /BOTSHELF: (.*)/.exec(pipeline)?.[1] ?? '';
    };
    const head = clone.git('rev-parse', 'HEAD');
    strictEqual(
      checker('add', 'origin', 'https://me:secret@example.org/o/botshelf.git'),
      `git+https://example.org/o/botshelf.git#${head}`,
    );
    strictEqual(checker('set-url', 'origin', '/srv/botshelf'), `file://${clone.folder}/`);
    const lock = join(clone.folder, '../.package-lock.json');
    const installedFrom = (resolved: string): string => {
      writeFileSync(lock, JSON.stringify({ packages: { 'node_modules/botshelf': { resolved } } }));
      return checker('set-url', 'origin', '/srv/botshelf');
    };
    const address = 'https://example.org/botshelf-0.3.0.tgz';
    strictEqual(installedFrom(address.replace('example', 'me:secret@example')), address);
    strictEqual(installedFrom('file:botshelf-0.3.0.tgz'), `file://${clone.folder}/`);
  });
});
