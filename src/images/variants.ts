import { SerialQueue } from '../lib/serial-queue.ts';
import type { Decoder } from './decoder.ts';
import type { ImageName, ImageStore } from './store.ts';
import type { VariantWidth } from './variant-name.ts';

/**
 * Smaller copies of the stored images. Each is made from the full copy when it is first requested and stored beside it,
 * one at a time, so that stores of earlier versions have them too.
 */
export class ImageVariants {
  readonly #store: ImageStore;
  readonly #decoder: Decoder;
  readonly #queue = new SerialQueue();
  /** Name and width → the copy that is being made, so that it is made once for concurrent requests. */
  readonly #pending = new Map<string, Promise<Buffer | undefined>>();

  constructor(store: ImageStore, decoder: Decoder) {
    this.#store = store;
    this.#decoder = decoder;
  }

  /** Reads a smaller copy; the full copy where no smaller one can be made, undefined where there is no image. */
  async read(name: ImageName, width: VariantWidth): Promise<Buffer | undefined> {
    return (await this.#store.read(name, width)) ?? (await this.#make(name, width));
  }

  async #make(name: ImageName, width: VariantWidth): Promise<Buffer | undefined> {
    const key = `${name}.${width}`;
    const pending = this.#pending.get(key) ?? this.#queue.run(async () => await this.#makeNow(name, width));
    this.#pending.set(key, pending);
    try {
      return await pending;
    } finally {
      this.#pending.delete(key);
    }
  }

  async #makeNow(name: ImageName, width: VariantWidth): Promise<Buffer | undefined> {
    const full = await this.#store.read(name);
    if (full === undefined) return undefined;
    const smaller = await this.#decoder.decode(full, width).catch(() => undefined);
    if (smaller === undefined) return full;
    // Where it cannot be stored, it is made again for the next request.
    await this.#store.putVariant(name, width, smaller.bytes).catch(() => {});
    return smaller.bytes;
  }
}
