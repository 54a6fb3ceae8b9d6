import type { ImagePlace } from '../../images/store.ts';

/** Returns the copy of an image; undefined if there is none. */
export type FindCopy = (url: string) => ImagePlace | undefined;

/** The images that a page may show: address of the original → our copy. */
export type MarkdownImages = Readonly<Record<string, ImagePlace>>;

/** Returns those of some images that have a copy. */
export function findCopies(addresses: readonly string[], copyOf: FindCopy): MarkdownImages {
  return Object.fromEntries(
    addresses.flatMap((url) => {
      const copy = copyOf(url);
      return copy === undefined ? [] : [[url, copy] as const];
    }),
  );
}
