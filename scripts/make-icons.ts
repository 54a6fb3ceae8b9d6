import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import sharp, { type Sharp } from 'sharp';

/** Makes the icons that some programs want as bitmaps from assets/icon.svg. */
const source = readFileSync(assetPath('icon.svg'));
const background = '#18211d';

writeFileSync(assetPath('favicon.ico'), iconFile(await Promise.all([16, 32, 48].map(bitmap))));
writeFileSync(assetPath('apple-touch-icon.png'), await tile(180));
writeFileSync(assetPath('icon-512.png'), await tile(512));

interface Bitmap {
  readonly edge: number;
  readonly png: Buffer;
}

async function bitmap(edge: number): Promise<Bitmap> {
  return { edge, png: await scaled(edge).png({ compressionLevel: 9 }).toBuffer() };
}

/** Without transparent corners, as phones cut their own. */
async function tile(edge: number): Promise<Buffer> {
  return await scaled(edge).flatten({ background }).png({ compressionLevel: 9, palette: true }).toBuffer();
}

function scaled(edge: number): Sharp {
  return sharp(source, { density: (72 * edge) / 32 }).resize(edge, edge);
}

/** An ICO file: a header of 6 bytes, an entry of 16 bytes for each image, the images. */
function iconFile(bitmaps: readonly Bitmap[]): Buffer {
  const head = Buffer.alloc(6 + 16 * bitmaps.length);
  head.writeUInt16LE(1, 2);
  head.writeUInt16LE(bitmaps.length, 4);
  let offset = head.length;
  for (const [i, { edge, png }] of bitmaps.entries()) {
    const entry = head.subarray(6 + 16 * i);
    entry.writeUInt8(edge, 0);
    entry.writeUInt8(edge, 1);
    entry.writeUInt16LE(1, 4);
    entry.writeUInt16LE(32, 6);
    entry.writeUInt32LE(png.length, 8);
    entry.writeUInt32LE(offset, 12);
    offset += png.length;
  }
  return Buffer.concat([head, ...bitmaps.map(({ png }) => png)]);
}

function assetPath(name: string): string {
  return fileURLToPath(new URL(`./assets/${name}`, import.meta.resolve('#package')));
}
