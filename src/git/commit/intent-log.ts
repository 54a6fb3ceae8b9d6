import { type FileHandle, mkdir, open, readFile, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeUnfinishedWrites, writeAtomically } from '../../disk/atomic-write.ts';
import { fsyncFiles } from '../../disk/fsync.ts';
import { codeOf } from '../../system-error.ts';
import type { Repository } from '../repository.ts';
import type { FileChange } from '../file-change.ts';

/**
 * The write-ahead log of index and work tree: which files are about to change, on disk before the branch moves. After a
 * crash it names exactly the paths to update to the tip. One line of JSON for each batch. For one caller at a time.
 */
export class IntentLog {
  readonly #path: string;
  readonly #top: string;
  #file: FileHandle | undefined;
  /** Bytes of whole lines. */
  #size = 0;
  /** Whether something may follow the last whole line. */
  #torn = true;
  /** Appended changes whose files may not be durable in the work tree. */
  #changes: FileChange[] = [];

  constructor({ gitDir, folder }: Pick<Repository, 'gitDir' | 'folder'>) {
    this.#path = join(gitDir, 'botshelf/intents');
    this.#top = folder;
  }

  /**
   * Returns what a crash left. Call it once, before the first append. A torn line was never acted on.
   * @throws a system error
   */
  async read(): Promise<FileChange[]> {
    // Not recursive: that reports a read-only file system as a folder that is missing.
    await mkdir(dirname(this.#path)).catch((error: unknown) => {
      if (codeOf(error) !== 'EEXIST') throw error;
    });
    await removeUnfinishedWrites(dirname(this.#path));
    this.#file = await open(this.#path, 'a+');
    const text = await readFile(this.#path);
    this.#size = text.lastIndexOf('\n') + 1;
    return text.toString('utf8', 0, this.#size).split('\n').flatMap(parseLine);
  }

  /** Appends a batch durably. @throws a system error: then the branch must not move */
  async append(changes: readonly FileChange[]): Promise<void> {
    const file = (this.#file ??= await open(this.#path, 'a'));
    const entries = changes.map(({ path, before, after }) => ({ path, before, after }));
    const line = Buffer.from(`${JSON.stringify(entries)}\n`);
    // A full disk may have left a part of a line, which would corrupt the next one.
    if (this.#torn) await truncate(this.#path, this.#size);
    this.#torn = true;
    await file.appendFile(line);
    await file.datasync();
    this.#torn = false;
    this.#size += line.length;
    this.#changes.push(...entries);
  }

  /** Makes the files of the appended changes durable, and returns how many changes. @throws a system error */
  async syncFiles(): Promise<number> {
    const changes = [...this.#changes];
    await fsyncFiles([...new Set(changes.map(({ path }) => join(this.#top, path)))]);
    return changes.length;
  }

  /** Rewrites the log without the oldest `synced` changes, but with those in `keep`. @throws a system error */
  async shorten(synced: number, keep: readonly FileChange[]): Promise<void> {
    const changes = this.#changes.slice(synced);
    const text = [keep, changes]
      .map((entries) => (entries.length > 0 ? `${JSON.stringify(entries)}\n` : ''))
      .join('');
    await this.close();
    await writeAtomically(this.#path, text, { fsync: 'content and name' });
    this.#size = Buffer.byteLength(text);
    this.#torn = false;
    this.#changes = changes;
  }

  async close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }
}

function parseLine(line: string): FileChange[] {
  try {
    return JSON.parse(line) as FileChange[];
  } catch {
    return [];
  }
}
