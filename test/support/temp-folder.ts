import { execFileSync } from 'node:child_process';
import { chmodSync, mkdirSync, mkdtempSync, realpathSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';

/** Makes a folder with these files. All folders are removed when the process ends. */
export function tempFolder(files: Readonly<Record<string, string | Buffer>> = {}): string {
  root ??= makeRoot();
  const folder = join(root, String(++made));
  mkdirSync(folder);
  writeFiles(folder, files);
  return folder;
}

/** Writes files below `root`, path → text, and the folders they need. */
export function writeFiles(root: string, files: Readonly<Record<string, string | Buffer>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
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
