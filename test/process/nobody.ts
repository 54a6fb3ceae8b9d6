import { chownSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export const isRoot = process.getuid?.() === 0;
export const nobody = 65_534;

/** Begins a command of a user who is not root: where the tests run as root, that is nobody. */
export const asNobody: readonly [string, ...string[]] = isRoot
  ? ['setpriv', `--reuid=${nobody}`, `--regid=${nobody}`, '--clear-groups']
  : ['env'];

/** Gives a folder to that user. */
export function giveToNobody(folder: string): void {
  if (!isRoot) return;
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    chownSync(join(folder, name), nobody, nobody);
}
