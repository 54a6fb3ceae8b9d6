import sharp from 'sharp';

/** An image of one colour, in a format; `seed` makes it another one. */
export async function sampleImage(
  options: {
    width?: number;
    height?: number;
    format?: 'png' | 'jpeg' | 'webp' | 'gif' | 'tiff';
    seed?: number;
  } = {},
): Promise<Buffer> {
  const { width = 40, height = 30, format = 'png', seed = 0 } = options;
  const background = { r: seed % 256, g: Math.floor(seed / 256) % 256, b: 200 };
  return await sharp({ create: { width, height, channels: 3, background } })
    .toFormat(format)
    .toBuffer();
}

/** A small GIF animation of two frames. */
export async function sampleAnimation(): Promise<Buffer> {
  const frames = await Promise.all([1, 90].map(async (seed) => await sampleImage({ seed })));
  return await sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer();
}
