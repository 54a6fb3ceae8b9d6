import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { digestOf, hasFewFiles, listFolder, listTop } from './folder.ts';
import { isFolderName } from '../page/layout.ts';

/**
 * What is in each folder of `bots/`, as a digest of names and stats; a folder that cannot be read is left out. Where
 * there are many files a thread of its own looks: system calls for 150,000 of them take half a second.
 */
export async function digestFolders(root: string): Promise<ReadonlyMap<string, string>> {
  const folders = listTop(root).filter(isFolderName);
  if (hasFewFiles(root, folders)) return digestAll({ root, folders });
  const worker = new Worker(new URL(import.meta.url), { workerData: { root, folders } satisfies Task });
  return await new Promise((resolve, reject) => {
    worker.once('message', resolve);
    worker.once('error', reject);
  });
}

interface Task {
  readonly root: string;
  readonly folders: readonly string[];
}

function digestAll({ root, folders }: Task): ReadonlyMap<string, string> {
  const digests = new Map<string, string>();
  for (const folder of folders) {
    try {
      digests.set(folder, digestOf(listFolder(root, folder)));
    } catch {
      // The look at the folder that follows says what is wrong with it.
    }
  }
  return digests;
}

if (!isMainThread) parentPort?.postMessage(digestAll(workerData as Task));
