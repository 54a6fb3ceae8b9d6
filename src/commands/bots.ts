import { msPerDay, toClockTime } from '../bot/clock.ts';
import { toOneLine } from '../bot/commit-message.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { asksFor, parsePermission, type Permission } from '../bot/invite.ts';
import { openLists } from '../catalogue/lists/lists.ts';
import { filters, listParameters, type ListQuery } from '../catalogue/lists/parameters.ts';
import { type IndexedBot, parseListElement } from '../catalogue/store/bot-index.ts';
import { stateRef } from '../git/refs.ts';
import { removeCredentials } from '../git/run-git.ts';
import { readParameters } from '../http/request.ts';
import { CurrentCache } from '../lib/current-cache.ts';
import { messageOf, UserError } from '../lib/errors.ts';
import { silentLog } from '../lib/log.ts';
import { formatCount } from '../lib/text.ts';
import { readOnlyAdvice } from '../sync/command-commits.ts';
import { openRemoteState } from '../sync/remote.ts';
import { ensureConfirmed, formatConfirmation, removeBots, setInBots } from './change-bots.ts';
import { type CatalogueOnDisk, withCatalogue } from './catalogue-on-disk.ts';
import { formatJson } from './output.ts';

export interface BotsFlags extends BotSelectors {
  readonly all?: true;
  readonly format: 'table' | 'json' | 'ids';
  readonly set?: readonly string[];
  readonly remove?: true;
  readonly reason?: string;
  readonly yes?: string | true;
}

/** Lists bots of the catalogue on disk, sets keys of their pages, or removes them. @throws {UserError} */
export async function bots(ids: readonly string[], flags: BotsFlags): Promise<void> {
  const { set, remove, reason = '', yes, all, format, ...selectors } = flags;
  const values = set && parseValues(set);
  if (values && remove) throw new UserError('--set and --remove exclude each other: pass one of them');
  if (remove && toOneLine(reason) === '')
    throw new UserError('say why: --remove needs --reason "…", for the message of the commit');
  if ((values || remove) && !all && ids.length === 0 && Object.keys(selectors).length === 0)
    throw new UserError(
      `this is about every bot: name bots${typeof yes === 'string' ? ' before --yes' : ''} or pass a filter, or --all`,
    );
  await withCatalogue(async (opened) => {
    if ((values || remove) && opened.config.readOnly) throw new UserError(readOnlyAdvice);
    if (isByCount(selectors)) await fetchCounts(opened);
    const found = await selectBots(opened, ids, selectors);
    if (found.length === 0) return void process.stderr.write('No bot was found.\n');
    if (!values && !remove) return void process.stdout.write(formats[format](found, opened));
    const confirm = yes === undefined ? undefined : (bots: number) => ensureConfirmed(bots, yes);
    const options = { reason, confirm };
    const lines = await (values
      ? setInBots(opened, found, values, options)
      : removeBots(opened, found, options));
    process.stdout.write(lines.map((line) => `${line}\n`).join(''));
    const verb = values ? 'changed' : 'removed';
    const end =
      !yes && lines.length > 0 ? ` would be ${verb}: ${formatConfirmation(lines.length)}` : ` ${verb}`;
    process.stderr.write(`${formatCount(lines.length, 'bot')}${end}.\n`);
  });
}

/** Returns whether the selection of bots depends on their counts. */
function isByCount(selectors: BotSelectors): boolean {
  return ['active', 'inactive'].some((name) => selectors[name] !== undefined);
}

/**
 * Reads the counts of the remote too, and prints the time of the last one.
 * @throws {UserError} if no bot has a count, or the remote cannot be reached
 */
async function fetchCounts({ config, repositoryOpener, committed }: CatalogueOnDisk): Promise<void> {
  const repository = await repositoryOpener.open().catch(() => undefined);
  const remotes = ((await repository?.run(['remote'])) ?? '').split('\n').filter((name) => name !== '');
  const address = config.remote ?? remotes.find((name) => name === 'origin' || remotes.length === 1) ?? null;
  if (address === null && remotes.length > 0)
    throw new UserError('the clone has several remotes: set BOTSHELF_REMOTE to the one that has the counts');
  const shown = removeCredentials(address ?? '');
  const advice =
    address === null
      ? 'set BOTSHELF_REMOTE to the repository that has them'
      : `run this again once “git fetch ${shown} ${stateRef}:${stateRef}” works`;
  try {
    await (await openRemoteState(repositoryOpener, address, new AbortController().signal))?.fetchState();
    await committed.refresh();
  } catch (error) {
    throw new UserError(`the counts cannot be read (${messageOf(error)}): ${advice}`);
  }
  const times = Array.from(committed.state.bots, ([, { count }]) => toClockTime(count?.at ?? 0));
  const last = times.reduce((a, b) => Math.max(a, b), 0);
  if (last === 0)
    throw new UserError(`no bot has a count ${address === null ? `here: ${advice}` : `here or at ${shown}`}`);
  process.stderr.write(`The last count is from ${new Date(last).toISOString()}.\n`);
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

type Print = (bots: readonly IndexedBot[], opened: CatalogueOnDisk) => string;

const formats: Readonly<Record<BotsFlags['format'], Print>> = {
  ids: (found) => found.map(({ id }) => `${id}\n`).join(''),
  json: (found) => `[\n${found.map((bot) => formatJson(parseListElement(bot), 0)).join(',\n')}\n]\n`,
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
    const head = ['ID', 'CATEGORY', 'SERVERS', 'LAST REPORT', 'AUTHORS', 'NAME'];
    return printTable([head, ...rows], process.stdout.columns);
  },
};

