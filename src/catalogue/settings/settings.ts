import { hash } from 'node:crypto';
import { readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import type { Category, SettingsFile } from '../../../schemas/types.ts';
import { type Locale, toCanonicalLocale } from '../../bot/locale.ts';
import { defaultCategories } from '../../bot/schemas.ts';
import { parseTree } from '../../git/objects.ts';
import { type RepositoryOpener, toUnavailableError } from '../../git/repository.ts';
import type { Fault } from '../page/fault.ts';
import type { FileReader, FileReading } from '../page/page-file.ts';
import type { Page } from '../page/page.ts';
import { parseJsonFile } from '../page/side-file.ts';
import { type AccentColours, computeColours, findWorstContrast, minContrast, type Scheme } from './accent.ts';

/**
 * The settings in force: the keys of the file, which its schema describes, with defaults; null if a key has no default.
 * A new object whenever they change.
 */
export interface CatalogueSettings
  extends
    Readonly<Pick<SettingsKeys, 'name' | 'about' | 'links' | 'categoryTexts' | 'synonyms' | 'inactiveDays'>>,
    OrNull<Pick<SettingsKeys, 'tagline' | 'notice' | 'contact' | 'license' | 'featured' | 'repository'>> {
  /** Replace those of the stylesheet on light or dark pages. */
  readonly accent: Partial<Readonly<Record<Scheme, AccentColours>>>;
  readonly logo: Logo | null;
  readonly language: Locale;
  readonly languages: readonly Locale[] | null;
  /** Every category that a bot can have, in the order of pages. */
  readonly categories: readonly Category[];
  /** Category → its names by language, if the file has names. */
  readonly categoryNames: ReadonlyMap<Category, Readonly<Record<string, string>>>;
  /** Only the committed settings decide: see `readCommittedSettings`. */
  readonly maintainers: readonly string[];
  /** `publish` commits immediately, except for the changes that `findReviewedChanges` finds; `off` accepts none. */
  readonly proposals: Readonly<Required<Omit<SettingsKeys['proposals'], 'reasons'>>> & {
    /** Null for `defaultReasons`. */
    readonly reasons: readonly string[] | null;
  };
}

type SettingsKeys = Required<SettingsFile>;

type OrNull<T> = { readonly [Key in keyof T]: T[Key] | null };

/** Reasons for declining a proposal if the settings do not list any: keys of texts of the interface. */
export const defaultReasons = [
  'duplicate',
  'offline',
  'not-a-bot',
  'unclear',
  'permissions',
  'rules',
  'other',
] as const;

/** The name of the settings file, next to `bots/`. */
export const settingsName = 'botshelf.json';

/** Returns the settings of a file; without a file, the defaults. @param file valid by its schema */
export function toSettings(file: SettingsFile = {}, logo: Logo | null = null): CatalogueSettings {
  const { language = 'en', languages = null, categories } = file;
  return {
    ...defaults,
    ...file,
    accent: readAccent(file),
    logo,
    language: language as Locale,
    languages: languages as Locale[] | null,
    // Bots without a known category are in `other`.
    categories:
      categories === undefined ? defaultCategories : [...new Set([...Object.keys(categories), 'other'])],
    categoryNames: new Map(Object.entries(categories ?? {})),
    proposals: { ...defaults.proposals, ...file.proposals },
  };
}

const defaults: Omit<
  CatalogueSettings,
  'accent' | 'logo' | 'language' | 'languages' | 'categories' | 'categoryNames'
> = {
  name: 'Botshelf',
  tagline: null,
  notice: null,
  contact: null,
  license: null,
  about: {},
  links: {},
  categoryTexts: {},
  featured: null,
  synonyms: [],
  repository: null,
  inactiveDays: 30,
  maintainers: [],
  proposals: {
    newBots: 'review',
    authors: 'review',
    token: 'review',
    others: 'review',
    minAccountAgeDays: 0,
    reasons: null,
  },
};

/** Returns the language to suggest for a new page: the default one, or the first that pages may be in. */
export function chooseNewPageLanguage(settings: Pick<CatalogueSettings, 'language' | 'languages'>): Locale {
  const { language, languages } = settings;
  return languages === null || languages.includes(language) ? language : (languages[0] ?? language);
}

/** The image next to the site's name. */
interface Logo extends Pick<(typeof logoFormats)[number], 'type' | 'extension'> {
  readonly body: Buffer;
  readonly digest: string;
}

/** The largest size of a logo, in bytes. */
const maxLogoSize = 128 * 1024;

/** Returns the logo in a file, or the problem, a colon, and the fix. */
function parseLogo(path: string, body: FileReading): Logo | string {
  if (body === undefined)
    return `there is no file ${path} in the repository: add the image, or leave the key out`;
  if (typeof body === 'string') return `${path}: ${body}`;
  if (body.length > maxLogoSize) return `the image has more than ${maxLogoSize} bytes: make it smaller`;
  const head = body.toString('latin1', 0, 12);
  const kind = logoFormats.find(({ begins }) => begins.test(head));
  if (kind === undefined) return 'this is not an image that can be used: save it as a PNG, WebP or JPEG';
  if (!kind.isWhole(body)) return 'the image is cut off: put the whole file here';
  const { type, extension } = kind;
  return { type, extension, body: Buffer.from(body), digest: hash('sha1', body, 'base64url') };
}

/** SVG is not allowed because it may contain scripts. */
const logoFormats = [
  {
    type: 'image/png',
    extension: 'png',
    begins: /^\x89PNG\r\n/,
    isWhole: (body: Buffer) => body.includes('IEND', body.length - 12, 'latin1'),
  },
  {
    type: 'image/jpeg',
    extension: 'jpg',
    begins: /^\xff\xd8\xff/,
    isWhole: (body: Buffer) => body.readUInt16BE(body.length - 2) === 0xffd9,
  },
  {
    type: 'image/webp',
    extension: 'webp',
    begins: /^RIFF.{4}WEBP/s,
    isWhole: (body: Buffer) => body.readUInt32LE(4) + 8 <= body.length,
  },
] as const;

/** The folder of the files of the interface, one for each language. */
export const localesFolder = fileURLToPath(new URL('./locales', import.meta.resolve('#package')));

/** Returns the languages of the interface, in order of tag. */
function listInterfaceLocales(): Locale[] {
  return readdirSync(localesFolder)
    .toSorted()
    .flatMap((name) => toCanonicalLocale(name.replace(/\.json$/, '')) ?? []);
}

/** The result of reading the settings file. */
export interface SettingsReading {
  /** Whether the settings file exists. */
  readonly found: boolean;
  /** The text of the file; null if it does not exist, or is not text. */
  readonly text: string | null;
  /** The settings, with defaults in place of faulty values; undefined if the file breaks the schema. */
  readonly settings: CatalogueSettings | undefined;
  readonly faults: readonly Fault[];
  /** The path of the logo; null if the file does not name one. */
  readonly logoPath: string | null;
}

/** In bytes. */
const maxSettingsSize = 64 * 1024;

/**
 * Reads the settings of a catalogue and the logo that they name, and finds all faults; never throws. Without a file,
 * the settings are the defaults.
 */
export async function readSettings(readFile: FileReader): Promise<SettingsReading> {
  const reading = await readFile(settingsName);
  const { logoPath } = parseSettings(reading);
  const logo = logoPath === null ? undefined : await readFile(logoPath);
  return parseSettings(reading, () => logo);
}

/** Parses settings, like readSettings. @param readFile reads the logo; left out, the logo counts as missing */
export function parseSettings(
  reading: FileReading,
  readFile: (path: string) => FileReading = () => undefined,
): SettingsReading {
  if (reading === undefined)
    return { found: false, text: null, settings: toSettings(), faults: [], logoPath: null };
  const parsed = parseJsonFile<SettingsFile>('settings', settingsName, reading, { maxSize: maxSettingsSize });
  if ('faults' in parsed)
    return { found: true, text: null, settings: undefined, faults: parsed.faults, logoPath: null };
  const { data: file, text, faultAt } = parsed.value;
  const logo = file.logo === undefined ? null : parseLogo(file.logo, readFile(file.logo));
  const faults = [
    ...findAccentFaults(file, faultAt),
    ...findLanguageFaults(file, faultAt),
    ...(typeof logo === 'string' ? [faultAt(['logo'], 'logo', logo)] : []),
  ];
  const faulty = new Set(faults.map(({ rule }) => rule));
  const usable = Object.entries(file).filter(([key]) => !faulty.has(key));
  return {
    found: true,
    text,
    settings: toSettings(Object.fromEntries(usable), typeof logo === 'string' ? null : logo),
    faults,
    logoPath: file.logo ?? null,
  };
}

function readAccent({ accent = {} }: SettingsFile): CatalogueSettings['accent'] {
  const colours = (Object.entries(accent) as [Scheme, string][]).map(
    ([scheme, colour]) => [scheme, computeColours(colour, scheme)] as const,
  );
  return Object.fromEntries(colours);
}

function findAccentFaults({ accent = {} }: SettingsFile, faultAt: Page['faultAt']): Fault[] {
  return (Object.entries(accent) as [Scheme, string][]).flatMap(([scheme, colour]) => {
    const { ratio, background } = findWorstContrast(colour, scheme);
    if (ratio >= minContrast) return [];
    // Rounded down, because 4.49 is too little.
    const shown = (Math.floor(ratio * 100) / 100).toFixed(2);
    const fix = scheme === 'light' ? 'a darker one' : 'a lighter one';
    const message = `${colour} has a contrast of ${shown} to 1 with the background ${background}, and text needs ${minContrast}: choose ${fix}`;
    return [faultAt(['accent', scheme], 'accent', message)];
  });
}

function findLanguageFaults({ language }: SettingsFile, faultAt: Page['faultAt']): Fault[] {
  const known = listInterfaceLocales();
  if (language === undefined || known.some((locale) => locale === language)) return [];
  const message = `the interface is not translated into ${language}: choose one of ${known.join(', ')}`;
  return [faultAt(['language'], 'language', message)];
}

/**
 * Reads the settings from the last commit, because they decide who is a maintainer. Ignores uncommitted edits, the
 * index and the logo. Returns the defaults if the commit does not have the file; undefined if the file has a fault;
 * the same object while the file stays the same.
 * @throws {BotshelfError} unavailable, when there is no repository, or it cannot be read
 */
export async function readCommittedSettings(
  repositoryOpener: RepositoryOpener,
): Promise<CatalogueSettings | undefined> {
  const { objects, hash, prefix } = await repositoryOpener.open();
  try {
    const folder = await objects.readOne(`HEAD:${prefix}`);
    const entry = folder && parseTree(folder.content, hash, new Set([settingsName])).get(settingsName);
    if (entry === undefined) return toSettings();
    if (!entry.mode.startsWith('100')) return undefined;
    if (lastParsed?.blob !== entry.id) {
      const blob = await objects.readOne(entry.id);
      lastParsed = { blob: entry.id, settings: blob && parseWithoutLogo(blob.content) };
    }
    return lastParsed.settings;
  } catch (error) {
    throw toUnavailableError(error);
  }
}

/** The last result, reused because a blob never changes. */
let lastParsed: { readonly blob: string; readonly settings: CatalogueSettings | undefined } | undefined;

function parseWithoutLogo(bytes: Buffer): CatalogueSettings | undefined {
  const { settings, faults } = parseSettings(bytes);
  return faults.every(({ rule }) => rule === 'logo') ? settings : undefined;
}
