import { parentPort, workerData } from 'node:worker_threads';
import { watchWithChokidar } from './folder-watch.ts';
import type { WatcherMessage } from './watcher.ts';

watchWithChokidar(String(workerData), {
  onHint: (folder) => tell({ kind: 'hint', folder }),
  onMiss: () => tell({ kind: 'miss' }),
  onFault: (fault) => tell({ kind: 'fault', fault }),
});

function tell(message: WatcherMessage): void {
  parentPort?.postMessage(message);
}
