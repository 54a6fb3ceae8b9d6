import { relative, sep } from 'node:path';
import { parentPort, workerData } from 'node:worker_threads';
import { watch } from 'chokidar';
import { codeOf, messageOf } from '../system-error.ts';
import { isFolderName } from './layout.ts';

/** What the watching thread tells. */
export type WatcherMessage =
  | { readonly kind: 'hint'; readonly folder: string }
  | { readonly kind: 'ready' }
  | { readonly kind: 'fault'; readonly fault: string };

// Watches the folders in `bots` through chokidar: one inotify watch a folder, none a file. That something changed in
// a folder comes by chokidar's `raw` event, which its documentation leaves open; test/catalogue/watcher.test.ts
// holds it to what is used here.
if (typeof workerData === 'string') watchFrom(workerData);

function watchFrom(bots: string): void {
  const hint = (path: string): void => {
    const [folder = ''] = relative(bots, path).split(sep);
    if (isFolderName(folder)) tell({ kind: 'hint', folder });
  };
  watch(bots, {
    ignoreInitial: true,
    followSymlinks: false,
    depth: 1,
    ignored: (path) => relative(bots, path).includes(sep),
  })
    .on('ready', () => tell({ kind: 'ready' }))
    .on('raw', (_event, name, details) => {
      const watched = watchedPath(details);
      hint(watched === bots && typeof name === 'string' ? `${bots}${sep}${name}` : watched);
    })
    .on('addDir', hint)
    .on('unlinkDir', hint)
    .on('error', (error) => tell({ kind: 'fault', fault: adviceFor(error) }));
}

function tell(message: WatcherMessage): void {
  parentPort?.postMessage(message);
}

function watchedPath(details: unknown): string {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details)) return '';
  return String(details.watchedPath);
}

function adviceFor(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOSPC') return 'the limit of inotify watches is reached: raise fs.inotify.max_user_watches';
  if (code === 'EMFILE') {
    return 'the limit of inotify instances or open files is reached: raise fs.inotify.max_user_instances or ulimit -n';
  }
  return messageOf(error);
}
