import { Worker } from 'node:worker_threads';
import { messageOf } from '../system-error.ts';

/** What a watcher tells. All of it is a hint: something may have changed, go and look. */
export interface WatchListener {
  /** Something may have changed in `bots/<folder>/`. */
  onHint(folder: string): void;
  /** Hints may have been lost, or nobody was watching yet: anything may have changed. */
  onMiss(): void;
  /** Why the watcher does not work, one sentence; null once it does. */
  onFault(fault: string | null): void;
}

export interface Watch {
  close(): Promise<void>;
}

/** A call of the listener, on its way from the watching thread. */
export type WatcherMessage =
  | { readonly kind: 'hint'; readonly folder: string }
  | { readonly kind: 'miss' }
  | { readonly kind: 'fault'; readonly fault: string | null };

/**
 * Watches the folders in `bots`. chokidar does it (folder-watch.ts), in a thread of its own: its walk over a large
 * catalogue takes seconds and hundreds of megabytes, which no read shall wait for.
 */
export function watchFolders(bots: string, listener: WatchListener): Watch {
  const thread = new Worker(new URL('watcher-thread.js', import.meta.url), {
    workerData: bots,
    resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 },
  });
  thread.unref();
  thread.on('message', (message: WatcherMessage) => {
    switch (message.kind) {
      case 'hint':
        listener.onHint(message.folder);
        break;
      case 'miss':
        listener.onMiss();
        break;
      case 'fault':
        listener.onFault(message.fault);
        break;
    }
  });
  thread.on('error', (error) => listener.onFault(`the watching thread has failed: ${messageOf(error)}`));
  let closing = false;
  thread.on('exit', () => {
    if (!closing) listener.onFault('the watching thread has ended: restart the service to watch again');
  });
  return {
    close: async () => {
      closing = true;
      await thread.terminate();
    },
  };
}
