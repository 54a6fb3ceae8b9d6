import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty folder. All of them are removed when the process ends. */
export function tempFolder(): string {
  root ??= makeRoot();
  const folder = join(root, String(++made));
  mkdirSync(folder);
  return folder;
}

let root: string | undefined;
let made = 0;

function makeRoot(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-')));
  // Tests that give up the rights of root use it too.
  chmodSync(folder, 0o1777);
  process.once('exit', () => execFileSync('rm', ['-rf', folder]));
  return folder;
}
