import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Makes an empty folder that is removed when the test is over. */
export function tempFolder(): string {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-')));
  folders.push(folder);
  return folder;
}

const folders: string[] = [];

after('remove the temp folders', () => {
  // Where mutants are made, files of tests are loaded once, and run again and again with the folders that they made then.
  if ('__stryker__' in globalThis) return;
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
});
