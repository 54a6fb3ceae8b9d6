import type { BotId } from '../bot/id.ts';
import type { ImageKind } from './decode.ts';
import type { ImageName } from './store.ts';

/** Our copy of a picture. Pixels, and milliseconds since the epoch. */
export interface ImageCopy {
  readonly name: ImageName;
  readonly width: number;
  readonly height: number;
  readonly fetchedAt: number;
}

/** The last attempts at a picture that all failed, and when the next one is due. */
export interface FetchFailure {
  readonly count: number;
  readonly retryAt: number;
  readonly message: string;
}

/** A picture that a bot names: what is known of it, and what it is waiting for. */
export interface ImageEntry {
  readonly kind: ImageKind;
  readonly url: string;
  /** The last good copy. */
  copy: ImageCopy | null;
  failure: FetchFailure | null;
  /** The bots that name it, or did. */
  bots: BotId | Set<BotId> | null;
  /** The last look over the catalogue that found it. */
  seenIn: number;
  /** When it was first found to be named no more. */
  unnamedSince: number | null;
  queued: boolean;
}

/** All pictures, by kind and address. */
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

  /** The picture, made known when it was not. */
  obtain(kind: ImageKind, url: string): ImageEntry {
    const known = this.#byUrl[kind].get(url);
    if (known) return known;
    const entry: ImageEntry = {
      kind,
      url,
      copy: null,
      failure: null,
      bots: null,
      seenIn: 0,
      unnamedSince: null,
      queued: false,
    };
    this.#byUrl[kind].set(url, entry);
    return entry;
  }

  forget({ kind, url }: ImageEntry): void {
    this.#byUrl[kind].delete(url);
  }

  *[Symbol.iterator](): Generator<ImageEntry> {
    yield* this.#byUrl.avatar.values();
    yield* this.#byUrl.wide.values();
  }
}

/** Notes that a bot names the picture. */
export function addBot(entry: ImageEntry, bot: BotId): void {
  const { bots } = entry;
  if (bots === null) entry.bots = bot;
  else if (bots instanceof Set) bots.add(bot);
  else if (bots !== bot) entry.bots = new Set([bots, bot]);
}

/** The bots that name the picture. */
export function botsOf({ bots }: ImageEntry): readonly BotId[] {
  if (bots === null) return [];
  return bots instanceof Set ? [...bots] : [bots];
}
