import { createReadStream } from 'node:fs';
import { type FileHandle, open } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { SerialQueue } from '../lib/serial-queue.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import { codeOf } from '../lib/errors.ts';
import type { ImageKind } from './decode.ts';
import type { ImageCopy, FetchFailure, ImageEntry, ImageEntries } from './image-entries.ts';

/**
 * The entries on disk: one line per image after its checksum; the last line of an image counts. Changes are appended, and
 * the file is rewritten when most lines are out of date. An incomplete or invalid line is ignored, and so is a file of
 * another format: it is a cache.
 */
export class IndexFile {
  readonly #path: string;
  readonly #entries: ImageEntries;
  readonly #changed = new Set<ImageEntry>();
  #lines = 0;
  #handle: FileHandle | undefined;
  readonly #writes = new SerialQueue();

  private constructor(path: string, entries: ImageEntries) {
    this.#path = path;
    this.#entries = entries;
  }

  /** Reads the file at `path` into `entries`. */
  static async open(path: string, entries: ImageEntries): Promise<IndexFile> {
    const index = new IndexFile(path, entries);
    const { lines, whole } = await readLines(path, entries);
    index.#lines = whole ? lines : Number.POSITIVE_INFINITY;
    return index;
  }

  /** Notes that an entry has changed; `flush` writes it. */
  changed(entry: ImageEntry): void {
    this.#changed.add(entry);
  }

  /** Writes the changed entries. When it rejects, they are kept for the next time. */
  async flush(): Promise<void> {
    await this.#writes.run(async () => await this.#write());
  }

  /** Writes the changed entries and closes the file. */
  async close(): Promise<void> {
    try {
      await this.flush();
    } finally {
      await this.#handle?.close();
      this.#handle = undefined;
    }
  }

  async #write(): Promise<void> {
    if (this.#changed.size === 0) return;
    const batch = [...this.#changed];
    this.#changed.clear();
    try {
      if (this.#lines > 2 * this.#entries.size + spareLines) await this.#rewrite();
      else await this.#append(batch);
    } catch (error) {
      for (const entry of batch) this.#changed.add(entry);
      this.#lines = Number.POSITIVE_INFINITY;
      throw error;
    }
  }

  async #append(batch: readonly ImageEntry[]): Promise<void> {
    this.#handle ??= await open(this.#path, 'a');
    await this.#handle.appendFile(batch.map((entry) => formatLine(entry, this.#isKnown(entry))).join(''));
    this.#lines += batch.length;
  }

  async #rewrite(): Promise<void> {
    await this.#handle?.close();
    this.#handle = undefined;
    let lines = 0;
    const write = async (file: FileHandle): Promise<void> => {
      await file.writeFile(magic);
      let block: string[] = [];
      for (const image of this.#entries) {
        if (image.copy === null && image.failure === null) continue;
        block.push(formatLine(image, true));
        lines += 1;
        if (block.length < blockLines) continue;
        await file.writeFile(block.join(''));
        block = [];
      }
      await file.writeFile(block.join(''));
    };
    await writeAtomically(this.#path, write, { fsync: 'content' });
    this.#lines = lines;
  }

  #isKnown(entry: ImageEntry): boolean {
    return this.#entries.get(entry.kind, entry.url) === entry;
  }
}

const magic = 'botshelf images 1\n';

/** Lines that may be out of date, however few entries there are. */
const spareLines = 1_000;

const blockLines = 1_000;

type Line = readonly [ImageKind, string, ImageCopy | null, FetchFailure | null];

function formatLine({ kind, url, copy, failure }: ImageEntry, known: boolean): string {
  const line: Line = [kind, url, known ? copy : null, known ? failure : null];
  const json = JSON.stringify(line);
  return `${crc32(json).toString(16).padStart(8, '0')} ${json}\n`;
}

/** Reads the valid lines. Not `whole` when there is anything else in the file, or no file. */
async function readLines(path: string, entries: ImageEntries): Promise<{ lines: number; whole: boolean }> {
  let lines = 0;
  let whole = true;
  let rest = '';
  try {
    let begun = false;
    for await (const chunk of createReadStream(path, { encoding: 'utf8', highWaterMark: 256 * 1024 })) {
      const parts = (rest + String(chunk)).split('\n');
      rest = parts.pop() ?? '';
      if (!begun && parts.length > 0) {
        if (`${parts.shift()}\n` !== magic) return { lines, whole: false };
        begun = true;
      }
      for (const part of parts) {
        if (!applyLine(part, entries)) whole = false;
        lines += 1;
      }
    }
    return { lines, whole: whole && begun && rest === '' };
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { lines, whole: false };
    throw error;
  }
}

function applyLine(text: string, entries: ImageEntries): boolean {
  const json = text.slice(9);
  if (text.slice(0, 8) !== crc32(json).toString(16).padStart(8, '0')) return false;
  const [kind, url, copy, failure] = JSON.parse(json) as Line;
  const entry = entries.getOrCreate(kind, url);
  if (copy === null && failure === null) entries.remove(entry);
  else Object.assign(entry, { copy, failure });
  return true;
}
