import { fileURLToPath } from 'node:url';
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
  const box = typeof size === 'number' ? { width: size, height: size } : boxes[size];
  try {
    const image = sharp(bytes, { limitInputPixels: maxPixels, failOn: 'error', pages: 1 });
    const header = await image.metadata();
    if (Math.max(header.width, header.height) > maxSidePx)
      throw new Error(`a side exceeds ${maxSidePx} pixels`);
    const { data, info } = await image
      .autoOrient()
      .resize({ ...box, fit: 'inside', withoutEnlargement: true })
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

const boxes = { avatar: { width: 512, height: 512 }, wide: { width: 1280, height: 720 } } as const;

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
  readonly description: string;
  /** The category and the number of servers, in one line. */
  readonly facts: string;
  /** Whether the bot asks for Administrator; empty if unknown. */
  readonly control: string;
  /** The two lines about the last review; empty without one. */
  readonly stamp: readonly string[];
  readonly isRightToLeft: boolean;
  /** The colours of the stamp, the wall and the avatar's tab, as #rrggbb. */
  readonly accent: string;
  readonly wall: string;
  readonly tab: string;
  /** A copy of the bot's avatar, as `decode` makes it. */
  readonly avatar: Uint8Array | null;
}

/** Draws a share card as PNG. Long texts are cut; texts whose letters no font has are left out. */
async function drawShareCard(card: ShareCard): Promise<DecodedImage> {
  const { avatar, accent, isRightToLeft } = card;
  const whole = widthPx - 2 * marginPx;
  const beside = whole - (avatar === null ? 0 : avatarPx + marginPx);
  const layers: OverlayOptions[] = [
    drawBox(card.wall, { left: 0, top: 0, width: widthPx, height: plankPx }),
    drawBox(ink, { left: 0, top: plankPx, width: widthPx, height: 10 }),
  ];
  const place = (left: number, width: number): number => (isRightToLeft ? widthPx - left - width : left);
  if (avatar !== null) {
    const square = sharp(avatar).resize(avatarPx, avatarPx).ensureAlpha();
    const masked = square.composite([{ ...roundedSquare, blend: 'dest-in' }]).png();
    const left = place(widthPx - marginPx - avatarPx, avatarPx);
    layers.push({ input: await masked.toBuffer(), left, top: plankPx - avatarPx });
    layers.push(drawBox(card.tab, { left, top: plankPx, width: avatarPx, height: 20 }));
  }
  const stamp = await drawStamp(card);
  if (stamp !== undefined) {
    const { data: input, info } = stamp;
    layers.push({ input, left: place(widthPx - marginPx - info.width, info.width), top: 484 });
  }
  const below = whole - (stamp === undefined ? 0 : stamp.info.width + 40);
  const tick = card.verified && (await hasGlyph('✔')) ? ` <span foreground="${accent}">✔</span>` : '';
  /** Draws a text into a box, and returns the lower edge of the text. */
  const add = async (text: string, look: Pick<Look, 'font'> & Partial<Look>, box: Box): Promise<number> => {
    const [top, maxWidth, maxHeight] = box;
    const drawn = await fitText(text, { colour: ink, isRightToLeft, ...look }, maxWidth, maxHeight);
    const { width = 0, height = 0 } = drawn?.info ?? {};
    if (drawn !== undefined) layers.push({ ...toLayer(drawn), left: place(marginPx, width), top });
    return top + height;
  };
  await add(card.site, { font: chooseTitleFont(card.site, 34) }, [62, beside, 50]);
  const font = chooseTitleFont(card.name, card.name.length > 12 ? 60 : 84);
  const top = 24 + (await add(card.name, { font, after: tick }, [136, beside, 176]));
  await add(card.description, { font: 'sans 36' }, [top, beside, Math.min(138, plankPx - 20 - top)]);
  await add(card.facts, { font: 'sans bold 34' }, [498, below, 46]);
  await add(card.control, { font: 'sans 30', colour: muted }, [554, below, 42]);
  const size = { width: widthPx, height: heightPx };
  const ground = sharp({ create: { ...size, channels: 3, background: '#ffffff' } });
  return { bytes: await ground.composite(layers).removeAlpha().png().toBuffer(), ...size };
}

