import type { BotRecord } from '../../bot/schema-types.ts';

/** Returns the images that a bot's page may show: address of the original → path of the cached copy. */
export function markdownPictures({
  images,
  cachedImages,
}: Pick<BotRecord, 'images' | 'cachedImages'>): Record<string, string> {
  const pictures: Record<string, string> = {};
  const note = (url: string | null, copy: string | null | undefined): void => {
    if (url !== null && copy) pictures[url] = copy;
  };
  note(images.avatar, cachedImages.avatar);
  note(images.cover, cachedImages.cover);
  // Previews without a copy are left out of cachedImages, so the lists match only when every preview has one.
  if (images.preview.length === cachedImages.preview.length) {
    images.preview.forEach((url, i) => note(url, cachedImages.preview[i]));
  }
  return pictures;
}
