import { readFileSync } from 'node:fs';
import { readConfig } from '../app/config.ts';
import { WritesUnavailableError } from '../bot/errors.ts';
import type { ImportMap } from '../bot/schema-types.ts';
import { formatPlace, noLimits } from '../catalogue/page/rules.ts';
import { validate } from '../catalogue/page/schema.ts';
import { ensureValid, readBlocked } from '../catalogue/settings/blocked.ts';
import { createDiskReader, readSettings } from '../catalogue/settings/read-settings.ts';
import { chooseNewPageLanguage, toSettings } from '../catalogue/settings/settings.ts';
import { GitError } from '../git/process/git-error.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { importBots } from '../import/import-bots.ts';
import { ImportReport } from '../import/import-report.ts';
import { readRecords } from '../import/read-records.ts';
import { suggestMap } from '../import/suggest-map.ts';
import { UserError } from '../lib/errors.ts';
import { formatCount } from '../lib/counted.ts';
import { readStrictJson } from '../lib/strict-json.ts';
import { createProgress } from './progress.ts';

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
  const { catalogue: root, blocked } = readConfig();
  const { settings } = await readSettings(createDiskReader(root));
  const { categories } = settings ?? toSettings();
  if (flags.suggest) {
    process.stdout.write(`${JSON.stringify(await suggestMap(readRecords(path), categories), null, 2)}\n`);
    return;
  }
  const options = {
    root,
    map: flags.map === undefined ? undefined : readMap(flags.map),
    limits: settings ?? noLimits,
    blocked: ensureValid(await readBlocked(root, blocked)),
    locale: chooseNewPageLanguage(settings ?? toSettings()),
    replace: flags.replace ?? false,
  };
  const report = new ImportReport();
  const progress = createProgress(process.stderr);
  const opener = new RepositoryOpener(root);
  try {
    const repository = flags.dryRun ? null : await opener.open();
    await importBots(readRecords(path), { ...options, repository }, report, (records) =>
      progress.show(`${formatCount(records, 'record')} read, ${report.added} added`),
    );
  } catch (error) {
    throw error instanceof GitError || error instanceof WritesUnavailableError
      ? new UserError(error.message)
      : error;
  } finally {
    progress.end();
    opener.close();
  }
  process.stdout.write(report.print());
  if (report.refused > 0) process.exitCode = 1;
  if (flags.images && !flags.dryRun) await (await import('./images.ts')).images();
}

/** @throws {UserError} where the mapping has faults */
function readMap(path: string): ImportMap {
  const read = readStrictJson(readFileSync(path, 'utf8'), 'the mapping');
  const faults =
    'faults' in read
      ? read.faults.map(({ message }) => message)
      : validate('import-map', read.data).map(({ place, message }) => formatPlace(place) + message);
  if ('data' in read && faults.length === 0) return read.data as unknown as ImportMap;
  throw new UserError(faults.map((fault) => `${path}: ${fault}`).join('\n'));
}
