import { Worker } from 'node:worker_threads';
import { messageOf } from '../system-error.ts';
import type { WatcherMessage } from './watcher-thread.ts';

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

/**
 * Watches the folders in `bots`. chokidar does it in a thread of its own: its walk over a large catalogue takes
 * seconds and hundreds of megabytes, which no read shall wait for.
 */
export function watchFolders(bots: string, listener: WatchListener): Watch {
  const burst = new Burst(() => listener.onMiss());
  const worker = new Worker(new URL('watcher-thread.js', import.meta.url), {
    workerData: bots,
    resourceLimits: { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16 },
  });
  worker.unref();
  let faulty = false;
  worker.on('message', (message: WatcherMessage) => {
    switch (message.kind) {
      case 'hint':
        burst.count();
        listener.onHint(message.folder);
        break;
      case 'ready':
        if (!faulty) listener.onFault(null);
        listener.onMiss();
        break;
      case 'fault':
        faulty = true;
        listener.onFault(message.fault);
        break;
    }
  });
  worker.on('error', (error) => listener.onFault(`the watching thread has ended: ${messageOf(error)}`));
  return {
    close: async () => {
      burst.close();
      await worker.terminate();
    },
  };
}

/** The kernel's queue overflows in silence. Where hints came thick and fast, some may be missing. */
class Burst {
  readonly #over: () => void;
  #hints = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(over: () => void) {
    this.#over = over;
  }

  count(): void {
    this.#hints += 1;
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#hints >= thick) this.#over();
      this.#hints = 0;
    }, 1000);
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

/** The kernel queues 16,384 events by default; one save is three of them. */
const thick = 2000;
