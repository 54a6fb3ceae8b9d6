import { availableParallelism } from 'node:os';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { checkCatalogue, type CheckReport } from './check.ts';
import { listTop } from '../catalogue/load/folder.ts';
import { compareFaults } from '../catalogue/page/fault.ts';
import { namesInScope, type Scope } from './scope.ts';
import { folderSource } from './source.ts';

/** As checkCatalogue, without more rules; a large part of the catalogue is shared out among the processors. */
export async function checkOnAllProcessors(
  root: string,
  scope: Scope,
  onProgress: (files: number) => void,
): Promise<CheckReport> {
  const tops = listTop(root).filter((top) => namesInScope(scope, top) !== undefined);
  const workers = Math.min(availableParallelism(), most, Math.floor(tops.length / foldersWorthAWorker));
  if (workers < 2) return await checkCatalogue(folderSource(root), scope, { onProgress });

  const progress = Array.from({ length: workers }, () => 0);
  const reports = await Promise.all(
    progress.map(async (_, i) => {
      const share = tops.filter((_, at) => at % workers === i);
      const names = new Map(share.map((top) => [top, namesInScope(scope, top) ?? new Set<string>()]));
      return await checkShare({ root, scope: names }, (files) => {
        progress[i] = files;
        onProgress(progress.reduce((sum, files) => sum + files, 0));
      });
    }),
  );
  return {
    files: reports.reduce((sum, { files }) => sum + files, 0),
    findings: reports.flatMap(({ findings }) => findings).toSorted(compareFaults),
  };
}

/** More threads than this wait for each other's file system calls. */
const most = 4;

/** A worker takes a fifth of a second to start. */
const foldersWorthAWorker = 100;

interface Share {
  readonly root: string;
  readonly scope: Scope;
}

/** What a worker says: how many files it has looked at, and in the end what it found. */
type Message = { readonly files: number } | { readonly report: CheckReport };

async function checkShare(share: Share, onProgress: (files: number) => void): Promise<CheckReport> {
  return await new Promise((resolve, reject) => {
    const worker = new Worker(new URL(import.meta.url), { workerData: share });
    worker.on('message', (message: Message) => {
      if ('report' in message) resolve(message.report);
      else onProgress(message.files);
    });
    worker.on('error', reject);
  });
}

if (!isMainThread && parentPort) {
  const { root, scope } = workerData as Share;
  const port = parentPort;
  const onProgress = (files: number): void => port.postMessage({ files } satisfies Message);
  const report = await checkCatalogue(folderSource(root), scope, { onProgress });
  port.postMessage({ report } satisfies Message);
}
