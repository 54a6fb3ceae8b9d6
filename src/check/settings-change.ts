import { botsFolder } from '../catalogue/page/layout.ts';
import { type FileReader, readSettings, type SettingsReading } from '../catalogue/settings/read-settings.ts';
import { type CatalogueSettings, settingsName } from '../catalogue/settings/settings.ts';
import { fetchMissing } from '../git/fetch.ts';
import { checkSettingsChange } from './change-rules.ts';
import { type Finding, toErrorFinding } from './check.ts';
import type { CatalogueSource } from './source.ts';

/** The settings after a change. */
export interface ChangedSettings {
  readonly settings: SettingsReading;
  /** Whether they refuse a category or a language that they allowed before, so that all bots are to be checked. */
  readonly refuseMore: boolean;
  /** What the change does to them; empty where it is not about them or their logo. */
  readonly findings: readonly Finding[];
}

/**
 * Compares the settings before and after a change. A partial clone fetches what this needs in one request.
 * @param after the commit or tree that `now` reads
 * @param paths the changed paths, each relative to the catalogue's folder
 */
export async function compareSettings(
  root: string,
  before: CatalogueSource,
  now: CatalogueSource,
  after: string,
  paths: readonly string[],
): Promise<ChangedSettings> {
  const settings = await readSettings(withoutLogo(now.readFile));
  const { logoPath } = settings;
  if (!paths.some((path) => path === settingsName || path === logoPath))
    return { settings, refuseMore: false, findings: [] };
  const former = (await readSettings(withoutLogo(before.readFile))).settings;
  const refuseMore = refusesMore(former, settings.settings);
  // A new name is compared with those of all bots.
  const bots = refuseMore || paths.some((path) => path.startsWith(`${botsFolder}/`)) ? [botsFolder] : [];
  await fetchMissing(root, [`${after}^{tree}`, '--', logoPath ?? settingsName, ...bots]);
  const whole = await readSettings(now.readFile);
  const findings = [...whole.faults.map(toErrorFinding), ...checkSettingsChange(whole, former)];
  return { settings: whole, refuseMore, findings };
}

/** Returns a reader to which only the settings exist: the logo may be one more object to fetch. */
function withoutLogo(read: FileReader): FileReader {
  return async (path) => (path === settingsName ? await read(path) : undefined);
}

/** Whether settings refuse a category or a language that they allowed before. */
function refusesMore(before: CatalogueSettings | undefined, now: CatalogueSettings | undefined): boolean {
  if (now === undefined) return false;
  if (before === undefined) return true;
  const { categories, languages } = now;
  return (
    before.categories.some((category) => !categories.includes(category)) ||
    (languages !== null && !(before.languages?.every((locale) => languages.includes(locale)) ?? false))
  );
}
