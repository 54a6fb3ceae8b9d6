import { once } from 'node:events';
import { readConfig } from '../app/config.ts';
import { toCatalogueError } from '../app/start-errors.ts';
import { findDefaultLocale } from '../bot/record.ts';
import { readSchema, resolveProperties } from '../bot/schemas.ts';
import { type IndexedBot, parseRecord } from '../catalogue/store/bot-index.ts';
import { Catalogue } from '../catalogue/store/catalogue.ts';
import { exportLines } from '../catalogue/store/export.ts';
import { RepositoryOpener } from '../git/repository.ts';
import { formatCount } from '../lib/counted.ts';
import { codeOf } from '../lib/errors.ts';
import { silentLog as log } from '../lib/log.ts';

export interface ExportOptions {
  readonly format: 'ndjson' | 'csv';
}

/**
 * Prints all bots of the catalogue's files, in the order of their ids. A bot that has only faulty files is left out, and
 * sets the exit code to 1.
 * @throws {UserError}
 */
export async function exportBots({ format }: ExportOptions): Promise<void> {
  const config = readConfig();
  const root = config.catalogue;
  const repositoryOpener = new RepositoryOpener(root);
  const hash = await repositoryOpener.hash();
  const catalogue = new Catalogue({ root, hash, log, snapshot: null });
  try {
    await catalogue.load().catch((error: unknown) => {
      throw toCatalogueError(error, config);
    });
    const bots = await catalogue.store.bots.sorted();
    for await (const text of format === 'csv'
      ? csvRows(bots)
      : exportLines(bots, root, repositoryOpener.opened)) {
      if (!process.stdout.write(text)) await once(process.stdout, 'drain');
    }
    const faults = catalogue.store.faults().length;
    if (faults === 0) return;
    process.stderr.write(
      `${formatCount(faults, 'fault')} in the files, which are left out: "botshelf check" names them\n`,
    );
    process.exitCode = 1;
  } catch (error) {
    // The reader has closed the pipe.
    if (codeOf(error) !== 'EPIPE') throw error;
  } finally {
    await catalogue.close();
    repositoryOpener.close();
  }
}

/** The keys of the main page, in the order of the record; the first ones tell bots apart. */
const columns = ['id', 'locale', 'name', 'description'].concat(
  Object.keys(resolveProperties(readSchema('record'))).filter(
    (key) => !['id', 'cachedImages', 'contents'].includes(key),
  ),
);

/** Yields the rows of a CSV file (RFC 4180): of each bot its main page, objects and lists as JSON. */
function* csvRows(bots: readonly IndexedBot[]): Generator<string> {
  yield `${columns.join()}\r\n`;
  for (const bot of bots) {
    const record = parseRecord(bot);
    const locale = findDefaultLocale(record);
    const values: Readonly<Record<string, unknown>> = { ...record, ...record.contents[locale], locale };
    yield `${columns.map((key) => formatCell(values[key])).join()}\r\n`;
  }
}

/** Returns a value as a cell: null is empty. */
function formatCell(value: unknown): string {
  if (value === null) return '';
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
