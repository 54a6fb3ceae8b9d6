import type { BotId } from '../bot/id.ts';
import type { ImageKind } from './decode.ts';
import type { ImageName } from './store.ts';

/** The cached copy of an image. Pixels, and milliseconds since the epoch. */
export interface ImageCopy {
  readonly name: ImageName;
  readonly width: number;
  readonly height: number;
  readonly fetchedAt: number;
}

/** How often an image has failed in a row, and when it is retried. Milliseconds since the epoch. */
export interface FetchFailure {
  readonly count: number;
  readonly retryAt: number;
  readonly message: string;
  /** It works, but no copies are made of its kind, such as the SVG of a badge: nobody has to do anything. */
  readonly isRefused?: true;
}

/** An image that a bot refers to: its copy, its failures and whether it is queued. */
export interface ImageEntry {
  readonly kind: ImageKind;
  readonly url: string;
  /** The last good copy. */
  copy: ImageCopy | null;
  failure: FetchFailure | null;
  /** The bots that refer to it, or did. */
  bots: BotId | Set<BotId> | null;
  /** The number of the last scan of the catalogue that found it. */
  seenIn: number;
  /** When a scan first found that no bot refers to it. Milliseconds since the epoch. */
  unwantedSince: number | null;
  queued: boolean;
}

/** All images, by kind and address. */
export class ImageEntries {
  readonly #byUrl: Readonly<Record<ImageKind, Map<string, ImageEntry>>> = {
    avatar: new Map(),
    wide: new Map(),
  };

  get size(): number {
    return this.#byUrl.avatar.size + this.#byUrl.wide.size;
  }

  get(kind: ImageKind, url: string): ImageEntry | undefined {
    return this.#byUrl[kind].get(url);
  }

  /** Returns the entry of an image, a new one where there is none. */
  getOrCreate(kind: ImageKind, url: string): ImageEntry {
    const known = this.#byUrl[kind].get(url);
    if (known) return known;
    const entry: ImageEntry = {
      kind,
      url,
      copy: null,
      failure: null,
      bots: null,
      seenIn: 0,
      unwantedSince: null,
      queued: false,
    };
    this.#byUrl[kind].set(url, entry);
    return entry;
  }

  remove({ kind, url }: ImageEntry): void {
    this.#byUrl[kind].delete(url);
  }

  *[Symbol.iterator](): Generator<ImageEntry> {
    yield* this.#byUrl.avatar.values();
    yield* this.#byUrl.wide.values();
  }
}

/** Notes that a bot refers to the image. */
export function addReferringBot(entry: ImageEntry, bot: BotId): void {
  const { bots } = entry;
  if (bots === null) entry.bots = bot;
  else if (bots instanceof Set) bots.add(bot);
  else if (bots !== bot) entry.bots = new Set([bots, bot]);
}

export function listBots({ bots }: ImageEntry): readonly BotId[] {
  if (bots === null) return [];
  return bots instanceof Set ? [...bots] : [bots];
}
