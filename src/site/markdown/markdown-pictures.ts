import type { BotRecord } from '../../bot/schema-types.ts';

/** The pictures that a bot's page may show: address of the original → path of our copy. */
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
  // Previews that are not there yet are left out, so which is which is known only when all are there.
  if (images.preview.length === cachedImages.preview.length) {
    images.preview.forEach((url, i) => note(url, cachedImages.preview[i]));
  }
  return pictures;
}
