import { hash } from 'node:crypto';

/** The image beside the name of a site. */
export interface Logo {
  readonly type: string;
  readonly extension: 'png' | 'webp' | 'jpg';
  readonly body: Buffer;
  readonly digest: string;
}

/** The largest size of a logo, in bytes. */
const maxLogoSize = 128 * 1024;

/** Returns the logo that a file is, or what is wrong with it, a colon, and the fix. */
export function parseLogo(body: Buffer): Logo | string {
  if (body.length > maxLogoSize) return `the picture has more than ${maxLogoSize} bytes: make it smaller`;
  const kind = kinds.find(({ begins }) => begins(body));
  if (kind === undefined) return 'this is not a picture that can be used: save it as a PNG, WebP or JPEG';
  if (!kind.isWhole(body)) return 'the picture is cut off: put the whole file here';
  const { type, extension } = kind;
  return { type, extension, body: Buffer.from(body), digest: hash('sha1', body, 'base64url') };
}

interface LogoFormat extends Pick<Logo, 'type' | 'extension'> {
  readonly begins: (body: Buffer) => boolean;
  readonly isWhole: (body: Buffer) => boolean;
}

/** No SVG: it may have scripts. */
const kinds: readonly LogoFormat[] = [
  {
    type: 'image/png',
    extension: 'png',
    begins: (body) => startsWith(body, '89504e470d0a1a0a'),
    isWhole: (body) => body.includes('IEND', body.length - 12, 'latin1'),
  },
  {
    type: 'image/jpeg',
    extension: 'jpg',
    begins: (body) => startsWith(body, 'ffd8ff'),
    isWhole: (body) => body.subarray(-2).toString('hex') === 'ffd9',
  },
  {
    type: 'image/webp',
    extension: 'webp',
    begins: (body) => startsWith(body, '52494646') && body.toString('latin1', 8, 12) === 'WEBP',
    isWhole: (body) => body.readUInt32LE(4) + 8 <= body.length,
  },
];

function startsWith(body: Buffer, hex: string): boolean {
  return body.toString('hex', 0, hex.length / 2) === hex;
}