/**
 * Prints the columns as wide as they need to be. The last one, which may have wide letters or be written from right to
 * left, is cut to fit a terminal; if that leaves too little of it, the one before is left out.
 */
function printTable(rows: readonly (readonly string[])[], columns = Number.POSITIVE_INFINITY): string {
  const last = (rows[0]?.length ?? 0) - 1;
  const widths = Array.from({ length: last }, (_, i) =>
    rows.reduce((width, row) => Math.max(width, row[i]?.length ?? 0), 0),
  );
  const room = columns - widths.reduce((sum, width) => sum + width + 2, 0);
  if (room < minNameWidth && last > 4) {
    const narrower = rows.map((row) => row.toSpliced(-2, 1));
    return printTable(narrower, columns);
  }
  const print = (row: readonly string[]): string =>
    row.map((cell, i) => (i < last ? cell.padEnd(widths[i] ?? 0) : cut(cell, room))).join('  ');
  return rows.map((row) => `${print(row)}\n`).join('');
}

function cut(text: string, room: number): string {
  let width = 0;
  return Array.from(text)
    .filter((character) => (width += wide.test(character) ? 2 : 1) <= room)
    .join('');
}

const minNameWidth = 16;

/** Letters that take two columns of a terminal. */
const wide =
  /[\u1100-\u115f\u2e80-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\p{Emoji_Presentation}]/u;

/**
 * The filters of a command, all of which its bots must pass: the texts of each, or true if it was named without one.
 */
export interface BotSelectors extends Readonly<Record<string, unknown>> {
  /** Days without a count, such as 90d; for a bot that never had one, since its creation. */
  readonly inactive?: string;
  readonly asks?: string;
}

/**
 * Returns the bots that a command selects, by id.
 * @param ids empty for all
 * @throws {UserError} with every bad value, and for ids that no bot has
 */
async function selectBots(
  { catalogue, counts }: CatalogueOnDisk,
  ids: readonly string[],
  selectors: BotSelectors,
): Promise<readonly IndexedBot[]> {
  const { bots } = catalogue.store;
  const params = new URLSearchParams();
  for (const name of ['q', ...Object.keys(filters)])
    for (const text of [selectors[name] ?? []].flat() as (string | true)[]) params.append(name, String(text));
  const { values, errors } = readParameters(params, listParameters, catalogue.settings.current);
  const query: ListQuery = { ...values, sort: { key: 'id', descending: false } };
  const faults = errors.map(({ pointer, detail }) => `${pointer.slice(1)}: ${detail}`);
  for (const id of ids)
    if (parseBotId(id) === undefined)
      faults.push(`${JSON.stringify(id)} is not a bot id: pass 1 to 20 digits`);
    else if (bots.get(id as BotId) === undefined)
      faults.push(`there is no bot ${id} that can be read: “botshelf check” names files with faults`);
  const { inactive, asks } = selectors;
  const days = inactive === undefined ? 0 : Number(/^([1-9]\d{0,3})d$/.exec(inactive)?.[1]);
  if (Number.isNaN(days)) faults.push('--inactive: pass a number of days, such as 90d');
  const asked = asks === undefined ? undefined : parsePermission(asks);
  if (typeof asked === 'object') faults.push(`--asks: there is no such permission: use ${asked.join(', ')}`);
  if (faults.length > 0) throw new UserError(faults.join('\n'));
  const since = Date.now() - days * msPerDay;
  const among = new Set(ids);
  const lists = openLists(catalogue, counts, new CurrentCache(), silentLog);
  try {
    if (query.q !== undefined) await lists.search.complete();
    const found = await lists.page(query);
    return found.bots.filter(
      (bot) =>
        (ids.length === 0 || among.has(bot.id)) &&
        (inactive === undefined || (counts.reportedAt(bot.id) ?? bot.facts.created) < since) &&
        (asked === undefined || asksFor(parseListElement(bot).invite, asked as Permission)),
    );
  } finally {
    lists.search.close();
  }
}
