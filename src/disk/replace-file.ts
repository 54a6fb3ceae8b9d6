import {
  closeSync,
  fchmodSync,
  fsyncSync,
  lstatSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';

/**
 * Puts `text` in the place of a file at once: a reader sees the old file or the new one, whole. The
 * permissions stay.
 * @throws a system error; the old file is there then, and nothing else.
 */
export function replaceFile(path: string, text: string): void {
  const { mode } = lstatSync(path);
  const temporary = join(dirname(path), `.${basename(path)}.${process.pid}.tmp`);
  const file = openSync(temporary, 'wx');
  try {
    try {
      fchmodSync(file, mode & 0o7777);
      writeFileSync(file, text);
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
}
