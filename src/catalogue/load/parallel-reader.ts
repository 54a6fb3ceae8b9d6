import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import type { HashName } from '../../git/objects/object-id.ts';
import { hasFewFiles } from './folder.ts';
import { type FolderReading, readFolder } from './folder-reader.ts';

/**
 * Reads many folders at once, in a thread for each core, and hands over each as it comes. A folder that
 * cannot be read is left out: whoever looks at it next finds out why.
 */
export async function readFolders(
  root: string,
  hash: HashName,
  folders: readonly string[],
  onReading: (reading: FolderReading) => void,
): Promise<void> {
  if (hasFewFiles(root, folders)) {
    for (const folder of folders) readInto(root, hash, folder, onReading);
    return;
  }
  const threads = Math.min(availableParallelism(), 4);
  await Promise.all(
    Array.from({ length: threads }, async (_, thread) => {
      const share = folders.filter((_folder, i) => i % threads === thread);
      await readInThread({ root, hash, folders: share }, onReading);
    }),
  );
}

function readInto(
  root: string,
  hash: HashName,
  folder: string,
  onReading: (reading: FolderReading) => void,
): void {
  try {
    onReading(readFolder(root, hash, folder));
  } catch {
    // The next look at the folder says what is wrong with it.
  }
}

interface Share {
  readonly root: string;
  readonly hash: HashName;
  readonly folders: readonly string[];
}

async function readInThread(share: Share, onReading: (reading: FolderReading) => void): Promise<void> {
  const worker = new Worker(new URL(import.meta.url), { workerData: share });
  worker.on('message', onReading);
  await new Promise<void>((resolve, reject) => {
    worker.once('error', reject);
    worker.once('exit', () => resolve());
  });
}

if (!isMainThread && parentPort) {
  const { root, hash, folders } = workerData as Share;
  for (const folder of folders) {
    readInto(root, hash, folder, (reading) => parentPort?.postMessage(reading));
  }
}
