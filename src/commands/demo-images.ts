import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import sharp from 'sharp';
import type { ImageKind } from '../images/decode.ts';
import { ImageIndex } from '../images/image-index.ts';
import { ImageStore } from '../images/store.ts';
import type { DemoBot } from './demo-catalogue.ts';

/** Draws the images of the bots and stores them in an image cache, as if fetched. @param folder of the cache */
export async function fillImageCache(folder: string, bots: readonly DemoBot[]): Promise<void> {
  const store = new ImageStore(folder);
  const index = await ImageIndex.open(join(folder, 'index'));
  const add = async (kind: ImageKind, url: string | null, svg: string): Promise<void> => {
    if (url === null) return;
    const { data, info } = await sharp(Buffer.from(svg))
      .webp({ effort: 0 })
      .toBuffer({ resolveWithObject: true });
    const entry = index.getOrCreate(kind, url);
    const { width, height } = info;
    entry.copy = { name: await store.put(data), width, height, fetchedAt: Date.now() };
    index.noteChange(entry);
  };
  const drawAvatar = readDrawing('avatar');
  const drawCover = readDrawing('cover');
  const drawScreenshot = readDrawing('screenshot');
  await Promise.all(
    bots.flatMap(({ id, main: { category, images } }) => [
      add('avatar', images.avatar, drawAvatar(id, category)),
      add('wide', images.cover, drawCover(id)),
      ...images.preview.map(async (url, i) => {
        await add('wide', url, drawScreenshot(id, i % 2 === 0 ? 'dark' : 'light'));
      }),
    ]),
  );
  await index.close();
}

/**
 * Reads a drawing of assets/demo, and returns a function that fills it in: `{word}`, and for each bot other numbers, such as
 * `{hue+45}`. No drawing has text, as there may be no font.
 */
function readDrawing(name: string): (id: string, word?: string) => string {
  const svg = readFileSync(fileURLToPath(import.meta.resolve(`#assets/demo/${name}.svg`)), 'utf8');
  return (id, word = '') => {
    const [byte = 0] = hash('sha256', id, 'buffer');
    const [a = 0, b = 0, c = 0] = hash('sha256', id + word, 'buffer');
    const numbers: Readonly<Record<string, number>> = { hue: Math.round(byte * (360 / 256)), a, b, c };
    return svg
      .replaceAll('{word}', word)
      .replaceAll(/\{(\w+)([+-]\d+)?\}/g, (_, key: string, more = 0) =>
        String((numbers[key] ?? 0) + Number(more)),
      );
  };
}
