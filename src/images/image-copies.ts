import type { BotId } from '../bot/id.ts';
import type { CachedImages } from '../bot/record.ts';
import type { FullImages } from '../bot/schema-types.ts';
import type { ImageKind } from './decode.ts';
import { botsOf, type ImageCopy, type ImageEntries, type ImageEntry } from './image-entries.ts';
import type { IndexFile } from './index-file.ts';
import type { ImageStore } from './store.ts';

/** A copy of an image: its public path, and its size in pixels. */
export interface ImagePlace {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** Receives the address of an image whose copy appeared, changed or disappeared, and the bots that refer to it. */
export type CopyListener = (url: string, bots: readonly BotId[]) => void;

/** The copies that images have now. */
export class ImageCopies {
  readonly #entries: ImageEntries;
  readonly #index: IndexFile;
  readonly #store: ImageStore;
  readonly #basePath: string;
  readonly #listeners: CopyListener[] = [];
  #size = 0;

  /** @param basePath the path of the public address, with which the paths of copies begin */
  constructor(entries: ImageEntries, index: IndexFile, store: ImageStore, basePath: string) {
    this.#entries = entries;
    this.#index = index;
    this.#store = store;
    this.#basePath = basePath;
    for (const { copy } of entries) if (copy) this.#size += 1;
  }

  get size(): number {
    return this.#size;
  }

  /** Returns the paths of the copies of a bot's images; null, or left out of `preview`, where there is none. */
  cachedImages({ avatar, cover, preview }: FullImages): CachedImages {
    return {
      avatar: avatar === null ? null : this.#pathOf('avatar', avatar),
      cover: cover === null ? null : this.#pathOf('wide', cover),
      preview: preview.map((url) => this.#pathOf('wide', url)).filter((path) => path !== null),
    };
  }

  /** Returns the copy of an image in its own proportions; undefined where there is none. */
  copyOf(url: string): ImagePlace | undefined {
    const kind = this.#entries.get('wide', url)?.copy ? 'wide' : 'avatar';
    const path = this.#pathOf(kind, url);
    const { width = 0, height = 0 } = this.#entries.get(kind, url)?.copy ?? {};
    return path === null ? undefined : { path, width, height };
  }

  onChange(listener: CopyListener): void {
    this.#listeners.push(listener);
  }

  /** Replaces the copy of an image. The file of the old one stays for its grace period. */
  async replace(entry: ImageEntry, copy: ImageCopy): Promise<void> {
    const before = entry.copy;
    this.#set(entry, copy);
    if (before && before.name !== copy.name) await this.#store.release(before.name);
  }

  /** Notes that the file of a copy is gone. */
  lose(entry: ImageEntry): void {
    this.#set(entry, null);
  }

  /** Forgets an image that no bot refers to. The file of its copy stays for its grace period. */
  async forget(entry: ImageEntry): Promise<void> {
    this.#entries.forget(entry);
    if (entry.copy) this.#size -= 1;
    this.#index.changed(entry);
    if (entry.copy) await this.#store.release(entry.copy.name);
  }

  #set(entry: ImageEntry, copy: ImageCopy | null): void {
    const before = entry.copy;
    entry.copy = copy;
    this.#size += Number(copy !== null) - Number(before !== null);
    this.#index.changed(entry);
    if (before?.name === copy?.name) return;
    for (const listener of this.#listeners) listener(entry.url, botsOf(entry));
  }

  #pathOf(kind: ImageKind, url: string): string | null {
    const copy = this.#entries.get(kind, url)?.copy;
    return copy ? `${this.#basePath}/appdata/${copy.name}.webp` : null;
  }
}
