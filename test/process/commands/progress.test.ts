import { match, strictEqual } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { createProgress } from '../../../src/commands/output.ts';
import { mainFile } from '../../support/command-line.ts';
import { eventually } from '../../support/eventually.ts';
import { testRepository } from '../../support/repository.ts';
import { mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

async function written(isTTY: boolean): Promise<string> {
  const stream = Object.assign(new PassThrough(), { isTTY });
  const progress = createProgress(stream);
  for (let i = 1; i <= 1000; i += 1) progress.show(`${i} files checked`);
  progress.end();
  stream.end();
  return await text(stream);
}

describe('the progress line', () => {
  it('is rewritten on a terminal, now and then, and gone in the end', async () => {
    const line = await written(true);
    match(line.replaceAll('\u001b[K', '|'), /^1 files checked\|\r(?:\d+ files checked\|\r)*\|$/);
    strictEqual(line.includes('\n'), false);
  });

  it('is not written elsewhere', async () => {
    strictEqual(await written(false), '');
  });
});

describe('botshelf serve', () => {
  it('shows on a terminal how far the start is, until it is ready @long', async () => {
    const varFolder = tempFolder();
    execFileSync('mkfifo', [join(varFolder, 'index.snapshot')]);
    const env = {
      ...process.env,
      BOTSHELF_CATALOGUE: testRepository({ [pagePath('1')]: mainPage() }).folder,
      BOTSHELF_VAR: varFolder,
      PORT: '0',
    };
    const command = `exec '${process.execPath}' '${mainFile}' serve`;
    const terminal = spawn('script', ['-qefc', command, '/dev/null'], { env, stdio: 'pipe' });
    let shown = '';
    terminal.stdout.on('data', (text) => (shown += String(text)));
    const closed = once(terminal, 'close');
    try {
      await eventually(() => match(shown, /reading the catalogue: 0 bots so far/));
      writeFileSync(join(varFolder, 'index.snapshot'), '');
      await eventually(() =>
        match(shown.replaceAll('\u001b[K', '|'), / so far\|\r\|[^\r]*INFO[^\r]* serves 1 bot/),
      );
    } finally {
      terminal.stdin.write('\u0003');
      await closed;
    }
  });
});
