import { readFileSync } from 'node:fs';
import type { ImportMap } from '../../schemas/types.ts';
import { readCommandConfig } from '../app/config.ts';
import { maxReadSize, createDiskReader } from '../catalogue/page/page-file.ts';
import { noLimits } from '../catalogue/page/rules.ts';
import { ensureValid, parseJsonFile } from '../catalogue/page/side-file.ts';
import { readBlocked } from '../catalogue/settings/blocked.ts';
import { readSettings, chooseNewPageLanguage, toSettings } from '../catalogue/settings/settings.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { importBots, type ImportOptions, ImportReport } from '../import/import-bots.ts';
import { suggestMap } from '../import/suggest-map.ts';
import { isError, UserError } from '../lib/errors.ts';
import { formatCount } from '../lib/text.ts';
import { readOnlyAdvice } from '../sync/command-commits.ts';
import { commitChange } from './change-bots.ts';
import { colour, createProgress, escapeInvisible, formatJson, warn } from './output.ts';

export interface ImportFlags {
  /** The file of the mapping. */
  readonly map?: string;
  readonly suggest?: boolean;
  readonly replace?: boolean;
  readonly dryRun?: boolean;
  readonly images?: boolean;
}

/** Imports a list of bots and prints a report; the exit code is 1 when some records did not fit. @throws {UserError} */
export async function importList(path: string, flags: ImportFlags): Promise<void> {
  const config = readCommandConfig();
  const { catalogue: root, blocked, readOnly } = config;
  const { settings } = await readSettings(createDiskReader(root));
  const usable = settings ?? toSettings();
  if (flags.suggest) {
    const map = await suggestMap(path, usable.categories, (text) => warn(escapeInvisible(text)));
    return void process.stdout.write(`${formatJson(map)}\n`);
  }
  if (readOnly && !flags.dryRun) throw new UserError(readOnlyAdvice);
  const report = new ImportReport();
  const options = {
    root,
    map: flags.map === undefined ? undefined : readMap(flags.map),
    limits: settings ?? noLimits,
    blocked: ensureValid(readBlocked(root, blocked)),
    locale: chooseNewPageLanguage(usable),
    replace: flags.replace ?? false,
    report,
  };
  const progress = createProgress();
  const repositoryOpener = new RepositoryOpener(root);
  const work: Pick<ImportOptions, 'prefix' | 'commit'> = flags.dryRun
    ? { prefix: '', commit: async (plan) => await plan() }
    : {
        prefix: (await repositoryOpener.open()).prefix,
        commit: async (plan) => await commitChange({ config, repositoryOpener }, plan),
      };
  try {
    await importBots(path, { ...options, ...work }, (count) =>
      progress.show(`${formatCount(count, 'record')} read, ${report.counts.added} added`),
    );
  } catch (error) {
    // Earlier commits stay.
    if (report.counts.added + report.counts.replaced > 0)
      process.stdout.write(report.print(escapeInvisible, formatRefusal));
    throw error;
  } finally {
    progress.end();
    repositoryOpener.close();
  }
  process.stdout.write(report.print(escapeInvisible, formatRefusal));
  if (report.counts.refused > 0) process.exitCode = 1;
  if (flags.images && !flags.dryRun) await fetchImages();
}

/** Fetches the images of all bots, unless a service runs here, which does that itself. @throws {UserError} */
async function fetchImages(): Promise<void> {
  const { images } = await import('./images.ts');
  await images().catch((error: unknown) => {
    if (!isError(error, 'already-running')) throw error;
    process.stdout.write('the images are fetched by the service that runs here\n');
  });
}

/** Returns a line of the report about a record that did not fit. */
function formatRefusal(text: string): string {
  return colour('error', escapeInvisible(text), process.stdout);
}

/** @throws {UserError} if the mapping has faults */
function readMap(path: string): ImportMap {
  const bytes = readFileSync(path);
  return ensureValid(parseJsonFile<ImportMap>('import-map', path, bytes, { maxSize: maxReadSize })).data;
}