const [widthPx, heightPx, marginPx, avatarPx] = [1200, 630, 64, 344];
/** The upper edge of the plank. */
const plankPx = 444;
const [ink, muted] = ['#18211d', '#535e58'];

/** A rectangle of one colour. */
function drawBox(
  background: string,
  { left, top, ...size }: Readonly<Record<'left' | 'top' | 'width' | 'height', number>>,
): OverlayOptions {
  return { input: { create: { ...size, channels: 3, background } }, left, top };
}

/** Draws the stamp: two lines in a frame, slightly turned; undefined without a review. */
async function drawStamp({ stamp, accent, isRightToLeft }: ShareCard): Promise<Drawn> {
  const lines: { readonly data: Buffer; readonly info: OutputInfo }[] = [];
  for (const [i, text] of stamp.entries()) {
    const font = i === 0 ? 'sans bold 25' : chooseTitleFont(text, 31);
    const look = { font, colour: accent, isRightToLeft };
    const drawn = await fitText(text, look, stampTextPx, 44);
    if (drawn !== undefined) lines.push(drawn);
  }
  if (lines.length === 0) return undefined;
  const width = Math.max(...lines.map(({ info }) => info.width)) + 56;
  const texts = lines.map((line, i) => ({
    ...toLayer(line),
    left: isRightToLeft ? width - 28 - line.info.width : 28,
    top: 20 + i * 46,
  }));
  const framed = sharp({ create: { width, height: 112, channels: 3, background: accent } })
    .composite([drawBox('#ffffff', { left: 4, top: 4, width: width - 8, height: 104 }), ...texts])
    .png();
  return await sharp(await framed.toBuffer())
    .rotate(-2, { background: '#ffffff' })
    .png()
    .toBuffer({ resolveWithObject: true });
}

const stampTextPx = 460;

function toLayer({ data, info: { width, height } }: NonNullable<Drawn>): OverlayOptions {
  return { input: data, raw: { width, height, channels: 4 } };
}

/** A white square of the avatar's size with round corners, the lower ones less, on a transparent background. */
const roundedSquare = {
  input: Buffer.from(
    Uint8Array.from({ length: avatarPx * avatarPx * 4 }, (_, i) => {
      if (i % 4 < 3) return 255;
      const [column, row] = [Math.floor(i / 4) % avatarPx, Math.floor(i / 4 / avatarPx)];
      const radius = avatarPx * (row < avatarPx / 2 ? 0.18 : 0.05);
      const [x, y] = [column, row].map((at) =>
        Math.max(0, Math.abs(at + 0.5 - avatarPx / 2) - avatarPx / 2 + radius),
      ) as [number, number];
      return 255 * Math.min(1, Math.max(0, radius + 0.5 - Math.hypot(x, y)));
    }),
  ),
  raw: { width: avatarPx, height: avatarPx, channels: 4 },
} as const;

/**
 * Returns the font of a title. The face has Latin letters with one mark; a text with others is in the system's font, or
 * only these letters are.
 */
function chooseTitleFont(text: string, size: number): string {
  return `${/[\u1E00-\u1EFF]/.test(text) ? '' : 'Besley, '}sans bold ${size}`;
}

/** The upper edge of a text, and its maximum width and height. */
type Box = readonly [top: number, width: number, height: number];
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
  const options = { text: markup, font, fontfile, width, dpi: 72, rgba: true, wrap: 'word-char' } as const;
  const image = sharp({ text: options }).raw();
  return await image.toBuffer({ resolveWithObject: true }).catch(() => undefined);
}

/** As TrueType, because the library reads no WOFF. */
const fontfile = fileURLToPath(import.meta.resolve('#assets/fonts/besley.ttf'));

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
