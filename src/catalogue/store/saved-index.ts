import { existsSync } from 'node:fs';
import type { Log } from '../../lib/log.ts';
import { readFingerprints } from './folder-reader.ts';
import { readSnapshot, writeSnapshot } from './snapshot.ts';
import type { PageLimits } from '../page/rules.ts';
import type { Scanner } from './scanner.ts';

/** The snapshot of the index that one run leaves for the next. */
export class SavedIndex {
  readonly #path: string | null;
  readonly #root: string;
  readonly #scanner: Scanner;
  readonly #log: Log;
  /** The version of the index that the snapshot has. */
  #version = 0;

  /** @param path the file of the snapshot; null for none */
  constructor(path: string | null, root: string, scanner: Scanner, log: Log) {
    this.#path = path;
    this.#root = root;
    this.#scanner = scanner;
    this.#log = log;
  }

  /**
   * Restores the index from the snapshot, where there is one whose records fit `limits`.
   * @returns the folders that are as they were when it was written, so that the others must be scanned; undefined when
   * nothing was restored
   */
  async restore(limits: PageLimits): Promise<ReadonlySet<string> | undefined> {
    if (this.#path === null || !existsSync(this.#path)) return undefined;
    const looking = readFingerprints(this.#root);
    looking.catch(() => {});
    const kept = await readSnapshot(this.#path, limits);
    if (kept === undefined) return undefined;
    for (const folder of kept) this.#scanner.restore(folder);
    this.#version = this.#scanner.bots.version;
    const fingerprints = await looking;
    return new Set(
      kept
        .filter(({ folder, fingerprint }) => fingerprint === fingerprints.get(folder))
        .map(({ folder }) => folder),
    );
  }

  /** Whether a start with the snapshot would have to read more than one bot in a hundred. */
  get isStale(): boolean {
    const { version, size } = this.#scanner.bots;
    return version - this.#version > size / 100;
  }

  /** Makes the snapshot stale, as a start with other limits does not use it. */
  invalidate(): void {
    this.#version = Number.NEGATIVE_INFINITY;
  }

  /** Writes the snapshot. A failure is logged, and the next start takes some seconds longer. */
  async save(limits: PageLimits): Promise<void> {
    if (this.#path === null) return;
    this.#version = this.#scanner.bots.version;
    try {
      await writeSnapshot(this.#path, this.#scanner.snapshot(), limits);
    } catch (error) {
      const fields = { err: error, snapshot: this.#path };
      this.#log.warn(fields, 'could not save the index: the next start reads every file');
    }
  }
}
