import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ImportMap } from '../../schemas/types.ts';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import { holdsToken, tokenRule } from '../bot/token.ts';
import { botsFolder, listPages } from '../catalogue/page/layout.ts';
import { readPageFile } from '../catalogue/page/page-file.ts';
import { editPage } from '../catalogue/page/page.ts';
import { checkFiles, noLimits, type PageLimits } from '../catalogue/page/rules.ts';
import type { Blocked } from '../catalogue/settings/blocked.ts';
import { checkBlocked } from '../check/check.ts';
import { type FilesCommit, type NewFile, toNewFile } from '../git/commit-files.ts';
import { messageOf } from '../lib/errors.ts';
import { formatCount } from '../lib/text.ts';
import {
  isBot,
  type MappedBot,
  mapRecord,
  type PageText,
  readExported,
  readExportedRow,
  refuseRecord,
  toPageText,
  toTranslation,
} from './map-record.ts';
import { readRecords, type SourceOptions, type SourceRecord } from './read-records.ts';
import type { Refusal } from './values.ts';

export interface ImportOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** The same folder relative to the top of the repository: empty, or ending in a slash. */
  readonly prefix: string;
  /** Commits what `plan` returns; calls it only in a dry run. */
  readonly commit: (plan: () => Promise<FilesCommit>) => Promise<unknown>;
  /** Undefined if the records are those of an export. */
  readonly map: ImportMap | undefined;
  readonly limits: PageLimits;
  readonly blocked: Blocked;
  /** The language of a page if its record does not state one. */
  readonly locale: Locale;
  /** Whether bots that the catalogue has with other pages are replaced. */
  readonly replace: boolean;
  /** Receives the result of each record. */
  readonly report: ImportReport;
}

/**
 * Imports the records of a list, in commits of up to a thousand bots. A bot that the catalogue has with the same files,
 * except for `created`, is left as it is, so that a killed import can be run again.
 * @param onProgress is called with the number of records that are read
 * @throws {UserError} if the source is not a list
 * @throws what `commit` throws: earlier commits stay
 */
export async function importBots(
  path: string,
  options: ImportOptions,
  onProgress: (records: number) => void,
): Promise<void> {
  const { report, map } = options;
  const source: SourceOptions = {
    isRecord: map && ((...object) => isBot(map, ...object)),
    note: (...note) => report.note(...note),
  };
  const known = new Map<BotId, KnownBot>();
  const digits = new LostDigits();
  let batch: PlacedBot[] = [];
  let [count, size] = [0, 0];
  for await (const { place, fields } of readRecords(path, source)) {
    onProgress(++count);
    const mapped = readBot(fields, options);
    const [main] = mapped.files;
    digits.add(mapped.files, place);
    const former = main && mapped.refusals.length === 0 ? known.get(main.id) : undefined;
    const bot = former === undefined ? mapped : toMorePages(mapped, former, options);
    const refusals = [...bot.refusals, ...findFaults(bot.files, former !== undefined, options)];
    const id = main?.id;
    if (id === undefined || refusals.length > 0) report.add('refused', place, refusals);
    else {
      const { files, remarks } = bot;
      const locales = [...(former?.locales ?? []), ...files.map(({ locale }) => locale)];
      known.set(id, { place: former?.place ?? place, locales });
      const pending = former && batch.find((one) => one.id === id);
      if (pending === undefined)
        batch.push({ id, files: [...files], records: [{ place, remarks }], isMore: former !== undefined });
      else {
        pending.files.push(...files);
        pending.records.push({ place, remarks });
      }
      size += files.reduce((sum, { text }) => sum + text.length, 0);
    }
    if (batch.length < maxBotsPerCommit && size < maxCharactersPerCommit) continue;
    for (const refused of await importBatch(batch, options)) known.delete(refused);
    [batch, size] = [[], 0];
  }
  await importBatch(batch, options);
  digits.report(report);
}

const maxBotsPerCommit = 1000;
const maxCharactersPerCommit = 32 * 1024 * 1024;

/** A bot with an imported record: its further records may have pages in other languages. */
interface KnownBot {
  readonly place: string;
  readonly locales: readonly Locale[];
}

