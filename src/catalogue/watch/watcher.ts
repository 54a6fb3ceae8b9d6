import { type FSWatcher as FolderWatcher, lstatSync, watch as watchFolder } from 'node:fs';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { codeOf, messageOf } from '../../system-error.ts';
import { isFolderName } from '../page/layout.ts';

/** What a watcher tells. All of it is a hint: something may have changed, go and look. */
export interface WatchListener {
  /** Something may have changed in `bots/<folder>/`; in this file of it, where one is named. */
  onHint(folder: string, name?: string): void;
  /** Something may have come or gone in `bots/` that is no folder of bots. */
  onStray(): void;
  /** Hints may have been lost, or nobody was watching yet: anything may have changed. */
  onMiss(): void;
  /** Why the watcher does not work, one sentence; null once it does. */
  onFault(fault: string | null): void;
}

export interface Watch {
  close(): Promise<void>;
}

/**
 * Watches the folders in `bots`: one inotify watch a folder, none a file. chokidar watches for folders that come and
 * go; the files in one are told by a watch of Node's own, as chokidar reads the whole folder again for each of
 * them. Another folder in the place of `bots` is watched instead of it, and what does not work is tried again.
 */
export function watchFolders(bots: string, listener: WatchListener): Watch {
  let retryAt = Number.POSITIVE_INFINITY;
  const start = (): FolderWatches =>
    new FolderWatches(bots, {
      ...listener,
      onFault: (fault) => {
        if (fault !== null) retryAt = Date.now() + patience;
        listener.onFault(fault);
      },
    });
  let inode = inodeOf(bots);
  let watches = start();
  const guard = setInterval(() => {
    const now = inodeOf(bots);
    if (now === undefined) {
      inode = undefined;
      listener.onFault(`${basename(bots)}/ is gone: put it back`);
    } else if (now !== inode || Date.now() >= retryAt) {
      inode = now;
      retryAt = Number.POSITIVE_INFINITY;
      void watches.close();
      watches = start();
    }
  }, 1000);
  guard.unref();
  return {
    close: async () => {
      clearInterval(guard);
      await watches.close();
    },
  };
}

/** The watches of one `bots`, for as long as it is the same folder. */
class FolderWatches {
  readonly #bots: string;
  readonly #listener: WatchListener;
  readonly #burst: Burst;
  readonly #top: FSWatcher;
  readonly #folders = new Map<string, FolderWatcher>();
  #works = true;

  constructor(bots: string, listener: WatchListener) {
    this.#bots = bots;
    this.#listener = listener;
    this.#burst = new Burst(() => listener.onMiss());
    this.#top = watch(bots, {
      depth: 0,
      followSymlinks: false,
      ignored: (path) => path !== bots && !isFolderName(basename(path)),
    });
    this.#top.on('addDir', (path) => {
      if (!this.#folders.has(basename(path))) this.#follow(basename(path));
    });
    // A folder in the place of another is news to the kernel, and none to chokidar. `raw` tells of it, which chokidar's
    // documentation leaves open: test/catalogue/watcher.test.ts holds it to what is used here.
    this.#top.on('raw', (_, name) => {
      if (typeof name === 'string') this.#hintAtFolder(name);
    });
    this.#top.on('error', (error) => this.#fail(error));
    this.#top.on('ready', () => {
      if (this.#works) listener.onFault(null);
      listener.onMiss();
    });
  }

  async close(): Promise<void> {
    this.#burst.close();
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#top.close();
  }

  /** Watches the folder that has this name now. What was written there before is found by a look at it. */
  #follow(name: string): void {
    this.#folders.get(name)?.close();
    this.#folders.delete(name);
    const isThere = isFolderName(name) && inodeOf(join(this.#bots, name)) !== undefined;
    if (this.#top.closed || !isThere) return;
    try {
      const watcher = watchFolder(join(this.#bots, name), (event, file) => {
        this.#burst.count();
        const isItself = event === 'rename' && file === name;
        if (isItself) this.#hintAtFolder(name);
        else this.#listener.onHint(name, file ?? undefined);
      });
      watcher.on('error', (error) => this.#fail(error));
      this.#folders.set(name, watcher);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#fail(error);
    }
  }

  #hintAtFolder(name: string): void {
    this.#follow(name);
    this.#burst.count();
    if (isFolderName(name)) this.#listener.onHint(name);
    else this.#listener.onStray();
  }

  #fail(error: unknown): void {
    this.#works = false;
    this.#listener.onFault(adviceFor(error));
  }
}

/** Milliseconds after which a watcher that does not work is started again. */
const patience = 5000;

function inodeOf(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? stat.ino : undefined;
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
const thick = 8000;
