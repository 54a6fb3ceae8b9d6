import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { cleanUp } from './cleanup.ts';

/** Makes an empty folder that is removed when the test is over. */
export function tempFolder(): string {
  const folder = makeFolder();
  // For mutants, a file of tests is loaded once and run again with the folders that it made then.
  if (!('__stryker__' in globalThis))
    cleanUp(() => rmSync(folder, { recursive: true, force: true, maxRetries: 3 }));
  return folder;
}

/** Makes an empty folder for what tests of several files copy. It is removed when the process ends. */
export function sharedFolder(): string {
  const folder = makeFolder();
  shared.push(folder);
  return folder;
}

const shared: string[] = [];

process.once('exit', () => {
  for (const folder of shared) rmSync(folder, { recursive: true, force: true });
});

function makeFolder(): string {
  return realpathSync(mkdtempSync(join(tmpdir(), 'botshelf-')));
}
