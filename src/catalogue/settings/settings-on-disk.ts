import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { readRegularFile } from '../page/page-file.ts';
import type { FileReader } from './read-settings.ts';

/** Returns a reader of the files of a catalogue on disk. Refuses links: a file, or a folder above it. */
export function createDiskReader(root: string): FileReader {
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  return async (path) => {
    const absolute = join(root, path);
    try {
      if (realpathSync(dirname(absolute)) !== join(realpathSync(root), dirname(path)))
        return 'a folder above it is a symbolic link: put the file itself here';
    } catch {
      return undefined;
    }
    return readRegularFile(absolute);
  };
}
