import { type FSWatcher as FolderWatcher, lstatSync, watch as watchFolder } from 'node:fs';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { codeOf, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';

/** Receives the hints of a watcher. A hint says that something may have changed. */
export interface WatchListener {
  /** Something may have changed in a watched folder: in the file `name`, or in any file. `child` is empty for the top. */
  onHint(child: string, name?: string): void;
  /** Anything may have changed: hints may have been lost, or the watches have just begun. */
  onMiss(): void;
}

/**
 * Watches a folder and some of the folders in it, with one inotify watch for each folder and none for files. chokidar
 * reports folders that come and go; a watch of Node's own reports the files in each, as chokidar would read the whole folder
 * again for every file. When another folder takes the place of the top, that one is watched; a watcher that fails is
 * started again.
 */
export class Watcher {
  readonly #top: string;
  readonly #isChild: (name: string) => boolean;
  readonly #log: Log;
  readonly #listener: WatchListener;
  readonly #folders = new Map<string, FolderWatcher>();
  #topWatcher: FSWatcher | undefined;
  #guard: NodeJS.Timeout | undefined;
  #fault: string | null = 'the watcher has not started yet';
  /** Which folder the watched top is. */
  #identity: string | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  /** Hints of this second. */
  #hints = 0;

  /** @param isChild whether a folder of this name in `top` is watched, too */
  constructor(top: string, isChild: (name: string) => boolean, log: Log, listener: WatchListener) {
    this.#top = top;
    this.#isChild = isChild;
    this.#log = log;
    this.#listener = listener;
  }

  /** One sentence on why the watcher does not work; null if it does. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Whether so many hints come that a checkout or a merge is in progress. */
  get isBusy(): boolean {
    return this.#hints > busyHintsPerSecond;
  }

  start(): void {
    this.#watchAll();
    this.#guard = setInterval(() => this.#check(), 1000).unref();
  }

  async close(): Promise<void> {
    clearInterval(this.#guard);
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    await this.#topWatcher?.close();
  }

  /** Watches the top where it is not watched, and reports hints that may be lost. */
  #check(): void {
    if (this.#hints >= maxHintsPerSecond) this.#listener.onMiss();
    this.#hints = 0;
    const identity = readFolderIdentity(this.#top);
    if (identity === undefined) {
      // The listener says that it is gone, or makes it again.
      this.#identity = undefined;
      this.#listener.onMiss();
    } else if (identity !== this.#identity || Date.now() >= this.#retryAt) {
      void this.#topWatcher?.close();
      this.#watchAll();
    }
  }

  /** Watches the folder that the top is now, in place of the one before. */
  #watchAll(): void {
    for (const watcher of this.#folders.values()) watcher.close();
    this.#folders.clear();
    this.#identity = readFolderIdentity(this.#top);
    this.#retryAt = Number.POSITIVE_INFINITY;
    const watcher = watch(this.#top, {
      depth: 0,
      followSymlinks: false,
      ignored: (path) => path !== this.#top && !this.#isChild(basename(path)),
    });
    this.#topWatcher = watcher;
    watcher.on('addDir', (path) => {
      if (!this.#folders.has(basename(path))) this.#follow(basename(path));
    });
    // The kernel reports a folder in the place of another, and files, chokidar does not. Its `raw` event has it, which
    // chokidar does not document: test/catalogue/store/watcher.test.ts tests what is used here.
    watcher.on('raw', (_, name) => {
      if (typeof name === 'string') this.#hintAtTop(name);
    });
    watcher.on('error', (error) => this.#fail(error));
    watcher.on('ready', () => {
      if (this.#retryAt === Number.POSITIVE_INFINITY) this.#setFault(null);
      this.#listener.onMiss();
    });
  }

  /** Watches the folder that has this name now. A scan of it finds what was written there before. */
  #follow(name: string): void {
    this.#folders.get(name)?.close();
    this.#folders.delete(name);
    const isThere = this.#isChild(name) && readFolderIdentity(join(this.#top, name)) !== undefined;
    if (!isThere) return;
    try {
      const watcher = watchFolder(join(this.#top, name), (event, file) => {
        this.#hints += 1;
        const isItself = event === 'rename' && file === name;
        if (isItself) this.#hintAtTop(name);
        else this.#listener.onHint(name, file ?? undefined);
      });
      watcher.on('error', (error) => this.#fail(error));
      this.#folders.set(name, watcher);
    } catch (error) {
      if (codeOf(error) !== 'ENOENT') this.#fail(error);
    }
  }

  #hintAtTop(name: string): void {
    this.#hints += 1;
    if (!this.#isChild(name)) return this.#listener.onHint('', name);
    this.#follow(name);
    this.#listener.onHint(name);
    // Something else may have its name.
    this.#listener.onHint('');
  }

  #fail(error: unknown): void {
    this.#retryAt = Date.now() + retryDelayMs;
    this.#setFault(describeWatchError(error));
  }

  #setFault(fault: string | null): void {
    if (fault !== null && fault !== this.#fault)
      this.#log.warn(
        { fault },
        'the watcher does not work: changes are found later, by scans of all folders; retrying',
      );
    this.#fault = fault;
  }
}

/** Milliseconds after which a watcher that does not work is started again. */
const retryDelayMs = 5000;

/**
 * The kernel's queue overflows without notice: with half of the 16,384 events that it holds by default, some may be
 * missing. One save is three of them.
 */
const maxHintsPerSecond = 8000;

/** A file that is put in the place of another is one hint, a save is three. */
const busyHintsPerSecond = 60;

/** Returns which folder is at a path; undefined if there is none. The next folder often gets the inode of a removed one. */
function readFolderIdentity(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isDirectory() ? `${stat.ino} ${stat.birthtimeMs}` : undefined;
  } catch {
    // A look at it reports why nothing above it can be read.
    return undefined;
  }
}

function describeWatchError(error: unknown): string {
  const code = codeOf(error);
  if (code === 'ENOSPC') return 'the limit of inotify watches is reached: raise fs.inotify.max_user_watches';
  if (code === 'EMFILE')
    return 'the limit of inotify instances or open files is reached: raise fs.inotify.max_user_instances or ulimit -n';
  return messageOf(error);
}
