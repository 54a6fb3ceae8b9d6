/** Light or dark pages. */
export type Scheme = 'light' | 'dark';

/** Minimum contrast of text (WCAG 2.2, level AA). */
export const minContrast = 4.5;

/** For each scheme, the backgrounds of assets/site.css and the text on a filled accent colour, as #rrggbb. */
export const schemes: Readonly<
  Record<Scheme, Readonly<Record<'ground' | 'surface' | 'sunken' | 'wall' | 'accentInk', string>>>
> = {
  light: { ground: '#ffffff', surface: '#ffffff', sunken: '#f1f4f0', wall: '#dde9cf', accentInk: '#ffffff' },
  dark: { ground: '#121714', surface: '#19201c', sunken: '#222a26', wall: '#1e281d', accentInk: '#1d1233' },
};

/** Returns the background of a scheme on which an accent colour is hardest to read, and the contrast, from 1 to 21. */
export function findWorstContrast(accent: string, scheme: Scheme): { background: string; ratio: number } {
  const { ground, surface, sunken, wall } = schemes[scheme];
  const all = [ground, surface, sunken, wall, computeSoftAccent(accent, scheme)].map((background) => ({
    background,
    ratio: computeContrast(accent, background),
  }));
  return all.reduce((worst, other) => (other.ratio < worst.ratio ? other : worst));
}

/** An accent colour, text on it, and its pale form, used as a background for it: each as #rrggbb, by its name in CSS. */
export type AccentColours = Readonly<Record<'accent' | 'accent-ink' | 'accent-soft', string>>;

export function computeColours(accent: string, scheme: Scheme): AccentColours {
  return {
    accent,
    'accent-ink': schemes[scheme].accentInk,
    'accent-soft': computeSoftAccent(accent, scheme),
  };
}

function computeSoftAccent(accent: string, scheme: Scheme): string {
  const [over, under] = [parseChannels(accent), parseChannels(schemes[scheme].surface)];
  const mixed = under.map((value, i) => Math.round(value + ((over[i] ?? 0) - value) * softShare));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** Share of the accent colour in its pale form. */
const softShare = 0.08;

/** Returns the contrast of two colours, each as #rrggbb. */
function computeContrast(a: string, b: string): number {
  const [lighter = 0, darker = 0] = [computeLuminance(a), computeLuminance(b)].toSorted((x, y) => y - x);
  return (lighter + 0.05) / (darker + 0.05);
}

function computeLuminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = parseChannels(colour)
    .map((value) => value / 255)
    .map((value) => (value <= 0.04045 ? value / 12.92 : ((value + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}

function parseChannels(colour: string): number[] {
  return [1, 3, 5].map((start) => Number.parseInt(colour.slice(start, start + 2), 16));
}
