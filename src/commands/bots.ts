import { toOneLine } from '../bot/commit-message.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { parsePermission, type Permission } from '../bot/permissions.ts';
import { filters } from '../catalogue/lists/filters.ts';
import type { Selection } from '../catalogue/lists/selection.ts';
import { type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { listParameters } from '../http/api/list-query.ts';
import { readParameters } from '../http/query.ts';
import { formatCount } from '../lib/counted.ts';
import { UserError } from '../lib/errors.ts';
import { type CatalogueOnDisk, withCatalogue } from './catalogue-on-disk.ts';
import { removeBots, setInBots } from './change-bots.ts';
import { type BotQuery, selectBots } from './select-bots.ts';

/** The options of the command, and of each filter the texts, or true where it was named without one. */
export interface BotsFlags extends Readonly<Record<string, unknown>> {
  readonly inactive?: string;
  readonly asks?: string;
  readonly all?: true;
  readonly format: 'table' | 'json' | 'ids';
  readonly set?: readonly string[];
  readonly remove?: true;
  readonly reason?: string;
  readonly yes?: true;
}

/** Lists bots of the catalogue on disk, sets keys of their pages, or removes them. @throws {UserError} */
export async function bots(texts: readonly string[], flags: BotsFlags): Promise<void> {
  const { set, remove, reason = '', yes } = flags;
  const values = set && parseValues(set);
  if (values && remove) throw new UserError('--set and --remove exclude each other: pass one of them');
  if (remove && toOneLine(reason) === '')
    throw new UserError('say why: --remove needs --reason "…", for the message of the commit');
  await withCatalogue(async (opened) => {
    const query = parseQuery(texts, flags, opened);
    if ((values || remove) && opened.config.readOnly)
      throw new UserError('a read-only copy cannot be changed: run this where the original is');
    if ((values || remove) && !flags.all && Object.values(query).every((value) => value === undefined))
      throw new UserError('this is about every bot: name bots or pass a filter, or --all');
    const found = await selectBots(opened, query);
    if (found.length === 0) return void process.stderr.write('No bot was found.\n');
    if (!values && !remove) return void process.stdout.write(formats[flags.format](found, opened));
    const options = { reason, isDryRun: !yes };
    const lines = await (values
      ? setInBots(opened, found, values, options)
      : removeBots(opened, found, options));
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    const verb = values ? 'changed' : 'removed';
    const end = yes || lines.length === 0 ? ` ${verb}` : ` would be ${verb}: pass --yes to do it`;
    process.stderr.write(`${formatCount(lines.length, 'bot')}${end}.\n`);
  });
}

/** @throws {UserError} with every fault at once */
function parseQuery(texts: readonly string[], flags: BotsFlags, { catalogue }: CatalogueOnDisk): BotQuery {
  const params = new URLSearchParams();
  for (const name of ['q', ...Object.keys(filters)])
    for (const text of [flags[name] ?? []].flat() as (string | true)[]) params.append(name, String(text));
  const { values, errors } = readParameters(params, listParameters, catalogue.settings.current);
  const faults = errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  const ids = texts.map((text) => {
    const id = parseBotId(text);
    if (id === undefined) faults.push(`${JSON.stringify(text)} is not a bot id: pass 1 to 20 digits`);
    return id as BotId;
  });
  const { inactive, asks } = flags;
  const inactiveDays = /^([1-9]\d{0,3})d$/.exec(inactive ?? '')?.[1];
  if (inactive !== undefined && inactiveDays === undefined)
    faults.push('--inactive: pass a number of days, such as 90d');
  const asked = asks === undefined ? undefined : parsePermission(asks);
  if (Array.isArray(asked)) faults.push(`--asks: there is no such permission: use ${asked.join(', ')}`);
  if (faults.length > 0) throw new UserError(faults.join('\n'));
  return {
    ...(values as Selection),
    ids: ids.length > 0 ? ids : undefined,
    inactiveDays: inactiveDays === undefined ? undefined : Number(inactiveDays),
    asks: asked as Permission | undefined,
  };
}

/** @throws {UserError} */
function parseValues(texts: readonly string[]): Readonly<Record<string, unknown>> {
  const entries = texts.map((text): [string, unknown] => {
    const [, key, value = ''] = /^(\w+)=(.*)$/s.exec(text) ?? [];
    if (key === undefined) throw new UserError(`--set ${JSON.stringify(text)}: pass KEY=VALUE`);
    try {
      return [key, JSON.parse(value)];
    } catch {
      return [key, value];
    }
  });
  return Object.fromEntries(entries);
}

const formats: Readonly<
  Record<BotsFlags['format'], (bots: readonly IndexedBot[], opened: CatalogueOnDisk) => string>
> = {
  ids: (found) => found.map(({ id }) => `${id}\n`).join(''),
  json: (found) => `[\n${found.map((bot) => JSON.stringify(parseListElement(bot))).join(',\n')}\n]\n`,
  table: (found, { counts }) => {
    const rows = found.map(({ id, facts: { name, category, authors } }) => {
      const at = counts.reportedAt(id);
      const [first = '', ...others] = authors;
      return [
        id,
        category,
        counts.count(id)?.toLocaleString('en') ?? '-',
        at === undefined ? 'never' : new Date(at).toISOString().slice(0, 10),
        others.length > 0 ? `${first} +${others.length}` : first,
        toOneLine(name),
      ];
    });
    return printTable(
      [['ID', 'CATEGORY', 'SERVERS', 'LAST REPORT', 'AUTHORS', 'NAME'], ...rows],
      process.stdout.columns,
    );
  },
};

/**
 * Prints the columns as wide as they need to be. The last one, which may have wide letters or be written from right to left,
 * is cut to fit a terminal; where that leaves too little of it, the one before is left out.
 */
function printTable(rows: readonly (readonly string[])[], columns: number | undefined): string {
  const last = (rows[0]?.length ?? 0) - 1;
  const widths = Array.from({ length: last }, (_, i) =>
    rows.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0),
  );
  const room = (columns ?? Number.POSITIVE_INFINITY) - widths.reduce((sum, width) => sum + width + 2, 0);
  if (room < minNameWidth && last > 4)
    return printTable(
      rows.map((row) => row.toSpliced(-2, 1)),
      columns,
    );
  return rows
    .map((row) => row.map((cell, i) => (i < last ? cell.padEnd(widths[i] ?? 0) : cut(cell, room))).join('  '))
    .map((line) => `${line}\n`)
    .join('');
}

function cut(text: string, room: number): string {
  let width = 0;
  let kept = '';
  for (const character of text) {
    width += wide.test(character) ? 2 : 1;
    if (width > room) break;
    kept += character;
  }
  return kept;
}

const minNameWidth = 16;

/** Letters that take two columns of a terminal. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u;
