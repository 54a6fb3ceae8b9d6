import { type FSWatcher as FolderWatcher, lstatSync, watch as watchFolder } from 'node:fs';
import { basename, join } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { codeOf, messageOf } from '../../lib/errors.ts';
import type { Log } from '../../lib/log.ts';

/** Receives the hints of a watcher. A hint says that something may have changed. */
interface WatchListener {
  /** A file in a watched folder may have changed; without `name`, any file in it. `child` is empty for the top. */
  onHint(child: string, name?: string): void;
  /** Anything may have changed, because hints were lost or the watches have just begun. */
  onMiss(): void;
}

/**
 * Watches a folder and some of its subfolders, with one inotify watch for each folder and none for files. chokidar
 * reports folders that come and go. Node's own watch reports the files in each, because chokidar would read the whole
 * folder again for every file. A replaced top is watched again, and a failed watcher is restarted.
 */
export class Watcher {
  readonly #top: string;
  readonly #isChild: (name: string) => boolean;
  readonly #log: Log;
  readonly #listener: WatchListener;
  readonly #folders = new Map<string, FolderWatcher>();
  #topWatcher: FSWatcher | undefined;
  #guard: NodeJS.Timeout | undefined;
  /** The reason why the watcher does not work, in one sentence; null if it works. */
  fault: string | null = 'the watcher has not started yet';
  /** Identifies the folder that is watched as the top. */
  #identity: string | undefined;
  #retryAt = Number.POSITIVE_INFINITY;
  /** Hints in the current second. */
  #hints = 0;

  /** @param isChild whether a subfolder of this name is watched */
  constructor(top: string, isChild: (name: string) => boolean, log: Log, listener: WatchListener) {
    this.#top = top;
    this.#isChild = isChild;
    this.#log = log;
    this.#listener = listener;
  }

  /** Whether there are so many hints that a checkout or a merge must be in progress. */
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

  /** Watches the top if it is not watched, and reports lost hints. */
  #check(): void {
    if (this.#hints >= maxHintsPerSecond) this.#listener.onMiss();
    this.#hints = 0;
    const identity = readFolderIdentity(this.#top);
    if (identity === undefined) {
      // The listener reports the missing folder, or creates it.
      this.#identity = undefined;
      this.#listener.onMiss();
    } else if (identity !== this.#identity || Date.now() >= this.#retryAt) {
      void this.#topWatcher?.close();
      this.#watchAll();
    }
  }

  /** Watches the current top and its subfolders. */
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
    // chokidar does not report files, nor a folder that replaces another. Its undocumented `raw` event does:
    // test/catalogue/store/catalogue-changes.test.ts tests it.
    watcher.on('raw', (_, name) => {
      if (typeof name === 'string') this.#hintAtTop(name);
    });
    watcher.on('error', (error) => this.#fail(error));
    watcher.on('ready', () => {
      if (this.#retryAt === Number.POSITIVE_INFINITY) this.#setFault(null);
      this.#listener.onMiss();
    });
  }

  /** Watches the subfolder with this name. A scan finds files that were written before. */
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
    // A file may have replaced the folder.
    this.#listener.onHint('');
  }

  #fail(error: unknown): void {
    this.#retryAt = Date.now() + retryDelayMs;
    this.#setFault(describeWatchError(error));
  }

  #setFault(fault: string | null): void {
    if (fault !== null && fault !== this.fault)
      this.#log.warn(
        { fault },
        'the watcher does not work: changes are found later, by scans of all folders; retrying',
      );
    this.fault = fault;
  }
}

/** Milliseconds until a failed watcher is restarted. */
const retryDelayMs = 5000;

/**
 * Above this, hints may be lost: the kernel's queue holds 16,384 events by default and overflows without notice. A
 * save is three events.
 */
const maxHintsPerSecond = 8000;

/** A replaced file is one hint, a save three. */
const busyHintsPerSecond = 60;

/**
 * Identifies the folder at a path; undefined if it does not exist. Includes the birth time, because a new folder often
 * gets the inode of a removed one.
 */
function readFolderIdentity(path: string): string | undefined {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat?.isDirectory() ? `${stat.ino} ${stat.birthtimeMs}` : undefined;
  } catch {
    // A scan of the folder reports why it cannot be read.
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
