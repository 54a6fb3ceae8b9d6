import type { BotId } from '../bot/id.ts';
import type { FullImages } from '../bot/schema-types.ts';
import type { ImageKind } from './decode.ts';
import { addReferringBot, type ImageEntries, type ImageEntry } from './image-entries.ts';

/** Which images bots refer to. Only a full scan of the catalogue finds those that no bot refers to any more. */
export class WantedImages {
  readonly #entries: ImageEntries;
  readonly #grace: number;
  #scan = 0;
  #completeScan = 0;

  /** @param grace the milliseconds for which an image stays that no bot refers to */
  constructor(entries: ImageEntries, grace: number) {
    this.#entries = entries;
    this.#grace = grace;
  }

  /** Notes that a bot refers to these images. Returns their entries. */
  note(bot: BotId, { avatar, cover, preview }: FullImages): ImageEntry[] {
    const entries = preview.map((url) => this.#noteOne('wide', url, bot));
    if (cover !== null) entries.unshift(this.#noteOne('wide', cover, bot));
    if (avatar !== null) entries.unshift(this.#noteOne('avatar', avatar, bot));
    return entries;
  }

  /** Runs a full scan: `noteAll` notes the images of every bot. */
  async scan(noteAll: () => Promise<void>): Promise<void> {
    this.#scan += 1;
    await noteAll();
    this.#completeScan = this.#scan;
  }

  /** Whether a bot referred to the image in the last full scan, or since. */
  has({ seenIn }: ImageEntry): boolean {
    return seenIn >= this.#completeScan;
  }

  /** Whether an image that is not wanted has had its grace period, which begins with the first call. */
  isOrphan(entry: ImageEntry): boolean {
    entry.unwantedSince ??= Date.now();
    return !entry.queued && entry.unwantedSince <= Date.now() - this.#grace;
  }

  #noteOne(kind: ImageKind, url: string, bot: BotId): ImageEntry {
    const entry = this.#entries.getOrCreate(kind, url);
    addReferringBot(entry, bot);
    entry.seenIn = this.#scan;
    entry.unwantedSince = null;
    return entry;
  }
}
