import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SettingsFile } from '../../bot/schema-types.ts';
import type { Fault } from '../page/fault.ts';
import { parseJsonFile } from '../page/side-file.ts';
import type { Page } from '../page/page.ts';
import { readRegularFile } from '../page/page-file.ts';
import {
  minContrast,
  type Scheme,
  findWorstContrast,
  listInterfaceLocales,
  type Logo,
  parseLogo,
  type CatalogueSettings,
  settingsName,
  toSettings,
} from './settings.ts';

/** A file as it was read: its bytes, or why it cannot be read; undefined where there is none. */
export type FileReading = Buffer | string | undefined;

/** Reads a file of the catalogue's repository by its path, which is relative to the settings. Follows no link. */
export type FileReader = (path: string) => Promise<FileReading>;

/** Returns a reader of the files of a catalogue on disk. */
export function createDiskReader(root: string): FileReader {
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  return async (path) => readFromDisk(root, path);
}

/** Reads a file of a catalogue on disk. Refuses links: a file, or a folder above it. */
export function readFromDisk(root: string, path: string): FileReading {
  const absolute = join(root, path);
  try {
    if (realpathSync(dirname(absolute)) !== join(realpathSync(root), dirname(path)))
      return 'a folder above it is a symbolic link: put the file itself here';
  } catch {
    return undefined;
  }
  const bytes = readRegularFile(absolute);
  // The next read may come before the caller looks.
  return Buffer.isBuffer(bytes) ? Buffer.from(bytes) : bytes;
}

export interface SettingsReading {
  /** Whether there is a file with settings. */
  readonly found: boolean;
  /** The text of the file; null where there is none, or it is no text. */
  readonly text: string | null;
  /** The settings, without values that have a fault; undefined where the file does not fit the schema. */
  readonly settings: CatalogueSettings | undefined;
  readonly faults: readonly Fault[];
  /** The path of the logo; null where the file names none. */
  readonly logoPath: string | null;
}

/** The largest size of the file with the settings, in bytes. */
const maxSettingsSize = 64 * 1024;

/**
 * Reads the settings of a catalogue, and the logo that they name. Without a file they are the defaults. Finds all faults
 * at once; this never throws.
 */
export async function readSettings(readFile: FileReader): Promise<SettingsReading> {
  const reading = await readFile(settingsName);
  const { logoPath } = parseSettings(reading);
  const logo = logoPath === null ? undefined : await readFile(logoPath);
  return parseSettings(reading, () => logo);
}

/**
 * Parses settings, as readSettings does.
 * @param readFile reads the logo; without it there is none
 */
export function parseSettings(
  reading: FileReading,
  readFile: (path: string) => FileReading = () => undefined,
): SettingsReading {
  if (reading === undefined)
    return { found: false, text: null, settings: toSettings(), faults: [], logoPath: null };
  const parsed = parseJsonFile<SettingsFile>('settings', settingsName, reading, maxSettingsSize);
  if ('faults' in parsed)
    return { found: true, text: null, settings: undefined, faults: parsed.faults, logoPath: null };
  const { data: file, text, faultAt } = parsed.value;
  const logo = file.logo === undefined ? null : parseLogoFile(file.logo, readFile(file.logo));
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

function parseLogoFile(path: string, bytes: FileReading): Logo | string {
  if (bytes === undefined)
    return `there is no file ${path} in the repository: add the picture, or leave the key out`;
  return typeof bytes === 'string' ? `${path}: ${bytes}` : parseLogo(bytes);
}

function findAccentFaults({ accent = {} }: SettingsFile, faultAt: Page['faultAt']): Fault[] {
  return (Object.entries(accent) as [Scheme, string][]).flatMap(([scheme, colour]) => {
    const { ratio, background } = findWorstContrast(colour, scheme);
    if (ratio >= minContrast) return [];
    // Rounded down, as 4.49 is too little.
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
