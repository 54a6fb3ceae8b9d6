import { botsFolder } from '../catalogue/page/layout.ts';
import { type FileReader, readSettings, type SettingsReading } from '../catalogue/settings/read-settings.ts';
import { type CatalogueSettings, settingsName } from '../catalogue/settings/settings.ts';
import type { ChangedFile } from '../git/changed-files.ts';
import { fetchMissing } from '../git/fetch.ts';
import { checkSettingsChange } from './change-rules.ts';
import { type Finding, toErrorFinding } from './check.ts';
import { openCommitSource } from './commit-source.ts';
import { type Scope, createScope } from './scope.ts';
import { type CatalogueSource, createFolderSource } from './source.ts';

/** The catalogue after a change: what is to be checked of it, and its settings. */
export interface ChangedCatalogue {
  readonly source: CatalogueSource;
  readonly scope: Scope;
  readonly settings: SettingsReading;
  /** What the change does to the settings; empty where it is not about them or their logo. */
  readonly findings: readonly Finding[];
}

/**
 * Opens the catalogue as it is after a change. All bots are to be checked where its settings refuse a category or a language
 * that they allowed before, else those of `paths`. A partial clone fetches what this needs in one request.
 * @param paths the changed paths, each relative to the catalogue's folder
 * @param formerFiles the former bytes by blob id
 */
export async function openChangedCatalogue(
  root: string,
  after: string | null,
  changes: readonly ChangedFile[],
  paths: readonly string[],
  formerFiles: ReadonlyMap<string, Buffer>,
): Promise<ChangedCatalogue> {
  const ownPaths = paths.filter((path) => path.startsWith(`${botsFolder}/`));
  const own = createScope(ownPaths);
  const source = await openSource(root, after, own);
  const settings = await readSettings(withoutLogo(source.readFile));
  const { logoPath } = settings;
  if (!paths.some((path) => path === settingsName || path === logoPath))
    return { source, scope: own, settings, findings: [] };
  source.close?.();
  const former = paths.includes(settingsName)
    ? await readFormerSettings(changes, formerFiles)
    : settings.settings;
  const scope = refusesMore(former, settings.settings) ? 'everything' : own;
  if (after !== null) {
    // A new name is compared with those of all bots.
    const bots = scope === 'everything' || ownPaths.length > 0 ? [botsFolder] : [];
    await fetchMissing(root, [`${after}^{tree}`, '--', logoPath ?? settingsName, ...bots]);
  }
  const wider = await openSource(root, after, scope);
  const now = await readSettings(wider.readFile);
  const findings = [...now.faults.map(toErrorFinding), ...checkSettingsChange(now, former)];
  return { source: wider, scope, settings: now, findings };
}

async function openSource(root: string, after: string | null, scope: Scope): Promise<CatalogueSource> {
  return after === null ? createFolderSource(root) : await openCommitSource(root, after, scope);
}

/** Returns the settings before a change; undefined where they had a fault. */
async function readFormerSettings(
  changes: readonly ChangedFile[],
  formerFiles: ReadonlyMap<string, Buffer>,
): Promise<CatalogueSettings | undefined> {
  const { previousBlob = null } = changes.find(({ previousPath }) => previousPath === settingsName) ?? {};
  const bytes = previousBlob === null ? undefined : (formerFiles.get(previousBlob) ?? 'too large');
  return (await readSettings(withoutLogo(async () => await Promise.resolve(bytes)))).settings;
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
