/** Appends whole numbers from 0 to 2^53 to bytes: seven bits in each, the lowest first. */
export class VarintWriter {
  #bytes: Uint8Array;
  #length: number;

  /** @param bytes what is there already: its first `length` bytes stay */
  constructor(bytes: Uint8Array, length = 0) {
    this.#bytes = bytes;
    this.#length = length;
  }

  /** The bytes, which may have room for more behind `length`. */
  get bytes(): Uint8Array {
    return this.#bytes;
  }

  get length(): number {
    return this.#length;
  }

  write(value: number): void {
    let rest = value;
    for (; rest >= 128; rest = Math.floor(rest / 128)) this.#push((rest % 128) + 128);
    this.#push(rest);
  }

  /** Appends bytes as they are. */
  append(bytes: Uint8Array): void {
    this.#makeRoom(bytes.length);
    this.#bytes.set(bytes, this.#length);
    this.#length += bytes.length;
  }

  #push(byte: number): void {
    this.#makeRoom(1);
    this.#bytes[this.#length++] = byte;
  }

  #makeRoom(more: number): void {
    if (this.#length + more <= this.#bytes.length) return;
    const larger = new Uint8Array(Math.ceil((this.#length + more) * 1.2) + 8);
    larger.set(this.#bytes);
    this.#bytes = larger;
  }
}

/** Reads such numbers. */
export class VarintReader {
  readonly #bytes: Uint8Array;
  position = 0;

  constructor(bytes: Uint8Array) {
    this.#bytes = bytes;
  }

  read(): number {
    let value = 0;
    for (let scale = 1; ; scale *= 128) {
      const byte = this.#bytes[this.position++] ?? 0;
      value += (byte % 128) * scale;
      if (byte < 128) return value;
    }
  }
}
