import { availableParallelism } from 'node:os';
import { partsOf, WorkerPool } from '../../concurrency/worker-pool.ts';
import type { HashName } from '../../git/objects/object-id.ts';
import { hasFewFiles } from './folder.ts';
import { type FolderReading, readTogether } from './folder-reader.ts';

/**
 * Reads folders in a thread for each core, or here where they have few files, and calls back with each as it comes. A
 * folder that cannot be read is left out: the next scan of it reports why.
 */
export async function readFolders(
  root: string,
  hash: HashName,
  folders: readonly string[],
  onReading: (reading: FolderReading) => void,
): Promise<void> {
  if (hasFewFiles(root, folders)) {
    for (const reading of readTogether({ root, hash, folders })) onReading(reading);
    return;
  }
  const threads = Math.min(availableParallelism(), 4);
  const module = new URL('./folder-reader.js', import.meta.url);
  const pool = new WorkerPool<typeof readTogether>(module, 'readTogether', { threads });
  try {
    await Promise.all(
      partsOf(folders, foldersPerTask).map(async (part) => {
        for (const reading of await pool.run({ root, hash, folders: part })) onReading(reading);
      }),
    );
  } finally {
    await pool.close();
  }
}

const foldersPerTask = 20;
