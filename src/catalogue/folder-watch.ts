import { lstatSync } from 'node:fs';
import { basename, relative, sep } from 'node:path';
import { type FSWatcher, watch } from 'chokidar';
import { Agenda } from './agenda.ts';
import { isFolderName } from './layout.ts';
import { codeOf, messageOf } from '../system-error.ts';
import type { Watch, WatchListener } from './watcher.ts';

/**
 * Watches the folders in `bots` through chokidar: one inotify watch a folder, none a file. The names of the
 * files that changed come by chokidar's `raw` event, which its documentation leaves open; test/catalogue/watcher.test.ts
 * holds it to what is used here. A folder that takes the place of another is watched instead of it, `bots`
 * itself too.
 */
export function watchWithChokidar(bots: string, listener: WatchListener): Watch {
  const burst = new Burst(() => listener.onMiss());
  const added = new Agenda((path) => listener.onHint(basename(path)));
  const replaced = new Agenda((path) => {
    if (path === bots) return listener.onMiss();
    if (inodeOf(path) === undefined) return;
    chokidar.unwatch(path);
    chokidar.add(path);
    replaced.add(bots, settling);
  });
  const onReplaced = (path: string): void => {
    if (path === bots) inode = undefined;
    else replaced.add(path, settling);
  };
  const onAdded = (path: string): void => {
    if (isFolderName(basename(path))) added.add(path, settling);
  };
  let inode = inodeOf(bots);
  let chokidar = start(bots, listener, burst, onReplaced, onAdded);
  const guard = setInterval(() => {
    const now = inodeOf(bots);
    if (now === undefined) {
      inode = undefined;
      listener.onFault(`${basename(bots)}/ is gone: put it back`);
    } else if (now !== inode) {
      inode = now;
      void chokidar.close();
      chokidar = start(bots, listener, burst, onReplaced, onAdded);
    }
  }, 1000);
  guard.unref();
  return {
    close: async () => {
      clearInterval(guard);
      added.close();
      replaced.close();
      burst.close();
      await chokidar.close();
    },
  };
}

/**
 * @param onReplaced told of a watched folder that was moved or removed: another may be in its place
 * @param onAdded told of a new folder: chokidar watches it only in a moment, what is written until then goes untold
 */
function start(
  bots: string,
  listener: WatchListener,
  burst: Burst,
  onReplaced: (path: string) => void,
  onAdded: (path: string) => void,
): FSWatcher {
  let works = true;
  const watcher = watch(bots, {
    ignoreInitial: true,
    followSymlinks: false,
    depth: 1,
    ignored: (path) => relative(bots, path).includes(sep),
  });
  const hint = (path: string): void => {
    const [folder = ''] = relative(bots, path).split(sep);
    burst.count();
    if (isFolderName(folder)) listener.onHint(folder);
  };
  watcher.on('ready', () => {
    if (works) listener.onFault(null);
    listener.onMiss();
  });
  watcher.on('raw', (event, name, details) => {
    const watched = watchedPath(details);
    if (event === 'rename' && name === basename(watched)) onReplaced(watched);
    if (watched === bots && typeof name === 'string') hint(`${bots}${sep}${name}`);
    else hint(watched);
  });
  watcher.on('addDir', (path) => {
    hint(path);
    onAdded(path);
  });
  watcher.on('unlinkDir', hint);
  watcher.on('error', (error) => {
    works = false;
    listener.onFault(adviceFor(error));
  });
  return watcher;
}

function inodeOf(path: string): number | undefined {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  return stat?.isDirectory() ? stat.ino : undefined;
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

/** Milliseconds that chokidar gets to notice a new folder. */
const settling = 100;
