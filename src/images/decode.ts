import sharp, { type OutputInfo, type OverlayOptions } from 'sharp';
import { messageOf } from '../lib/errors.ts';
import { escapeXml } from '../lib/text.ts';
import type { VariantWidth, ImageKind } from './store.ts';

/** The size of a copy: the kind of a full copy, or the width of a smaller one. */
export type CopySize = ImageKind | VariantWidth;

/** A copy of an image: WebP without metadata. Width and height are in pixels. */
export interface DecodedImage {
  readonly bytes: Buffer;
  readonly width: number;
  readonly height: number;
}

/**
 * Decodes an untrusted image and makes its copy: the first frame, upright, in sRGB, shrunk to `size` but never
 * enlarged. Reads only JPEG, PNG, WebP and GIF, although the library can read more.
 * @throws {Error} for another format, a damaged image, or too many pixels
 */
export async function decode(bytes: Uint8Array, size: CopySize): Promise<DecodedImage> {
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 });
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
    throw new Error(`is not a JPEG, PNG, WebP or GIF that can be read (${messageOf(error)})`, {
      cause: error,
    });
  }
}

const maxPixels = 40_000_000;

/** The maximum width and height of a WebP. */
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

/** The content of a share card: the image in previews of links to a bot. */
export interface ShareCard {
  readonly site: string;
  readonly name: string;
  /** Whether a tick follows the name, if a font has one. */
  readonly verified: boolean;
  /** The category and the number of servers, in one line. */
  readonly facts: string;
  readonly description: string;
  readonly isRightToLeft: boolean;
  /** The site's colour, as #rrggbb. */
  readonly accent: string;
  /** A copy of the bot's avatar, as `decode` makes it. */
  readonly avatar: Uint8Array | null;
}

/** Draws a share card as PNG. Long texts are cut; texts whose letters no font has are left out. */
async function drawShareCard(card: ShareCard): Promise<DecodedImage> {
  const { avatar, accent, isRightToLeft } = card;
  const beside = avatar === null ? marginPx : marginPx + avatarPx + 40;
  const tick = card.verified && (await hasGlyph('✔')) ? ` <span foreground="${accent}">✔</span>` : '';
  const rows = [
    { text: card.facts, font: 'sans 34', colour: '#595b64', left: beside, top: 84, height: 50 },
    { text: card.name, font: 'sans bold 60', colour: '#1b1c20', left: beside, top: 144, height: 150, tick },
    { text: card.description, font: 'sans 40', colour: '#1b1c20', left: marginPx, top: 348, height: 112 },
    { text: card.site, font: 'sans bold 34', colour: '#ffffff', left: marginPx, top: 560, height: 50 },
  ];
  const band = { create: { width: widthPx, height: bandPx, channels: 3, background: accent } } as const;
  const layers: OverlayOptions[] = [{ input: band, left: 0, top: heightPx - bandPx }];
  const place = (left: number, width: number): number => (isRightToLeft ? widthPx - left - width : left);
  if (avatar !== null) {
    const square = sharp(avatar).resize(avatarPx, avatarPx).ensureAlpha();
    const input = await square
      .composite([{ ...roundedSquare, blend: 'dest-in' }])
      .png()
      .toBuffer();
    layers.push({ input, left: place(marginPx, avatarPx), top: marginPx });
  }
  for (const { text, font, colour, left, top, height: maxHeight, tick: after = '' } of rows) {
    const drawn = await fitText(
      text,
      { font, colour, after, isRightToLeft },
      widthPx - left - marginPx,
      maxHeight,
    );
    if (drawn === undefined) continue;
    const { width, height } = drawn.info;
    layers.push({ input: drawn.data, raw: { width, height, channels: 4 }, left: place(left, width), top });
  }
  const size = { width: widthPx, height: heightPx };
  const ground = sharp({ create: { ...size, channels: 3, background: '#ffffff' } });
  return { bytes: await ground.composite(layers).removeAlpha().png().toBuffer(), ...size };
}

const [widthPx, heightPx, marginPx, avatarPx, radiusPx, bandPx] = [1200, 630, 80, 208, 40, 104];

