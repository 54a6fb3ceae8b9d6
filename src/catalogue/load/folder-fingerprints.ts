import { WorkerPool } from '../../concurrency/worker-pool.ts';
import { isFolderName } from '../page/layout.ts';
import { fingerprintOf, hasFewFiles, listFolder, listTop } from './folder.ts';

/**
 * Returns the fingerprint of each folder of `bots/`, made of the names and stats in it. A folder that cannot be read is
 * left out: the next scan of it reports why. Many files are read in a thread, as the system calls for 150,000 of them
 * take half a second.
 * @throws when `bots/` cannot be read
 */
export async function readFingerprints(root: string): Promise<ReadonlyMap<string, string>> {
  const folders = listTop(root).filter(isFolderName);
  if (hasFewFiles(root, folders)) return fingerprintFolders({ root, folders });
  const pool = new WorkerPool<typeof fingerprintFolders>(new URL(import.meta.url), 'fingerprintFolders', {
    threads: 1,
  });
  try {
    return await pool.run({ root, folders });
  } finally {
    await pool.close();
  }
}

/** Runs in the thread. */
export function fingerprintFolders({
  root,
  folders,
}: {
  readonly root: string;
  readonly folders: readonly string[];
}): ReadonlyMap<string, string> {
  const fingerprints = new Map<string, string>();
  for (const folder of folders) {
    try {
      fingerprints.set(folder, fingerprintOf(listFolder(root, folder)));
    } catch {
      // The next scan of the folder reports it.
    }
  }
  return fingerprints;
}
