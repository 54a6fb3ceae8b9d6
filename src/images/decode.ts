import sharp from 'sharp';
import { messageOf } from '../lib/errors.ts';
import { ImageError } from './image-error.ts';
import type { VariantWidth } from './variant-name.ts';

/** What an image is for, which decides how large its copy may be. Covers and previews are wide. */
export type ImageKind = 'avatar' | 'wide';

/** The size of a copy: that of a full copy, by its kind, or the width of a smaller one. */
export type CopySize = ImageKind | VariantWidth;

/** A copy of an image: WebP without metadata; width and height in pixels. */
export interface DecodedImage {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * Decodes an untrusted image and makes its copy: the first frame, upright, in sRGB, shrunk to `size` and never
 * enlarged. Reads only JPEG, PNG, WebP and GIF, although the library reads more.
 * @throws {ImageError} for another format, a damaged image, or too many pixels
 */
export async function decode(bytes: Uint8Array, size: CopySize): Promise<DecodedImage> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'warning', pages: 1 });
    const header = await image.metadata();
    if (Math.max(header.width, header.height) > maxSidePx)
      throw new Error(`a side exceeds ${maxSidePx} pixels`);
    const { data, info } = await image
      .autoOrient()
      .resize({ ...boxes[size], fit: 'inside', withoutEnlargement: true })
      .webp({ quality: typeof size === 'number' ? 76 : 82 })
      .toBuffer({ resolveWithObject: true });
    return { bytes: data, width: info.width, height: info.height };
  } catch (error) {
    throw new ImageError(`is not a JPEG, PNG, WebP or GIF that can be read (${messageOf(error)})`);
  }
}

const maxPixels = 40_000_000;

/** A WebP has no longer side. */
const maxSidePx = 16_384;

const boxes: Readonly<Record<CopySize, { width: number; height: number }>> = {
  avatar: { width: 512, height: 512 },
  wide: { width: 1280, height: 720 },
  128: { width: 128, height: 128 },
  320: { width: 320, height: 320 },
};

sharp.block({ operation: ['VipsForeignLoad'] });
sharp.unblock({
  operation: [
    'VipsForeignLoadJpegBuffer',
    'VipsForeignLoadPngBuffer',
    'VipsForeignLoadWebpBuffer',
    'VipsForeignLoadNsgifBuffer',
  ],
});
sharp.cache(false);
sharp.concurrency(1);
