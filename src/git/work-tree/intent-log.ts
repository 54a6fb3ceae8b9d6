import { type FileHandle, open, readFile, truncate } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { removeUnfinishedWrites, writeAtomically } from '../../lib/atomic-write.ts';
import { listFoldersUpTo, fsyncFiles, fsyncFolder, fsyncFolders, makeFolder } from '../../lib/fsync.ts';
import type { Repository } from '../repository.ts';
import type { FileChange } from '../diff.ts';

/**
 * The write-ahead log of index and work tree: which files are about to change, on disk before the branch moves. After a
 * crash it names exactly the paths to update to the tip. One line of JSON for each batch. For one caller at a time.
 */
export class IntentLog {
  readonly #path: string;
  readonly #gitDir: string;
  readonly #top: string;
  #file: FileHandle | undefined;
  /** Bytes of whole lines. */
  #size = 0;
  /** Whether something may follow the last whole line. */
  #torn = true;
  /** What the log has: changes whose files may not be durable in the work tree. */
  #changes: FileChange[] = [];

  constructor({ gitDir, folder }: Pick<Repository, 'gitDir' | 'folder'>) {
    this.#path = join(gitDir, 'botshelf/intents');
    this.#gitDir = gitDir;
    this.#top = folder;
  }

  /**
   * Returns what a crash left. Call it once, before the first append. A torn line was never acted on.
   * @throws a system error
   */
  async read(): Promise<FileChange[]> {
    const folder = dirname(this.#path);
    await makeFolder(folder);
    await removeUnfinishedWrites(folder);
    this.#file = await open(this.#path, 'a+');
    await fsyncFolder(folder);
    const text = await readFile(this.#path);
    this.#size = text.lastIndexOf('\n') + 1;
    this.#changes = text.toString('utf8', 0, this.#size).split('\n').flatMap(parseLine);
    return this.changes();
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
    // Not as arguments of one call: an import has more files than fit on the stack.
    for (const entry of entries) this.#changes.push(entry);
  }

  /** Returns the changes that the log has. */
  changes(): FileChange[] {
    return [...this.#changes];
  }

  /** Makes the files of these changes durable, as they are now, and the index. @throws a system error */
  async syncFiles(changes: readonly FileChange[]): Promise<void> {
    const paths = [...new Set(changes.map(({ path }) => join(this.#top, path)))];
    await fsyncFiles(paths);
    await fsyncFolders([this.#gitDir, ...paths.flatMap((path) => listFoldersUpTo(this.#top, path))]);
  }

  /** Rewrites the log without the oldest `synced` changes, but with those in `keep`. @throws a system error */
  async shorten(synced: number, keep: readonly FileChange[]): Promise<void> {
    const changes = [...keep, ...this.#changes.slice(synced)];
    const text = changes.length > 0 ? `${JSON.stringify(changes)}\n` : '';
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
