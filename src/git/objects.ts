import { runCommandLineGit } from './command-line-git.ts';

/** A file may have so many bytes, wherever it is: every clone carries it for good, and the service reads no larger one. */
export const largestFile = 10 * 1024 * 1024;

/** What is known of an object without reading it. */
export interface ObjectFacts {
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Id → facts of the objects that are here. */
export async function objectFacts(folder: string, ids: readonly string[]): Promise<Map<string, ObjectFacts>> {
  const facts = new Map<string, ObjectFacts>();
  if (ids.length === 0) return facts;
  const output = await runCommandLineGit(folder, ['cat-file', '--batch-check'], { input: lines(ids) });
  for (const line of output.split('\n')) {
    const [id = '', type = '', size] = line.split(' ');
    if (size !== undefined) facts.set(id, { type, size: Number(size) });
  }
  return facts;
}

/** Id → bytes of the objects that are here and have at most `largest` bytes. An id that is there twice is read once. */
export async function readObjects(
  folder: string,
  ids: readonly string[],
  largest: number,
): Promise<Map<string, Buffer>> {
  const facts = await objectFacts(folder, [...new Set(ids)]);
  const objects = new Map<string, Buffer>();
  await streamObjects(
    folder,
    [...facts].filter(([, { size }]) => size <= largest).map(([id]) => id),
    (id) => {
      const pieces: Buffer[] = [];
      return {
        push: (piece) => void pieces.push(piece),
        end: () => void objects.set(id, Buffer.concat(pieces)),
      };
    },
  );
  return objects;
}

/** Takes an object piece by piece. */
export interface ObjectSink {
  push(piece: Buffer): void;
  end(): void;
}

/** Reads objects one after the other, each handed on in pieces, so that none has to fit into memory. */
export async function streamObjects(
  folder: string,
  ids: readonly string[],
  sinkOf: (id: string) => ObjectSink,
): Promise<void> {
  if (ids.length === 0) return;
  const parser = new BatchParser(sinkOf);
  const take = (piece: Buffer): void => parser.push(piece);
  await runCommandLineGit(folder, ['cat-file', '--batch'], { input: lines(ids), take });
}

function lines(ids: readonly string[]): string {
  return ids.map((id) => `${id}\n`).join('');
}

/** Takes `<id> <type> <size>\n<bytes>\n…` and `<id> missing\n` apart. */
class BatchParser {
  readonly #sinkOf: (id: string) => ObjectSink;
  #header = '';
  #sink: ObjectSink | undefined;
  /** Bytes of the object that are still to come, its newline among them. */
  #left = 0;

  constructor(sinkOf: (id: string) => ObjectSink) {
    this.#sinkOf = sinkOf;
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) at += this.#sink ? this.#body(piece, at) : this.#head(piece, at);
  }

  #head(piece: Buffer, at: number): number {
    const newline = piece.indexOf(0x0a, at);
    const end = newline === -1 ? piece.length : newline;
    this.#header += piece.toString('latin1', at, end);
    if (newline === -1) return end - at;
    const [id = '', , size] = this.#header.split(' ');
    this.#header = '';
    if (size !== undefined) {
      this.#sink = this.#sinkOf(id);
      this.#left = Number(size) + 1;
    }
    return end + 1 - at;
  }

  #body(piece: Buffer, at: number): number {
    const taken = Math.min(this.#left, piece.length - at);
    const bytes = Math.min(this.#left - 1, taken);
    if (bytes > 0) this.#sink?.push(piece.subarray(at, at + bytes));
    this.#left -= taken;
    if (this.#left === 0) {
      this.#sink?.end();
      this.#sink = undefined;
    }
    return taken;
  }
}
