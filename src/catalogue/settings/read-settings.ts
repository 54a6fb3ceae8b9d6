import type { SettingsFile } from '../../bot/schema-types.ts';
import { locator } from '../../lib/edit-json.ts';
import { type Fault, fileFault, positionAt } from '../page/fault.ts';
import { parseFrontMatter } from '../page/front-matter.ts';
import { encodingFault } from '../page/page.ts';
import { label } from '../page/rules.ts';
import { validate } from '../page/schema.ts';
import { leastContrast, type Scheme, worstContrast } from './contrast.ts';
import { interfaceLocales } from './interface-locales.ts';
import { type Logo, logoOf } from './logo.ts';
import { type CatalogueSettings, settingsName, settingsOf } from './settings.ts';

/** A file as it was read: its bytes, or why it cannot be read; undefined where there is none. */
export type FileReading = Buffer | string | undefined;

/** Reads a file of the catalogue's repository by its path, which is relative to the settings. Follows no link. */
export type FileReader = (path: string) => Promise<FileReading>;

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
    return { found: false, text: null, settings: settingsOf(), faults: [], logoPath: null };
  if (typeof bytes === 'string') return refused([fileFault(settingsName, 'regular-file', bytes)]);
  return await parseSettings(Buffer.from(bytes), readFile);
}

/** Reads settings from the bytes of their file; as readSettings does. */
export async function parseSettings(bytes: Buffer, readFile: FileReader): Promise<SettingsReading> {
  const fault = bytes.length > maxSettingsSize ? sizeFault : encodingFault(settingsName, bytes);
  if (fault !== undefined) return refused([fault]);
  const text = bytes.toString();
  const read = parseFrontMatter(text, 'the file');
  const at = (offset: number, rule: string, message: string): Fault => {
    return { path: settingsName, ...positionAt(text, offset), rule, message };
  };
  if ('faults' in read) {
    return refused(read.faults.map(({ offset, rule, message }) => at(offset, rule, message)));
  }
  const offsetOf = locator(text);
  const faultAt: FaultAt = (place, rule, message, atKey) =>
    at(offsetOf([...place], atKey), rule, `${label(place)}${message}`);
  const misfits = validate('settings', read.data).map(({ place, keyword, atKey, message }) =>
    faultAt(place, keyword, message, atKey),
  );
  if (misfits.length > 0) return refused(misfits);
  const file: SettingsFile = read.data;
  const logo = file.logo === undefined ? null : await readLogo(file.logo, readFile);
  const faults = [
    ...faultsOfAccent(file, faultAt),
    ...faultsOfLanguage(file, faultAt),
    ...(typeof logo === 'string' ? [faultAt(['logo'], 'logo', logo)] : []),
  ];
  const faulty = new Set(faults.map(({ rule }) => rule));
  const usable = Object.entries(file).filter(([key]) => !faulty.has(key));
  return {
    found: true,
    text,
    settings: settingsOf(Object.fromEntries(usable), typeof logo === 'string' ? null : logo),
    faults,
    logoPath: file.logo ?? null,
  };
}

type FaultAt = (place: readonly (string | number)[], rule: string, message: string, atKey?: boolean) => Fault;

const sizeFault = fileFault(
  settingsName,
  'file-size',
  `the file has more than ${maxSettingsSize} bytes: shorten it`,
);

function refused(faults: readonly Fault[]): SettingsReading {
  return { found: true, text: null, settings: undefined, faults, logoPath: null };
}

async function readLogo(path: string, readFile: FileReader): Promise<Logo | string> {
  const bytes = await readFile(path);
  if (bytes === undefined)
    return `there is no file ${path} in the repository: add the picture, or leave the key out`;
  return typeof bytes === 'string' ? `${path}: ${bytes}` : logoOf(bytes);
}

function faultsOfAccent({ accent = {} }: SettingsFile, faultAt: FaultAt): Fault[] {
  return (Object.entries(accent) as [Scheme, string][]).flatMap(([scheme, colour]) => {
    const { ratio, background } = worstContrast(colour, scheme);
    if (ratio >= leastContrast) return [];
    // Rounded down, as 4.49 is too little.
    const shown = (Math.floor(ratio * 100) / 100).toFixed(2);
    const fix = scheme === 'light' ? 'a darker one' : 'a lighter one';
    const message = `${colour} has a contrast of ${shown} to 1 with the background ${background}, and text needs ${leastContrast}: choose ${fix}`;
    return [faultAt(['accent', scheme], 'accent', message)];
  });
}

function faultsOfLanguage({ language }: SettingsFile, faultAt: FaultAt): Fault[] {
  const known = interfaceLocales();
  if (language === undefined || known.some((locale) => locale === language)) return [];
  const message = `the interface is not translated into ${language}: choose one of ${known.join(', ')}`;
  return [faultAt(['language'], 'language', message)];
}
