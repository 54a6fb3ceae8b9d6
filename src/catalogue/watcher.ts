import { relative, sep } from 'node:path';
import { watch } from 'chokidar';
import { codeOf, messageOf } from '../system-error.ts';

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
 * Watches the folders in `bots` through chokidar: one inotify watch a folder, none a file. The names of the
 * files that changed come by chokidar's `raw` event, which its documentation leaves open; test/catalogue/watcher.test.ts
 * holds it to what is used here.
 */
export function watchFolders(bots: string, listener: WatchListener): Watch {
  const watcher = watch(bots, {
    ignoreInitial: true,
    followSymlinks: false,
    depth: 1,
    ignored: (path) => relative(bots, path).includes(sep),
  });
  const burst = new Burst(() => listener.onMiss());
  const hint = (path: string): void => {
    const [folder = ''] = relative(bots, path).split(sep);
    burst.count();
    if (/^\d{3}$/.test(folder)) listener.onHint(folder);
  };
  watcher.on('ready', () => {
    listener.onFault(null);
    listener.onMiss();
  });
  watcher.on('raw', (_event, name, details) => {
    const watched = watchedPath(details);
    if (watched === bots && typeof name === 'string') hint(`${bots}${sep}${name}`);
    else hint(watched);
  });
  watcher.on('addDir', hint);
  watcher.on('unlinkDir', hint);
  watcher.on('error', (error) => {
    listener.onFault(adviceFor(error));
  });
  return {
    close: async () => {
      burst.close();
      await watcher.close();
    },
  };
}

function watchedPath(details: unknown): string {
  if (typeof details !== 'object' || details === null || !('watchedPath' in details)) return '';
  return String(details.watchedPath);
}

function adviceFor(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOSPC') return 'the limit of inotify watches is reached: raise fs.inotify.max_user_watches';
  if (code === 'EMFILE')
    return 'the limit of inotify instances or open files is reached: raise fs.inotify.max_user_instances or ulimit -n';
  return messageOf(error);
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