/** A white square of the avatar's size with round corners, on a transparent background. */
const roundedSquare = {
  input: Buffer.from(
    Uint8Array.from({ length: avatarPx * avatarPx * 4 }, (_, i) => {
      if (i % 4 < 3) return 255;
      const [x, y] = [Math.floor(i / 4) % avatarPx, Math.floor(i / 4 / avatarPx)].map((place) =>
        Math.max(0, Math.abs(place + 0.5 - avatarPx / 2) - avatarPx / 2 + radiusPx),
      ) as [number, number];
      return 255 * Math.min(1, Math.max(0, radiusPx + 0.5 - Math.hypot(x, y)));
    }),
  ),
  raw: { width: avatarPx, height: avatarPx, channels: 4 },
} as const;

type Drawn = { readonly data: Buffer; readonly info: OutputInfo } | undefined;
type Look = Pick<ShareCard, 'isRightToLeft'> &
  Readonly<Record<'font' | 'colour', string>> & {
    /** Markup after the text. */
    readonly after?: string;
  };

/** Draws as much of a text as fits into the box; undefined if nothing is visible. */
async function fitText(text: string, look: Look, maxWidth: number, maxHeight: number): Promise<Drawn> {
  const all = [...new Intl.Segmenter().segment(await keepDrawable(text))].map(({ segment }) => segment);
  for (let count = all.length; count > 0; count = Math.floor(count * 0.9)) {
    const start = all.slice(0, count).join('').trimEnd();
    const drawn = await drawText(count === all.length ? start : `${start}…`, look, maxWidth);
    const { width = 0, height = 0 } = drawn?.info ?? {};
    if (width <= maxWidth && height <= maxHeight) return drawn;
  }
  return undefined;
}

/** Removes the symbols that no font has. Returns an empty text if no font has one of the letters. */
async function keepDrawable(text: string): Promise<string> {
  let kept = '';
  for (const character of text) {
    if (/[\p{M}\p{Z}\p{Cc}\p{Cf}]/u.test(character) || (await hasGlyph(character))) kept += character;
    else if (/[\p{L}\p{N}]/u.test(character)) return '';
  }
  return kept;
}

/** Whether a font has this character. A missing one looks like the box of a code point without a character. */
async function hasGlyph(character: string): Promise<boolean> {
  const known = glyphs.get(character);
  if (known !== undefined) return known;
  const edges: unknown[] = [];
  for (const text of [character, character.length === 1 ? '\u0378' : '\u{10FFFF}']) {
    const drawn = await drawText(text, { font: 'sans 40', colour: '#000000', isRightToLeft: false }, widthPx);
    edges.push(drawn && `${drawn.info.height} ${drawn.data.toString('base64', 0, drawn.info.width * 4)}`);
  }
  glyphs.set(character, edges[0] !== edges[1]);
  return edges[0] !== edges[1];
}

/** Character → whether a font has it. */
const glyphs = new Map<string, boolean>();

/** Draws a text as RGBA, in lines of a width in pixels; undefined if nothing is visible. */
async function drawText(
  text: string,
  { font, colour, after = '', isRightToLeft }: Look,
  width: number,
): Promise<Drawn> {
  const direction = isRightToLeft ? '\u200F' : '\u200E';
  const markup = `<span foreground="${colour}">${direction}${escapeXml(text)}${after}</span>`;
  const options = { text: markup, font, width, dpi: 72, rgba: true, wrap: 'word-char' } as const;
  const image = sharp({ text: options }).raw();
  return await image.toBuffer({ resolveWithObject: true }).catch(() => undefined);
}

/** A message to this process, with one image to decode or draw. */
export type DecodeRequest =
  | { readonly bytes: Uint8Array; readonly size: CopySize }
  | { readonly card: ShareCard };

/** The response of this process: the image, or the reason for the failure. */
export type DecodeResponse = { readonly image: DecodedImage } | { readonly fault: string };

process.on('message', (request: DecodeRequest) => {
  const making = 'card' in request ? drawShareCard(request.card) : decode(request.bytes, request.size);
  making.then(
    (image) => sendResponse({ image }),
    (error: unknown) => sendResponse({ fault: messageOf(error) }),
  );
});

function sendResponse(value: DecodeResponse): void {
  process.send?.(value);
}
