import { type FSWatcher as FolderWatcher, lstatSync, watch as watchFolder } from 'node:fs';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { codeOf, messageOf } from '../../lib/errors.ts';
import { isFolderName } from '../page/layout.ts';

/** Receives the hints of a watcher. A hint says that something may have changed. */
export interface WatchListener {
  /** Something may have changed in `bots/<folder>/`; in this file of it, where one is named. */
  onHint(folder: string, name?: string): void;
  /** Something that is no folder of bots may have appeared in `bots/`, or disappeared from it. */
  onStray(): void;
  /** Anything may have changed: hints may have been lost, or the watches have just begun. */
  onMiss(): void;
  /** Receives one sentence on why the watcher does not work; null once it works. */
  onFault(fault: string | null): void;
}

export interface Watch {
  close(): Promise<void>;
}

/**
 * Watches the folders in `bots`, with one inotify watch for each folder and none for files. chokidar reports folders
 * that come and go; a watch of Node's own reports the files in each, as chokidar would read the whole folder again for
 * every file. When another folder takes the place of `bots`, that one is watched; a watcher that fails is started
 * again.
 */
export function watchFolders(bots: string, listener: WatchListener): Watch {
  let retryAt = Number.POSITIVE_INFINITY;
  const start = (): FolderWatches =>
    new FolderWatches(bots, {
      ...listener,
      onFault: (fault) => {
        if (fault !== null) retryAt = Date.now() + retryDelay;
        listener.onFault(fault);
      },
    });
  let inode = readFolderInode(bots);
  let watches = start();
  const guard = setInterval(() => {
    const now = readFolderInode(bots);
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
  readonly #hints: HintCounter;
  readonly #top: FSWatcher;
  readonly #folders = new Map<string, FolderWatcher>();
  #isWorking = true;

  constructor(bots: string, listener: WatchListener) {
    this.#bots = bots;
    this.#listener = listener;
    this.#hints = new HintCounter(() => listener.onMiss());
    this.#top = watch(bots, {
      depth: 0,
      followSymlinks: false,
      ignored: (path) => path !== bots && !isFolderName(basename(path)),
    });
    this.#top.on('addDir', (path) => {
      if (!this.#folders.has(basename(path))) this.#follow(basename(path));
    });
    // The kernel reports a folder in the place of another, chokidar does not. Its `raw` event has it, which chokidar does
    // not document: test/catalogue/store/watcher.test.ts tests what is used here.
    this.#top.on('raw', (_, name) => {
      if (typeof name === 'string') this.#hintAtFolder(name);
    });
    this.#top.on('error', (error) => this.#fail(error));
    this.#top.on('ready', () => {
      if (this.#isWorking) listener.onFault(null);
      listener.onMiss();
    });
  }

  async close(): Promise<void> {
    this.#hints.close();
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#top.close();
  }

  /** Watches the folder that has this name now. A scan of it finds what was written there before. */
  #follow(name: string): void {
    this.#folders.get(name)?.close();
    this.#folders.delete(name);
    const isThere = isFolderName(name) && readFolderInode(join(this.#bots, name)) !== undefined;
    if (this.#top.closed || !isThere) return;
    try {
      const watcher = watchFolder(join(this.#bots, name), (event, file) => {
        this.#hints.add();
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
    this.#hints.add();
    if (isFolderName(name)) this.#listener.onHint(name);
    else this.#listener.onStray();
  }

  #fail(error: unknown): void {
    this.#isWorking = false;
    this.#listener.onFault(describeWatchError(error));
  }
}

/** Milliseconds after which a watcher that does not work is started again. */
const retryDelay = 5000;

function readFolderInode(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? stat.ino : undefined;
}

function describeWatchError(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOSPC') return 'the limit of inotify watches is reached: raise fs.inotify.max_user_watches';
  if (code === 'EMFILE')
    return 'the limit of inotify instances or open files is reached: raise fs.inotify.max_user_instances or ulimit -n';
  return messageOf(error);
}

/** Counts hints: the kernel's queue overflows without notice, so among very many some may be missing. */
class HintCounter {
  readonly #onOverflow: () => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(onOverflow: () => void) {
    this.#onOverflow = onOverflow;
  }

  add(): void {
    this.#count += 1;
    if (this.#timer) return;
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      if (this.#count >= maxEvents) this.#onOverflow();
      this.#count = 0;
    }, 1000);
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
  }
}

/** The kernel queues 16,384 events by default; one save is three of them. */
const maxEvents = 8000;
