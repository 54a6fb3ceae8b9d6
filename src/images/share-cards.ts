import { hash } from 'node:crypto';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { writeAtomically } from '../lib/files.ts';
import { FairQueue } from '../lib/serial-queue.ts';
import type { Decoder } from './decoder.ts';
import type { ShareCard } from './decode.ts';
import { type ImageStore, readStored } from './store.ts';

/** A share card with the path of its avatar's copy, such as `/appdata/<digest>.webp`. */
export type NamedShareCard = Omit<ShareCard, 'avatar'> & { readonly avatar: string | null };

/** Returns the version of a card, which depends on its whole content. */
export function toShareCardVersion(card: NamedShareCard): string {
  return hash('sha256', JSON.stringify(card)).slice(0, 32);
}

/** The share cards that were requested lately, each in a file `<version>.png`. A card is drawn when it is first requested. */
export class ShareCards {
  readonly #folder: string;
  readonly #decoder: Decoder;
  readonly #images: Pick<ImageStore, 'read'>;
  readonly #queue = new FairQueue(maxWaiting);

  constructor(folder: string, decoder: Decoder, images: Pick<ImageStore, 'read'>) {
    this.#folder = folder;
    this.#decoder = decoder;
    this.#images = images;
  }

  /**
   * Returns a card as PNG.
   * @param client the address that requests it
   * @throws {BotshelfError} queue-full, when too many others wait to be drawn
   * @throws {ImageError} when the card cannot be drawn
   */
  async get(card: NamedShareCard, client: string): Promise<Buffer> {
    const path = join(this.#folder, `${toShareCardVersion(card)}.png`);
    const draw = async (): Promise<Buffer> => (await readStored(path)) ?? (await this.#draw(card, path));
    return (await readStored(path)) ?? (await this.#queue.run(client, draw));
  }

  async #draw(card: NamedShareCard, path: string): Promise<Buffer> {
    const avatar = await this.#images.read(basename(card.avatar ?? '', '.webp'));
    const bytes = await this.#decoder.draw({ ...card, avatar: avatar ?? null });
    // If the card cannot be stored, it is drawn again for the next request.
    await this.#store(path, bytes).catch(() => {});
    return bytes;
  }

  async #store(path: string, bytes: Buffer): Promise<void> {
    await writeAtomically(path, bytes, { fsync: 'content' });
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    if (paths.length <= maxFiles) return;
    const files = await Promise.all(paths.map(async (file) => ({ file, time: (await stat(file)).mtimeMs })));
    const oldest = files.toSorted((a, b) => a.time - b.time).slice(0, paths.length - maxFiles);
    for (const { file } of oldest) await rm(file, { force: true });
  }
}

const maxWaiting = 16;
const maxFiles = 1000;
