import { match, strictEqual } from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { findConversion } from '../../src/git/repository.ts';
import { openUntilEnd } from '../support/opened.ts';
import { testRepository } from '../support/repository.ts';

const path = 'bots/007/7.en.md';
const text = 'one\n$Id$\n';

describe('a file that Git checks out with other bytes than it is committed with', () => {
  for (const [cause, attributes, config] of [
    ['core.autocrlf', '', ['core.autocrlf', 'true']],
    ['core.eol=crlf', '* text=auto\n', ['core.eol', 'crlf']],
    ['eol=crlf', '*.md eol=crlf\n', ['core.autocrlf', 'false']],
    ['ident', '*.md ident\n', ['core.autocrlf', 'false']],
    ['working-tree-encoding=UTF-16', '*.md working-tree-encoding=UTF-16\n', ['core.autocrlf', 'false']],
    ['filter=up', '*.md filter=up\n', ['filter.up.smudge', 'tr o 0']],
  ] as const) {
    it(`is named with ${cause}, and the command restores its bytes`, async () => {
      // Git refuses to add text that is not in the encoding.
      const isOwn = attributes === '' || cause.startsWith('working-tree-encoding');
      const { folder, git, status } = testRepository({
        [path]: text,
        ...(!isOwn && { '.gitattributes': attributes }),
      });
      if (isOwn) writeFileSync(join(folder, '.git/info/attributes'), attributes);
      git('config', ...config);
      if (cause === 'filter=up') git('config', 'filter.up.clean', 'tr 0 o');
      utimesSync(join(folder, path), 0, 0);
      git('checkout', '-q', '.');
      strictEqual(readFileSync(join(folder, path), 'latin1') === text, false);
      const repository = await openUntilEnd(folder);
      const found = (await findConversion(repository, 'bots/000/0.en.md')) ?? '';
      match(found, new RegExp(`\\(${cause}\\), so posts to their bots are refused: cd `));
      execFileSync('sh', ['-c', found.slice(found.lastIndexOf(': ') + 2)]);
      strictEqual(readFileSync(join(folder, path), 'latin1'), text);
      strictEqual(status(), '');
      strictEqual(await findConversion(repository, 'bots/000/0.en.md'), null);
    });
  }

  it('is not there with the settings of a catalogue, also where Git is set to convert', async () => {
    const { folder, git } = testRepository({ '.gitattributes': '* text=auto eol=lf\n', [path]: text });
    git('config', 'core.autocrlf', 'true');
    git('config', 'core.eol', 'crlf');
    strictEqual(await findConversion(await openUntilEnd(folder), path), null);
    const input = testRepository({ [path]: text });
    input.git('config', 'core.autocrlf', 'input');
    strictEqual(await findConversion(await openUntilEnd(input.folder), path), null);
  });
});
