import { realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { SettingsFile } from '../../bot/schema-types.ts';
import { createLocator } from '../../lib/edit-json.ts';
import { type Fault, createFileFault, findPosition } from '../page/fault.ts';
import { readStrictJson } from '../../lib/strict-json.ts';
import { findEncodingFault } from '../page/page.ts';
import { readRegularFile } from '../page/page-file.ts';
import { formatPlace } from '../page/rules.ts';
import { validate } from '../page/schema.ts';
import { minContrast, type Scheme, findWorstContrast } from './contrast.ts';
import { listInterfaceLocales } from './interface-locales.ts';
import { type Logo, parseLogo } from './logo.ts';
import { type CatalogueSettings, settingsName, toSettings } from './settings.ts';

/** A file as it was read: its bytes, or why it cannot be read; undefined where there is none. */
export type FileReading = Buffer | string | undefined;

/** Reads a file of the catalogue's repository by its path, which is relative to the settings. Follows no link. */
export type FileReader = (path: string) => Promise<FileReading>;

/** Returns a reader of the files of a catalogue on disk. Refuses links: a file, or a folder above it. */
export function createDiskReader(root: string): FileReader {
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  return async (path) => {
    const absolute = join(root, path);
    try {
      if (realpathSync(dirname(absolute)) !== join(realpathSync(root), dirname(path)))
        return 'a folder above it is a symbolic link: put the file itself here';
    } catch {
      return undefined;
    }
    return readRegularFile(absolute);
  };
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
  const bytes = await readFile(settingsName);
  if (bytes === undefined)
    return { found: false, text: null, settings: toSettings(), faults: [], logoPath: null };
  if (typeof bytes === 'string')
    return refuseSettings([createFileFault(settingsName, 'regular-file', bytes)]);
  return await parseSettings(Buffer.from(bytes), readFile);
}

/** Reads settings from the bytes of their file; as readSettings does. */
export async function parseSettings(bytes: Buffer, readFile: FileReader): Promise<SettingsReading> {
  const fault = bytes.length > maxSettingsSize ? sizeFault : findEncodingFault(settingsName, bytes);
  if (fault !== undefined) return refuseSettings([fault]);
  const text = bytes.toString();
  const read = readStrictJson(text, 'the file');
  const at = (offset: number, rule: string, message: string): Fault => {
    return { path: settingsName, ...findPosition(text, offset), rule, message };
  };
  if ('faults' in read) {
    return refuseSettings(read.faults.map(({ offset, rule, message }) => at(offset, rule, message)));
  }
  const offsetOf = createLocator(text);
  const faultAt: FaultAt = (place, rule, message, atKey) =>
    at(offsetOf([...place], atKey), rule, `${formatPlace(place)}${message}`);
  const misfits = validate('settings', read.data).map(({ place, keyword, atKey, message }) =>
    faultAt(place, keyword, message, atKey),
  );
  if (misfits.length > 0) return refuseSettings(misfits);
  const file: SettingsFile = read.data;
  const logo = file.logo === undefined ? null : await readLogo(file.logo, readFile);
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

type FaultAt = (place: readonly (string | number)[], rule: string, message: string, atKey?: boolean) => Fault;

const sizeFault = createFileFault(
  settingsName,
  'file-size',
  `the file has more than ${maxSettingsSize} bytes: shorten it`,
);

function refuseSettings(faults: readonly Fault[]): SettingsReading {
  return { found: true, text: null, settings: undefined, faults, logoPath: null };
}

async function readLogo(path: string, readFile: FileReader): Promise<Logo | string> {
  const bytes = await readFile(path);
  if (bytes === undefined)
    return `there is no file ${path} in the repository: add the picture, or leave the key out`;
  return typeof bytes === 'string' ? `${path}: ${bytes}` : parseLogo(bytes);
}

function findAccentFaults({ accent = {} }: SettingsFile, faultAt: FaultAt): Fault[] {
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

function findLanguageFaults({ language }: SettingsFile, faultAt: FaultAt): Fault[] {
  const known = listInterfaceLocales();
  if (language === undefined || known.some((locale) => locale === language)) return [];
  const message = `the interface is not translated into ${language}: choose one of ${known.join(', ')}`;
  return [faultAt(['language'], 'language', message)];
}
