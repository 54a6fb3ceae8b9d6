import { setTimeout as sleep } from 'node:timers/promises';
import { forEachInSlices } from '../../lib/in-slices.ts';
import type { Log } from '../../lib/log.ts';
import { messageOf } from '../../lib/errors.ts';
import { listTopEntries } from './folder.ts';
import { createFileFault } from '../page/fault.ts';
import { botsFolder, isFolderName, strayMessage } from '../page/layout.ts';
import type { FaultList } from './fault-list.ts';
import type { Scanner } from './scanner.ts';
import { type Watch, watchFolders } from './watcher.ts';

export interface CatalogueWatchOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  readonly scanner: Pick<Scanner, 'scan' | 'schedule' | 'folders'>;
  readonly faults: FaultList;
  readonly log: Log;
  /** The time for a round over all folders while the watcher works; a tenth of it while it does not. */
  readonly roundSeconds: number;
  /** Ends the rounds, and other work on all folders. */
  readonly signal: AbortSignal;
  /** Called after each round. */
  onRound(): Promise<void>;
}

/** Scans a catalogue on the hints of the watcher, and in rounds over all folders that find what no hint reported. */
export class CatalogueWatch {
  readonly #options: CatalogueWatchOptions;
  #watch: Watch | undefined;
  #watcherFault: string | null = 'the watcher has not started yet';
  #folderFault: string | null = null;

  constructor(options: CatalogueWatchOptions) {
    this.#options = options;
  }

  /** Why only rounds over all folders find changes; null where the watcher works. */
  get watcherFault(): string | null {
    return this.#watcherFault;
  }

  /** Why `bots/` cannot be read; null where it can. */
  get folderFault(): string | null {
    return this.#folderFault;
  }

  /** Starts the watcher and the rounds. */
  start(): void {
    const { root, scanner } = this.#options;
    this.#watch = watchFolders(`${root}/${botsFolder}`, {
      onHint: (folder, name) => scanner.schedule(folder, name, hintDelayMs),
      onStray: () => void this.folders(),
      onMiss: () => void this.forEachFolder((folder) => scanner.scan(folder)),
      onFault: (fault) => this.#noteWatcher(fault),
    });
    void this.#goRound();
  }

  async close(): Promise<void> {
    await this.#watch?.close();
  }

  /** Returns the folders on disk and those that were there before; reports anything else in `bots/` as a fault. */
  folders(): Set<string> {
    const { root, scanner, faults } = this.#options;
    try {
      const entries = listTopEntries(root);
      this.setFolderError(null);
      const strays = entries
        .filter((entry) => !isFolderName(entry.name) || !entry.isDirectory())
        .map(({ name }) => `${botsFolder}/${name}`);
      for (const path of faults.keys())
        if (isTopPath(path) && !strays.includes(path)) faults.report(path, []);
      for (const path of strays) faults.report(path, [createFileFault(path, 'stray-file', strayMessage)]);
      return new Set([...scanner.folders(), ...entries.map(({ name }) => name).filter(isFolderName)]);
    } catch (error) {
      this.setFolderError(error);
      return new Set();
    }
  }

  /** Does something with every folder that exists or existed, in slices of time. */
  async forEachFolder(work: (folder: string) => void): Promise<void> {
    await forEachInSlices(this.folders(), work, 'service', this.#options.signal);
  }

  /** Sets why `bots/` cannot be read, and logs it; null when it can. */
  setFolderError(error: unknown): void {
    const fault = error === null ? null : `${botsFolder}/ cannot be read: ${messageOf(error)}`;
    if (fault !== null && fault !== this.#folderFault) {
      this.#options.log.error({ fault }, 'cannot read the catalogue: the bots that were served stay served');
    }
    this.#folderFault = fault;
  }

  #noteWatcher(fault: string | null): void {
    if (fault !== null && fault !== this.#watcherFault) {
      this.#options.log.warn(
        { fault },
        'the watcher does not work: only rounds over all folders find changes',
      );
    }
    this.#watcherFault = fault;
  }

  /** Scans one folder after the other until the catalogue closes. */
  async #goRound(): Promise<void> {
    const { scanner, roundSeconds, signal } = this.#options;
    const round = roundSeconds * 1000;
    while (!signal.aborted) {
      const folders = [...this.folders(), undefined];
      for (const folder of folders) {
        const time = this.#watcherFault === null ? round : round / 10;
        await sleep(time / folders.length, undefined, { ref: false, signal }).catch(() => {});
        if (signal.aborted) return;
        if (folder !== undefined) scanner.scan(folder);
      }
      await this.#options.onRound();
    }
  }
}

/** Milliseconds that a hint waits for others: one save makes two or three. */
const hintDelayMs = 5;

function isTopPath(key: string): boolean {
  return key.startsWith(`${botsFolder}/`) && key.split('/').length === 2;
}
