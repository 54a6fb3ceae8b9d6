import { join } from 'node:path';
import sharp from 'sharp';
import type { ImageKind } from '../images/decode.ts';
import { ImageIndex } from '../images/image-index.ts';
import { ImageStore } from '../images/store.ts';
import { type DemoBot, listDemoImages } from './demo-bots.ts';
import { drawAvatar, drawCover, drawScreenshot } from './demo-drawings.ts';

/** Draws the images of the bots and stores them in an image cache, as if fetched. @param folder of the cache */
export async function fillImageCache(folder: string, bots: readonly DemoBot[]): Promise<void> {
  const store = new ImageStore(folder);
  const index = await ImageIndex.open(join(folder, 'index'));
  const add = async ({ kind, url, svg }: Drawing): Promise<void> => {
    const { data, info } = await sharp(Buffer.from(svg))
      .webp({ effort: 0 })
      .toBuffer({ resolveWithObject: true });
    const entry = index.getOrCreate(kind, url);
    const { width, height } = info;
    entry.copy = { name: await store.put(data), width, height, fetchedAt: Date.now() };
    index.noteChange(entry);
  };
  await Promise.all(bots.flatMap(listDrawings).map(add));
  await index.close();
}

interface Drawing {
  readonly kind: ImageKind;
  readonly url: string;
  readonly svg: string;
}

function listDrawings(bot: DemoBot): Drawing[] {
  const { avatar, cover, preview } = listDemoImages(bot);
  const { slug, category } = bot;
  return [
    ...(avatar === null ? [] : [{ kind: 'avatar' as const, url: avatar, svg: drawAvatar(slug, category) }]),
    ...(cover === null ? [] : [{ kind: 'wide' as const, url: cover, svg: drawCover(slug) }]),
    ...preview.map((url, i) => ({ kind: 'wide' as const, url, svg: drawScreenshot(slug, i) })),
  ];
}
