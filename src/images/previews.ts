import { hash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import { isError } from '../lib/errors.ts';
import { FairQueue } from '../lib/serial-queue.ts';
import type { ImageKind, ImageName } from './store.ts';

/** An image: its kind and address. */
export interface NamedImage {
  readonly kind: ImageKind;
  readonly url: string;
}

/**
 * Copies of images that forms name and no bot refers to yet. They are kept in memory for some minutes; the least
 * recently used are dropped first.
 */
export class ImagePreviews {
  readonly #make: (image: NamedImage, signal: AbortSignal) => Promise<Buffer>;
  readonly #waitMs: number;
  readonly #queue = new FairQueue(8);
  /** By kind and address; without bytes if the image failed a short time ago. */
  readonly #kept = new LRUCache<string, { readonly name: ImageName; readonly bytes: Buffer | null }>({
    maxSize: maxBytes,
    sizeCalculation: ({ bytes }, key) => (bytes?.length ?? 0) + key.length * 2 + 500,
  });

  /** @param make fetches and decodes an image @param waitMs maximum time that a form waits for its images */
  constructor(make: (image: NamedImage, signal: AbortSignal) => Promise<Buffer>, waitMs: number) {
    this.#make = make;
    this.#waitMs = waitMs;
  }

  /** Returns the name of an image's copy; undefined without a copy. */
  nameOf(image: NamedImage): ImageName | undefined {
    const kept = this.#kept.get(keyOf(image));
    return kept?.bytes ? kept.name : undefined;
  }

  /** Returns the copy with this name; undefined if it does not exist. */
  read(name: ImageName): Buffer | undefined {
    for (const kept of this.#kept.values()) if (kept.name === name) return kept.bytes ?? undefined;
    return undefined;
  }

  /** Fetches the images of a form one after the other; clients take turns. Resolves after at most `waitMs`. */
  async fetch(images: readonly NamedImage[], client: string): Promise<void> {
    const due = images.filter((image) => !this.#kept.has(keyOf(image)));
    if (due.length === 0) return;
    const abandoned = AbortSignal.timeout(this.#waitMs);
    const work = async (): Promise<void> => {
      for (const image of due) if (!abandoned.aborted) await this.#fetchOne(image, abandoned);
    };
    const fetched = this.#queue.run(client, work).catch((error: unknown) => {
      if (!isError(error, 'queue-full', 'share-full')) throw error;
    });
    await Promise.race([fetched, sleep(this.#waitMs, undefined, { ref: false })]);
  }

  async #fetchOne(image: NamedImage, signal: AbortSignal): Promise<void> {
    const bytes = await this.#make(image, signal).catch(() => null);
    const name = bytes ? hash('sha256', bytes) : '';
    this.#kept.set(keyOf(image), { name, bytes }, { ttl: bytes ? copyMs : failureMs });
  }
}

function keyOf({ kind, url }: NamedImage): string {
  return `${kind} ${url}`;
}

/** Maximum number of bytes of all copies together. */
const maxBytes = 16 * 1024 * 1024;
/** Milliseconds that a copy is kept, and that a failed image is not retried. */
const copyMs = 600_000;
const failureMs = 60_000;
