import type { BotId } from '../bot/id.ts';
import type { CachedImages } from '../bot/record.ts';
import type { FullImages } from '../bot/schema-types.ts';
import type { ImageKind } from './decode.ts';
import { listBots, type ImageCopy, type ImageEntries, type ImageEntry } from './image-entries.ts';
import type { IndexFile } from './index-file.ts';
import type { ImageStore } from './store.ts';

/** A copy of an image: its public path, and its size in pixels. */
export interface ImagePlace {
  readonly path: string;
  readonly width: number;
  readonly height: number;
}

/** Receives the bots that refer to an image whose copy appeared, changed or disappeared. */
export type CopyListener = (bots: readonly BotId[]) => void;

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
    const pathOf = (kind: ImageKind, url: string | null): string | null =>
      (url === null ? undefined : this.#placeOf(kind, url)?.path) ?? null;
    return {
      avatar: pathOf('avatar', avatar),
      cover: pathOf('wide', cover),
      preview: preview.flatMap((url) => pathOf('wide', url) ?? []),
    };
  }

  /** Returns the copy of an image in its own proportions; undefined where there is none. */
  copyOf(url: string): ImagePlace | undefined {
    return this.#placeOf('wide', url) ?? this.#placeOf('avatar', url);
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
  markLost(entry: ImageEntry): void {
    this.#set(entry, null);
  }

  /** Removes an image that no bot refers to. The file of its copy stays for its grace period. */
  async remove(entry: ImageEntry): Promise<void> {
    this.#entries.remove(entry);
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
    for (const listener of this.#listeners) listener(listBots(entry));
  }

  #placeOf(kind: ImageKind, url: string): ImagePlace | undefined {
    const copy = this.#entries.get(kind, url)?.copy;
    if (!copy) return undefined;
    const { name, width, height } = copy;
    return { path: `${this.#basePath}/appdata/${name}.webp`, width, height };
  }
}