/** A bot without a fault, and its records. */
interface PlacedBot {
  readonly id: BotId;
  readonly files: PageText[];
  readonly records: { readonly place: string; readonly remarks: readonly Refusal[] }[];
  /** Whether its main page is in an earlier commit. */
  readonly isMore: boolean;
}

/** Returns the bot that a record becomes. */
function readBot(fields: SourceRecord['fields'], { map, locale }: ImportOptions): MappedBot {
  if (typeof fields === 'string') return refuseRecord(fields);
  try {
    const bot =
      map === undefined
        ? (readExported(fields) ?? readExportedRow(fields, locale))
        : mapRecord(map, fields, locale);
    return (
      bot ?? refuseRecord('this is no line of an export: pass a mapping with --map, which --suggest begins')
    );
  } catch (error) {
    return refuseRecord(`this cannot be read (${messageOf(error)}): correct it`);
  }
}

/** Returns the pages of a further record as translations, or says that the bot has them already. */
function toMorePages(bot: MappedBot, { place, locales }: KnownBot, { map }: ImportOptions): MappedBot {
  if (map !== undefined && bot.files.every(({ locale }) => !locales.includes(locale)))
    return { ...bot, files: bot.files.map(toTranslation) };
  return refuseRecord(`id: the bot is at ${place} already: remove one`, 'twice');
}

/** @param isMore whether the pages are translations of a main page that is not among them */
function findFaults(files: readonly PageText[], isMore: boolean, { limits, blocked }: ImportOptions) {
  const [first] = files;
  const main = isMore && first ? [toPageText({ id: first.id, locale: 'x' as Locale }, mainPageMark)] : [];
  const { faults } = checkFiles([...main, ...files], limits);
  return [
    ...faults.filter(({ path }) => path !== main[0]?.path),
    ...checkBlocked(files, blocked, true),
    ...(files.some(({ text }) => holdsToken(text)) ? [tokenRefusal] : []),
  ];
}

/** The main page that stands for one that is committed already. */
const mainPageMark = '---\n{"authors":[]}\n---\n';

const tokenRefusal = { rule: tokenRule, message: 'this has what looks like a bot token: remove it' };

/** Detects rounded numbers: whether all long ids end in zeros. Of exact ids, one in a hundred does. */
class LostDigits {
  readonly #kinds = ['ids of bots', 'ids of authors'].map((name) => ({
    name,
    ids: 0,
    rounded: 0,
    place: '',
  }));

  add([main]: readonly PageText[], place: string): void {
    const authors = main?.page?.data['authors'];
    const values: readonly unknown[][] = [main ? [main.id] : [], Array.isArray(authors) ? authors : []];
    for (const [i, kind] of this.#kinds.entries()) {
      const ids = values[i]?.filter((id): id is string => typeof id === 'string' && id.length > 16) ?? [];
      kind.ids += ids.length;
      kind.rounded += ids.filter((id) => id.endsWith('00')).length;
      if (ids.length > 0) kind.place ||= place;
    }
  }

  report(report: ImportReport): void {
    for (const { name, ids, rounded, place } of this.#kinds)
      if (ids > 1 && rounded === ids)
        report.note(
          `${name} all end in zeros: if a spreadsheet has rounded them, export them as text`,
          place,
          ids,
        );
  }
}

/** Returns the bots that were refused after all. */
async function importBatch(bots: readonly PlacedBot[], options: ImportOptions): Promise<readonly BotId[]> {
  const { commit, report } = options;
  let plans: BotPlan[] = [];
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  const plan = async (): Promise<FilesCommit> => {
    plans = bots.map((bot) => planBot(bot, options));
    const changed = plans.flatMap(({ files }) => files ?? []);
    const files = new Map(changed.flatMap((each) => [...each]));
    return { files, message: `Import ${formatCount(changed.length, 'bot')}\n` };
  };
  await commit(plan);
  for (const { bot, kind, refusals } of plans)
    for (const { place, remarks } of bot.records) report.add(kind, place, refusals ?? remarks);
  return plans.flatMap(({ kind, bot }) => (kind === 'refused' ? bot.id : []));
}

/** The action for a bot. */
interface BotPlan {
  readonly bot: PlacedBot;
  readonly kind: keyof ImportReport['counts'];
  /** The changed files by path, from the top of the repository. */
  readonly files?: FilesCommit['files'];
  readonly refusals?: readonly Refusal[];
}

