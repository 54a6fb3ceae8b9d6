import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { mainFile } from '../../support/command-line.ts';
import { replaceGit } from '../../support/replaced-git.ts';
import { testRepository } from '../../support/repository.ts';
import { homerKeys, mainPage, pagePath } from '../../support/sample.ts';
import { tempFolder, writeFiles } from '../../support/temp-folder.ts';

describe('botshelf check', () => {
  it('prints no error when its output is closed early', async () => {
    const files = Object.fromEntries(
      Array.from({ length: 3000 }, (_, i) => [`bots/001/stray-file-${String(i)}.txt`, '']),
    );
    const root = tempFolder(files);
    const child = spawn(process.execPath, [mainFile, 'check'], {
      env: { PATH: process.env['PATH'], BOTSHELF_CATALOGUE: root },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const errors: Buffer[] = [];
    child.stderr.on('data', (chunk: Buffer) => errors.push(chunk));
    child.stdout.once('data', () => child.stdout.destroy());
    const [code] = (await once(child, 'close')) as [number];
    strictEqual(Buffer.concat(errors).toString(), '');
    strictEqual(code, 1);
  });
});

describe('botshelf export', () => {
  it('ends without an error where the reader has enough, and works without Git', () => {
    const { folder } = testRepository({ [pagePath('7')]: mainPage() });
    execFileSync('rm', ['-rf', join(folder, '.git')]);
    const env = { ...process.env, BOTSHELF_CATALOGUE: folder };
    const script = `set -o pipefail; "${process.execPath}" "${mainFile}" export | head -c 5`;
    strictEqual(String(execFileSync('bash', ['-c', script], { env })), '{"id"');
  });
});

describe('botshelf import', () => {
  it('leaves no files without their commit where Ctrl-C ends it and its git while the branch moves', async () => {
    const repository = testRepository({ 'bots/.gitkeep': '' });
    const records = ['7', '8', '9'].map((id) => ({ ...homerKeys, id, name: `Bot ${id}` }));
    const list = tempFolder();
    const pid = join(list, 'pid');
    writeFiles(list, {
      'bots.ndjson': records.map((record) => `${JSON.stringify(record)}\n`).join(''),
      'map.json': JSON.stringify({
        id: 'id',
        ...Object.fromEntries(Object.keys(homerKeys).map((key) => [key, key])),
      }),
    });
    // Ctrl-C reaches all that is in the process group of the command.
    const restore = replaceGit('update-ref', `if mkdir ${pid}.ended; then kill -s INT -- -$(cat ${pid}); fi`);
    const child = spawn(process.execPath, [mainFile, 'import', 'bots.ndjson', '--map', 'map.json'], {
      cwd: list,
      env: { ...process.env, BOTSHELF_CATALOGUE: repository.folder },
      stdio: 'ignore',
      detached: true,
    });
    restore();
    writeFiles(list, { pid: String(child.pid) });
    deepStrictEqual(await once(child, 'exit'), [null, 'SIGINT']);
    strictEqual(repository.git('log', '-1', '--format=%s'), 'Import 3 bots');
    strictEqual(repository.status(), '');
  });
});
