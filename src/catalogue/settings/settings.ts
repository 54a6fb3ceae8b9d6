import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Locale, toCanonicalLocale } from '../../bot/locale.ts';
import type { Category, SettingsFile } from '../../bot/schema-types.ts';
import { defaultCategories } from '../../bot/schemas.ts';

/** The settings of a catalogue as they are in force. A new object whenever they change. */
export interface CatalogueSettings {
  /** What the site is called. */
  readonly name: string;
  /** What the site is for, in the default language; null for the text of the interface. */
  readonly tagline: string | null;
  /** News for every visitor, in the default language. */
  readonly notice: string | null;
  readonly contact: string | null;
  /** Links at the foot of every page. */
  readonly links: Readonly<Partial<Record<FooterLink, string>>>;
  /** Colours as #rrggbb, in place of those of the stylesheet. */
  readonly accent: { readonly light?: string; readonly dark?: string };
  readonly logo: Logo | null;
  /** The language of the interface for readers whose own it does not have. */
  readonly language: Locale;
  /** Every category that a bot can have. */
  readonly categories: readonly Category[];
  /** Category → its names by language, where the file has names. */
  readonly categoryNames: ReadonlyMap<Category, Readonly<Record<string, string>>>;
  /** Words that mean the same to a search, beside those that it knows. */
  readonly synonyms: readonly (readonly string[])[];
  /** The languages that the pages of bots may be in; null for any. */
  readonly languages: readonly Locale[] | null;
  /** The web pages of the repository, in place of those that follow from the remote; `{path}` is the path of a file. */
  readonly repository: NonNullable<SettingsFile['repository']> | null;
  /** After how many days without a new count a bot is inactive. */
  readonly inactiveDays: number;
  /** The ids of the accounts that may review proposals. Those of the last commit decide: see `readCommittedSettings`. */
  readonly maintainers: readonly string[];
  readonly proposals: ProposalPolicies;
}

/** What is done with proposals, by who sends them; `off` takes none. */
interface ProposalPolicies {
  readonly newBots: 'review' | 'off';
  /** For changes of a bot by its authors. `publish` commits them at once, but for those of `findReviewedChanges`. */
  readonly authors: 'review' | 'publish' | 'off';
  /** For changes of a bot by anybody else. */
  readonly others: 'review' | 'off';
  /** How old the account of a proposer has to be, where its id tells. */
  readonly minAccountAgeDays: number;
  /** Why a proposal can be declined, in the default language; null for `defaultReasons`. */
  readonly reasons: readonly string[] | null;
}

/** Why a proposal can be declined, where the settings have no list: keys of texts of the interface. */
export const defaultReasons = ['duplicate', 'offline', 'not-a-bot', 'unclear', 'rules'] as const;

export type FooterLink = 'terms' | 'privacy' | 'report';

/** The name of the file that has the settings, beside `bots/`. */
export const settingsName = 'botshelf.json';

/** Returns the settings that a file has; without one, the defaults. @param file valid by its schema */
export function toSettings(file: SettingsFile = {}, logo: Logo | null = null): CatalogueSettings {
  return {
    name: file.name ?? 'Botshelf',
    tagline: file.tagline ?? null,
    notice: file.notice ?? null,
    contact: file.contact ?? null,
    links: file.links ?? {},
    accent: file.accent ?? {},
    logo,
    language: (file.language ?? 'en') as Locale,
    categories: file.categories === undefined ? defaultCategories : withOther(Object.keys(file.categories)),
    categoryNames: new Map(Object.entries(file.categories ?? {})),
    synonyms: file.synonyms ?? [],
    languages: (file.languages as Locale[] | undefined) ?? null,
    repository: file.repository ?? null,
    inactiveDays: file.inactiveDays ?? 30,
    maintainers: file.maintainers ?? [],
    proposals: { ...defaultPolicies, ...file.proposals },
  };
}

const defaultPolicies: ProposalPolicies = {
  newBots: 'review',
  authors: 'review',
  others: 'review',
  minAccountAgeDays: 0,
  reasons: null,
};

/** Returns the language that is proposed for a new page: the default one, or the first of those that pages may be in. */
export function chooseNewPageLanguage({
  language,
  languages,
}: Pick<CatalogueSettings, 'language' | 'languages'>): Locale {
  return languages === null || languages.includes(language) ? language : (languages[0] ?? language);
}

/** What a bot falls back to. */
const other: Category = 'other';

function withOther(categories: readonly Category[]): readonly Category[] {
  return categories.includes(other) ? categories : [...categories, other];
}

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

/** The folder of the files of the interface, one for each language. */
export const localesFolder = fileURLToPath(new URL('./locales', import.meta.resolve('#package')));

/** Returns the languages that the interface has, in the order of their tags. */
export function listInterfaceLocales(): Locale[] {
  return readdirSync(localesFolder)
    .toSorted()
    .flatMap((name) => toCanonicalLocale(name.replace(/\.json$/, '')) ?? []);
}

/** A colour on which text of the accent colour is read: how well it can be told from it, from 1 to 21. */
interface Contrast {
  readonly background: string;
  readonly ratio: number;
}

/** Light or dark pages. */
export type Scheme = 'light' | 'dark';

/** The contrast that text has at least (WCAG 2.2, level AA). */
export const minContrast = 4.5;

/** The backgrounds of a scheme in assets/site.css, and the text on a filled accent colour. Each as #rrggbb. */
export const schemes: Readonly<
  Record<Scheme, Readonly<Record<'ground' | 'surface' | 'sunken' | 'accentInk', string>>>
> = {
  light: { ground: '#f8f8f6', surface: '#ffffff', sunken: '#efefec', accentInk: '#ffffff' },
  dark: { ground: '#131419', surface: '#1b1d24', sunken: '#24262f', accentInk: '#131419' },
};

/** Returns the background of a scheme's pages on which an accent colour is hardest to read. */
export function findWorstContrast(accent: string, scheme: Scheme): Contrast {
  const { ground, surface, sunken } = schemes[scheme];
  const all = [ground, surface, sunken, computeSoftAccent(accent, scheme)].map((background) => ({
    background,
    ratio: computeContrast(accent, background),
  }));
  return all.reduce((worst, other) => (other.ratio < worst.ratio ? other : worst));
}

/** Returns the pale form of an accent colour, which is a background for it. */
export function computeSoftAccent(accent: string, scheme: Scheme): string {
  const [over, under] = [parseChannels(accent), parseChannels(schemes[scheme].surface)];
  const mixed = under.map((value, i) => Math.round(value + ((over[i] ?? 0) - value) * softShare));
  return `#${mixed.map((value) => value.toString(16).padStart(2, '0')).join('')}`;
}

/** How much of the accent colour is in its pale form. */
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