function planBot(bot: PlacedBot, options: ImportOptions): BotPlan {
  const { id, files, isMore } = bot;
  const { root, prefix, replace, limits } = options;
  const places = existsSync(join(root, botsFolder)) ? listPages(root, id) : [];
  const former = places.flatMap((at) => readPageFile(root, at) ?? []);
  const [main] = checkFiles(former, noLimits).mainPages;
  const pages = files.map((file) => withCreated(file, main?.page?.data['created']));
  if (pages.every(({ path, sha }) => former.some((file) => file.path === path && file.sha === sha)))
    return { bot, kind: 'unchanged' };
  const others = isMore ? former.filter(({ path }) => files.some((file) => file.path === path)) : former;
  const isNew = others.length === 0;
  const refusals = isNew || replace ? (isMore ? [] : checkFiles(pages, limits).faults) : [existsRefusal];
  if (refusals.length > 0) return { bot, kind: 'refused', refusals };
  const changed = new Map<string, NewFile>(main && !isMore ? [[prefix + main.path, null]] : []);
  for (const { path, text } of pages) changed.set(prefix + path, toNewFile(text));
  return { bot, kind: isNew ? 'added' : 'replaced', files: changed };
}

const existsRefusal = {
  rule: 'exists',
  message: 'the bot is there with other pages: pass --replace to replace them',
};

/** Returns a page, with the time at which the bot was listed if it is a main page with another time. */
function withCreated(file: PageText, created: unknown): PageText {
  const own = file.page?.data['created'];
  if (own === undefined || own === created || typeof created !== 'number') return file;
  return toPageText(file, editPage(file.text, { created }));
}

/** The results of an import by record, with a bounded number of lines about records that did not fit. */
export class ImportReport {
  readonly #lines: string[] = [];
  readonly #reasons = new Map<string, number>();
  readonly #notes = new Map<string, { count: number; readonly place: string }>();
  readonly counts = { added: 0, replaced: 0, unchanged: 0, refused: 0 };

  /** @param place of the record in its source */
  add(kind: keyof ImportReport['counts'], place: string, refusals: readonly Refusal[] = []): void {
    this.counts[kind]++;
    for (const { rule, message } of refusals) {
      if (this.#lines.length < maxLines) this.#lines.push(`${place} ${rule} ${message}`);
      else if (this.#lines.length === maxLines) this.#lines.push('and more: correct these, and run it again');
      const [, key = ''] = messageKey.exec(message) ?? [];
      const reason = this.#reasons.size < maxReasons ? `${rule} ${key}`.trim() : 'others';
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    }
  }

  /** Counts rows that are not records, by a noun in the plural, such as blank rows. */
  note(text: string, place: string, count = 1): void {
    const note = this.#notes.get(text) ?? { count: 0, place };
    note.count += count;
    this.#notes.set(text, note);
  }

  /**
   * Returns a line for each reason of each record, and a summary.
   * @param escape makes a text of a stranger safe for a terminal
   * @param formatLine does the same with a line about a record
   */
  print(escape: (text: string) => string, formatLine = escape): string {
    const { added, replaced, unchanged, refused } = this.counts;
    const records = formatCount(added + replaced + unchanged + refused, 'record');
    const counts = `${added} added, ${replaced} replaced, ${unchanged} there already, ${refused} did not fit`;
    const reasons = [...this.#reasons].toSorted(([, a], [, b]) => b - a);
    const table = reasons.map(([reason, count]) => `${String(count).padStart(8)} ${reason}\n`);
    const notes = [...this.#notes].map(
      ([text, { count, place }]) => `${String(count).padStart(8)} ${text} (first: ${escape(place)})\n`,
    );
    const lines = this.#lines.map((line) => `${formatLine(line)}\n`);
    return [...lines, `${records}: ${counts}\n`, ...table, ...notes].join('');
  }
}

const maxLines = 10_000;
const maxReasons = 200;

/** The key that a message of the rules begins with. */
const messageKey = /^"?([a-z]{1,20}(?:\.[a-z]{1,20})?)(?:\[\d+\]: |: |" is missing)/;
