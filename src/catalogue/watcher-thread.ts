import { parentPort, workerData } from 'node:worker_threads';
import { watchWithChokidar } from './folder-watch.ts';
import type { WatcherMessage } from './watcher.ts';

watchWithChokidar(String(workerData), {
  onHint: (folder) => tell({ kind: 'hint', folder }),
  onMiss: () => tell({ kind: 'miss' }),
  onFault: (fault) => tell({ kind: 'fault', fault }),
});

// Where nothing can be watched any more the thread stays, to watch what comes in its place.
parentPort?.on('message', () => {});

function tell(message: WatcherMessage): void {
  parentPort?.postMessage(message);
}
