import { crc32, deflateSync } from 'node:zlib';
import sharp from 'sharp';

type Format = 'png' | 'jpeg' | 'webp' | 'gif' | 'tiff';

/** An image of one colour, in a format; `seed` makes it another one. */
export async function sampleImage(
  options: { width?: number; height?: number; format?: Format; seed?: number } = {},
): Promise<Buffer> {
  const { width = 40, height = 30, format = 'png', seed = 0 } = options;
  const key = [width, height, format, seed].join();
  const made = samples.get(key) ?? makeImage(width, height, format, seed);
  samples.set(key, made);
  return Buffer.from(await made);
}

/** The created images, because most tests need the same few. */
const samples = new Map<string, Promise<Buffer>>();

async function makeImage(width: number, height: number, format: Format, seed: number): Promise<Buffer> {
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

/** A grey PNG whose header says this size, with compressed texts before these pixels. */
export function samplePng({
  width = 1,
  height = 1,
  pixels = Buffer.alloc((width + 1) * height),
  texts = [],
}: {
  width?: number;
  height?: number;
  pixels?: Buffer;
  texts?: readonly Buffer[];
}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.writeUInt8(8, 8);
  return Buffer.concat([
    Buffer.from('89504e470d0a1a0a', 'hex'),
    pngChunk('IHDR', header),
    ...texts.map((text) => pngChunk('zTXt', text)),
    pngChunk('IDAT', deflateSync(pixels)),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, content: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), content]);
  const frame = Buffer.alloc(8);
  frame.writeUInt32BE(content.length, 0);
  frame.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([frame.subarray(0, 4), body, frame.subarray(4)]);
}
