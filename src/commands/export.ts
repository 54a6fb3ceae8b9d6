import { once } from 'node:events';
import { findDefaultLocale } from '../bot/record.ts';
import { readSchema, resolveProperties } from '../bot/schemas.ts';
import { exportLines, type IndexedBot, parseRecord } from '../catalogue/store/bot-index.ts';
import { escapeControls, formatCount, toJsonEscape } from '../lib/text.ts';
import { codeOf } from '../lib/errors.ts';
import { withCatalogue } from './catalogue-on-disk.ts';
import { createProgress, warn } from './output.ts';

export interface ExportOptions {
  readonly format: 'ndjson' | 'csv';
}

/**
 * Prints all bots of the catalogue's files, in the order of their ids. A bot that has only faulty files is left out, and
 * sets the exit code to 1.
 * @throws {UserError}
 */
export async function exportBots({ format }: ExportOptions): Promise<void> {
  await withCatalogue(async ({ catalogue, repositoryOpener }) => {
    const bots = await catalogue.store.bots.sorted();
    const { opened } = repositoryOpener;
    // On a terminal the printed bots show the progress.
    const progress = process.stdout.isTTY ? null : createProgress();
    let lines = 0;
    for await (const text of format === 'csv' ? csvRows(bots) : exportLines(catalogue.root, bots, opened)) {
      progress?.show(`${lines++} of ${formatCount(bots.length, 'bot')} exported`);
      if (!process.stdout.write(format === 'csv' ? text : escapeControls(String(text))))
        await once(process.stdout, 'drain');
    }
    progress?.end();
    const faults = catalogue.store.faults().length;
    if (faults === 0) return;
    warn(`${formatCount(faults, 'fault')} in the files, which are left out: "botshelf check" names them`);
    process.exitCode = 1;
  }).catch((error: unknown) => {
    // The reader has closed the pipe.
    if (codeOf(error) !== 'EPIPE') throw error;
  });
}

/** The keys of the main page, in the order of the record; the first ones tell bots apart. */
const columns = ['id', 'locale', 'name', 'description'].concat(
  Object.keys(resolveProperties(readSchema('record'))).filter(
    (key) => !['id', 'cachedImages', 'contents'].includes(key),
  ),
  'page',
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

/**
 * Returns a value as a cell: null is empty. A text that a spreadsheet would run gets an apostrophe in front, even if it
 * has one already; characters that are commands to a terminal are escaped.
 */
function formatCell(value: unknown): string {
  if (value === null) return '';
  const plain = typeof value === 'string' ? value.replace(/^(?='*[=+@\t\r-])/, "'") : JSON.stringify(value);
  const text = plain.replaceAll(/(?![\t\n\r])\p{Cc}/gu, toJsonEscape);
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
