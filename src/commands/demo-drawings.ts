import { hash } from 'node:crypto';
import type { Category } from '../bot/schema-types.ts';

/** Returns an SVG of 256 × 256: the sign of a category on colours of the bot's own. No text: there may be no font. */
export function drawAvatar(slug: string, category: Category): string {
  const [a = 0, b = 0, c = 0] = hashText(slug);
  const hue = computeHue(slug);
  const turned = a % 2 === 0 ? 'x1="0" y1="0" x2="1" y2="1"' : 'x1="1" y1="0" x2="0" y2="1"';
  return formatSvg(256, 256, '512 512', [
    `<defs><linearGradient id="g" ${turned}><stop offset="0" stop-color="${formatHsl(hue, 70, 58)}"/>`,
    `<stop offset="1" stop-color="${formatHsl(hue + 30 + (b % 40), 68, 40)}"/></linearGradient></defs>`,
    '<rect width="512" height="512" fill="url(#g)"/>',
    `<circle cx="${80 + b * 1.4}" cy="${60 + c * 1.5}" r="${120 + (a % 90)}" fill="#fff" fill-opacity=".12"/>`,
    '<g transform="translate(96 96) scale(13.33)" fill="none" stroke="#fff" stroke-width="1.7" stroke-linecap="round"',
    ` stroke-linejoin="round"><path d="${signs[category]}"/></g>`,
  ]);
}

/** Returns an SVG of 1024 × 320: hills in the bot's colours. */
export function drawCover(slug: string): string {
  const bytes = hashText(slug);
  const hue = computeHue(slug);
  const hills = [0, 1, 2, 3].map((layer) => {
    const points = Array.from({ length: 9 }, (_, i) => {
      const height = 110 + layer * 65 + ((bytes[(layer * 7 + i) % bytes.length] ?? 0) % 80);
      return `${i * 160} ${height}`;
    });
    const [first = '0 200', ...rest] = points;
    const curve = rest.map((point, i) => `S${i * 160 + 110} ${point.split(' ')[1]} ${point}`).join('');
    return `<path d="M0 400V${first.split(' ')[1]}${curve}V400Z" fill="${formatHsl(hue + layer * 12, 60, 62 - layer * 12)}"/>`;
  });
  const [x = 0, y = 0] = bytes;
  return formatSvg(1024, 320, '1280 400', [
    `<rect width="1280" height="400" fill="${formatHsl(hue - 20, 75, 86)}"/>`,
    `<circle cx="${200 + x * 3}" cy="${70 + (y % 60)}" r="46" fill="#fff" fill-opacity=".75"/>`,
    ...hills,
  ]);
}

/** Returns an SVG of 800 × 450: a chat in which the bot responds with a card. @param number from 0 */
export function drawScreenshot(slug: string, number: number): string {
  const bytes = hashText(`${slug} ${number}`);
  const hue = computeHue(slug);
  const dark = number % 2 === 0;
  const [ground, side, line, card] = dark
    ? ['#2b2d35', '#212228', '#8d92a0', '#363944']
    : ['#fdfdfd', '#eeeff2', '#a4a8b3', '#f3f4f7'];
  const parts = [
    `<rect width="960" height="540" fill="${ground}"/><rect width="190" height="540" fill="${side}"/>`,
    ...Array.from({ length: 9 }, (_, i) => drawBar(26, 34 + i * 44, 60 + (bytes[i] ?? 0) / 3, 12, line, 0.6)),
  ];
  let y = 36;
  for (let i = 0; y < 460; i++) {
    const byte = bytes[10 + i] ?? 0;
    const isBot = i % 2 === 1;
    const colour = isBot ? formatHsl(hue, 65, 52) : formatHsl(byte * 1.4, 35, 60);
    parts.push(`<circle cx="240" cy="${y + 16}" r="20" fill="${colour}"/>`);
    parts.push(drawBar(276, y, 70 + (byte % 60), 12, colour, 1));
    parts.push(drawBar(276, y + 24, 220 + byte * 1.2, 12, line, 0.8));
    y += 66;
    if (!isBot) continue;
    const height = 70 + (byte % 3) * 34;
    parts.push(`<rect x="276" y="${y - 14}" width="480" height="${height}" rx="8" fill="${card}"/>`);
    parts.push(drawBar(276, y - 14, 6, height, formatHsl(hue, 65, 52), 1));
    for (let row = 0; row < height / 26 - 1; row++)
      parts.push(drawBar(304, y + 2 + row * 24, 140 + ((byte * (row + 3)) % 250), 11, line, 0.9));
    y += height + 10;
  }
  return formatSvg(800, 450, '960 540', parts);
}

