import { type FileHandle, mkdir, open, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { fsyncFolders, writeDurably } from './durable.ts';

/** A file that we commit, or have committed, and that work tree and index may not have yet. */
export interface Unsettled {
  /** From the top of the repository. */
  readonly path: string;
  /** The blobs that are ours to replace: what the file was before our commits, and what they made it. */
  readonly known: readonly (string | null)[];
  /** The blob of the last of our commits, null where it removed the file. */
  readonly after: string | null;
  /** The commit has made the file executable, or no longer so; otherwise its mode is left as it is. */
  readonly chmod?: true;
}

/**
 * The paths in flight, on disk before the commit is made: after a crash they say exactly which files are
 * ours to bring up to date. One line a path; a torn last line was not acted upon.
 */
export class UnsettledNote {
  readonly #path: string;
  #file: FileHandle | undefined;
  #size = 0;
  #last: Promise<unknown> = Promise.resolve();

  constructor(path: string) {
    this.#path = path;
  }

  /** Bytes, of what was written since the note was opened or replaced. */
  get size(): number {
    return this.#size;
  }

  /** @throws a system error when it cannot be made durable: then nothing may be committed. */
  async add(entries: readonly Unsettled[]): Promise<void> {
    await this.#inTurn(async () => {
      this.#file ??= await this.#open();
      const text = textOf(entries);
      this.#size += text.length;
      await this.#file.appendFile(text);
      await this.#file.datasync();
    });
  }

  /** What a crash left unsettled; several entries of a path are joined. */
  async read(): Promise<Unsettled[]> {
    const text = await readFile(this.#path, 'utf8').catch(() => '');
    this.#size = text.length;
    const entries = new Map<string, Unsettled>();
    for (const line of text.split('\n').slice(0, -1)) {
      const entry = parse(line);
      if (entry) entries.set(entry.path, join(entries.get(entry.path), entry));
    }
    return [...entries.values()];
  }

  /** Only these are unsettled now. @throws a system error: then the note is as it was. */
  async replace(entries: readonly Unsettled[]): Promise<void> {
    if (this.#size === 0) return;
    const text = textOf(entries);
    await this.#inTurn(async () => {
      await this.#close();
      await writeDurably(this.#path, text);
      this.#size = text.length;
    });
  }

  async close(): Promise<void> {
    await this.#inTurn(async () => await this.#close());
  }

  async #inTurn(work: () => Promise<void>): Promise<void> {
    const turn = this.#last.then(work);
    this.#last = turn.catch(() => undefined);
    await turn;
  }

  async #close(): Promise<void> {
    const file = this.#file;
    this.#file = undefined;
    await file?.close();
  }

  async #open(): Promise<FileHandle> {
    await mkdir(dirname(this.#path), { recursive: true });
    const file = await open(this.#path, 'a');
    await fsyncFolders([dirname(this.#path)]);
    return file;
  }
}

function textOf(entries: readonly Unsettled[]): string {
  return entries.map((entry) => `${JSON.stringify(entry)}\n`).join('');
}

/** Both as one: the later commit is on top of the earlier. */
export function join<T extends Unsettled>(earlier: Unsettled | undefined, later: T): T {
  if (earlier === undefined) return later;
  const chmod = earlier.chmod && { chmod: earlier.chmod };
  return { ...later, ...chmod, known: [...new Set([...earlier.known, earlier.after, ...later.known])] };
}

function parse(line: string): Unsettled | undefined {
  try {
    return JSON.parse(line) as Unsettled;
  } catch {
    return undefined;
  }
}
