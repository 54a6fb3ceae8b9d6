/** The line that `git cat-file` prints before the bytes of an object. */
export interface ObjectHeader {
  readonly id: string;
  readonly type: string;
  /** Bytes. */
  readonly size: number;
}

/** Receives an object in pieces. */
export interface ObjectSink {
  push(piece: Buffer): void;
  end(): void;
}

/** Parses a line of `git cat-file --batch-check`; undefined where git has no such object. */
export function parseHeader(line: string): ObjectHeader | undefined {
  const [, id, type, size] = /^([0-9a-f]+) ([a-z]+) (\d+)$/.exec(line) ?? [];
  return id === undefined || type === undefined ? undefined : { id, type, size: Number(size) };
}

/** Parses the output of `git cat-file --batch`, in pieces of any size. */
export class BatchParser {
  readonly #begin: (header: ObjectHeader | undefined) => ObjectSink | undefined;
  #line = '';
  #sink: ObjectSink | undefined;
  /** Bytes of the object that are still to come, its newline among them. */
  #left = 0;

  /** @param begin called for each requested name, in order; returns what receives the object, if anything */
  constructor(begin: (header: ObjectHeader | undefined) => ObjectSink | undefined) {
    this.#begin = begin;
  }

  push(piece: Buffer): void {
    for (let at = 0; at < piece.length;) at = this.#left > 0 ? this.#body(piece, at) : this.#head(piece, at);
  }

  #head(piece: Buffer, at: number): number {
    const newline = piece.indexOf(0x0a, at);
    const end = newline === -1 ? piece.length : newline;
    this.#line += piece.toString('latin1', at, end);
    if (newline === -1) return end;
    const header = parseHeader(this.#line);
    this.#line = '';
    this.#sink = this.#begin(header);
    this.#left = header ? header.size + 1 : 0;
    return end + 1;
  }

  #body(piece: Buffer, at: number): number {
    const end = Math.min(at + this.#left, piece.length);
    const bytes = piece.subarray(at, Math.min(at + this.#left - 1, end));
    if (bytes.length > 0) this.#sink?.push(bytes);
    this.#left -= end - at;
    if (this.#left === 0) this.#sink?.end();
    return end;
  }
}
