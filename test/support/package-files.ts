import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The folder of this package. */
export const packageFolder = dirname(fileURLToPath(import.meta.resolve('#package')));

/** The text of a file of this package. */
export function readPackageFile(path: string): string {
  return readFileSync(join(packageFolder, path), 'utf8');
}