/** Paths in a square of 24, as lines. */
const signs: Readonly<Record<Category, string>> = {
  education: 'M2 9l10-5 10 5-10 5zM6 11.5v5c3 2.6 9 2.6 12 0v-5M22 9v6',
  entertainment: 'M3 8h18v12H3zM3 8l2-4 16 1-1 3M9 4.2L8 8M15 4.6L14 8',
  fun: 'M12 2a10 10 0 1 0 .01 0M8 14c2 3 6 3 8 0M8.5 9v.5M15.5 9v.5',
  games:
    'M7 7h10a5 5 0 0 1 4 8c-1 3-3 2-5-1H8c-2 3-4 4-5 1a5 5 0 0 1 4-8zM8 9v3M6.5 10.5h3M15.5 10v.1M17.5 11.5v.1',
  image: 'M3 4h18v16H3zM3 17l5-6 5 6 3-3 5 5M16 8.5v.1',
  moderation: 'M12 2l8 3v7c0 5-4 8-8 10-4-2-8-5-8-10V5zM8.5 12l2.5 2.5 5-5',
  music: 'M9 18V5l11-2v13M9 18a3 3 0 1 1-3-3 3 3 0 0 1 3 3zM20 16a3 3 0 1 1-3-3 3 3 0 0 1 3 3z',
  news: 'M4 4h13v16H6a2 2 0 0 1-2-2zM17 9h3v9a2 2 0 0 1-3 2M8 8h5M8 12h5M8 16h5',
  notifications: 'M6 10a6 6 0 0 1 12 0c0 5 2 6 2 7H4c0-1 2-2 2-7zM10 20.5a2.2 2.2 0 0 0 4 0M12 2v2',
  other: 'M12 3l2.6 6 6.4.6-4.8 4.3 1.4 6.4L12 17l-5.6 3.3 1.4-6.4L3 9.6l6.4-.6z',
  productivity: 'M4 4h16v16H4zM8 12l3 3 5-6',
  utility: 'M15 4a5 5 0 0 0-5.5 6.8L3 17.3 6.7 21l6.5-6.5A5 5 0 0 0 20 9l-3 3-3-1-1-3z',
};

function formatSvg(width: number, height: number, box: string, parts: readonly string[]): string {
  const size = `width="${width}" height="${height}" viewBox="0 0 ${box}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" ${size}>${parts.join('')}</svg>`;
}

/** Returns a rounded bar, which is drawn for a line of text. */
function drawBar(
  x: number,
  y: number,
  width: number,
  height: number,
  colour: string,
  opacity: number,
): string {
  const place = `x="${x}" y="${y}" width="${Math.round(width)}" height="${height}" rx="${Math.min(6, width / 2)}"`;
  return `<rect ${place} fill="${colour}" fill-opacity="${opacity}"/>`;
}

function computeHue(slug: string): number {
  const [a = 0, b = 0] = hashText(slug).subarray(20);
  return (a * 256 + b) % 360;
}

function hashText(text: string): Buffer {
  return hash('sha256', text, 'buffer');
}

function formatHsl(hue: number, saturation: number, lightness: number): string {
  return `hsl(${Math.round(hue + 360) % 360},${saturation}%,${lightness}%)`;
}
