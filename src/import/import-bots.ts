import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { ImportMap } from '../bot/schema-types.ts';
import { botsFolder, pathOf } from '../catalogue/page/layout.ts';
import { editPage } from '../catalogue/page/page.ts';
import { type PageFile, parsePageFile, readPageFile } from '../catalogue/page/page-file.ts';
import { checkFiles, noLimits, type PageLimits } from '../catalogue/page/rules.ts';
import type { Blocked } from '../catalogue/settings/blocked.ts';
import { listPages } from '../catalogue/store/folder.ts';
import { checkBlocked } from '../check/blocked-rule.ts';
import { holdsToken, tokenRule } from '../check/token-search.ts';
import { commitFiles, type FilesCommit } from '../git/commit/commit-files.ts';
import type { NewFile } from '../git/commit/fast-import.ts';
import type { Repository } from '../git/repository.ts';
import { formatCount } from '../lib/counted.ts';
import { messageOf } from '../lib/errors.ts';
import type { ImportReport } from './import-report.ts';
import { type MappedBot, mapRecord, type PageText, readExported, type Refusal } from './map-record.ts';
import type { SourceRecord } from './read-records.ts';

export interface ImportOptions {
  /** The folder that holds `bots/`. */
  readonly root: string;
  /** Null for a dry run, which writes nothing. */
  readonly repository: Repository | null;
  /** Undefined where the records are those of an export. */
  readonly map: ImportMap | undefined;
  readonly limits: PageLimits;
  readonly blocked: Blocked;
  /** The language of a page whose record has none. */
  readonly locale: Locale;
  /** Whether bots that are in the catalogue with other pages are replaced. */
  readonly replace: boolean;
}

/**
 * Imports records, in commits of up to a thousand bots. A bot that is there with the same files is left as it is, so
 * that an import that was killed goes on when it is run again.
 * @param report receives what is done with each record
 * @param onProgress is called with the number of records that are read
 * @throws {GitError} for failures of Git: earlier commits stay
 */
export async function importBots(
  records: AsyncIterable<SourceRecord>,
  options: ImportOptions,
  report: ImportReport,
  onProgress: (records: number) => void,
): Promise<void> {
  const places = new Map<BotId, string>();
  const now = Date.now();
  let batch: PlacedBot[] = [];
  let [count, size] = [0, 0];
  for await (const { place, fields } of records) {
    onProgress(++count);
    const bot = toBot(fields, options, now);
    const id = bot.refusals.length === 0 ? bot.files[0]?.id : undefined;
    const first = id && places.get(id);
    if (id === undefined) report.refuse(place, bot.refusals);
    else if (first !== undefined)
      report.refuse(place, [{ rule: 'twice', message: `id: the bot is at ${first} already: remove one` }]);
    else {
      places.set(id, place);
      batch.push({ ...bot, id, place });
      size += bot.files.reduce((sum, { text }) => sum + text.length, 0);
    }
    if (batch.length < maxBotsPerCommit && size < maxCharactersPerCommit) continue;
    await importBatch(batch, options, report);
    [batch, size] = [[], 0];
  }
  await importBatch(batch, options, report);
}

const maxBotsPerCommit = 1000;
const maxCharactersPerCommit = 32 * 1024 * 1024;

interface PlacedBot extends MappedBot {
  readonly id: BotId;
  readonly place: string;
}

/** Returns the bot that a record becomes, with all that is wrong with it.  */
function toBot(
  fields: SourceRecord['fields'],
  { map, limits, blocked, locale }: ImportOptions,
  now: number,
): MappedBot {
  if (typeof fields === 'string') return refuse(fields);
  try {
    const bot = map === undefined ? readExported(fields) : mapRecord(map, fields, locale, now);
    if (bot === undefined)
      return refuse('this is no line of an export: pass a mapping with --map, which --suggest begins');
    const pages = bot.files.map(toPageFile);
    const refusals = [
      ...bot.refusals,
      ...checkFiles(pages, limits).faults,
      ...checkBlocked(pages, blocked, true),
    ];
    if (bot.files.some(({ text }) => holdsToken(text)))
      refusals.push({ rule: tokenRule, message: 'this has what looks like a bot token: remove it' });
    return { ...bot, refusals };
  } catch (error) {
    return refuse(`this cannot be read (${messageOf(error)}): correct it`);
  }
}

function refuse(message: string): MappedBot {
  return { files: [], isCreatedNow: false, refusals: [{ rule: 'record', message }] };
}

function toPageFile({ text, ...place }: PageText): PageFile {
  return parsePageFile(place, Buffer.from(text));
}

async function importBatch(
  bots: readonly PlacedBot[],
  options: ImportOptions,
  report: ImportReport,
): Promise<void> {
  const { repository } = options;
  let plans: BotPlan[] = [];
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  const plan = async (): Promise<FilesCommit> => {
    plans = bots.map((bot) => planBot(bot, options));
    const files = plans.flatMap(({ files }) => files);
    const count = plans.filter(({ files }) => files.length > 0).length;
    return {
      files: new Map(files.map(([path, file]) => [`${repository?.prefix}${path}`, file])),
      message: `Import ${formatCount(count, 'bot')}\n`,
    };
  };
  await (repository === null ? plan() : commitFiles(repository, plan));
  for (const [i, { kind, refusals }] of plans.entries())
    if (kind === 'refused') report.refuse(bots[i]?.place ?? '', refusals);
    else report[kind]++;
}

/** What is done with a bot: its changed files by path, relative to the catalogue's folder. */
interface BotPlan {
  readonly kind: 'added' | 'replaced' | 'unchanged' | 'refused';
  readonly files: readonly (readonly [path: string, file: NewFile])[];
  readonly refusals: readonly Refusal[];
}

function planBot({ id, files, isCreatedNow }: PlacedBot, { root, replace, limits }: ImportOptions): BotPlan {
  const places = existsSync(join(root, botsFolder)) ? listPages(root, id) : [];
  const former = places.flatMap((place) => readPageFile(root, place) ?? []);
  if (former.length === 0) return { kind: 'added', files: files.map(toNewFile), refusals: [] };
  const [main] = checkFiles(former, noLimits).mainPages;
  const created = main?.page?.data['created'];
  const texts = replace || isCreatedNow ? files.map((file) => withCreated(file, created)) : files;
  const pages = texts.map(toPageFile);
  if (pages.every(({ path, sha }) => former.some((file) => file.path === path && file.sha === sha)))
    return { kind: 'unchanged', files: [], refusals: [] };
  const refusals = replace
    ? checkFiles(pages, limits).faults
    : [{ rule: 'exists', message: 'the bot is there with other pages: pass --replace to replace them' }];
  if (refusals.length > 0) return { kind: 'refused', files: [], refusals };
  const removed = main && pages.every(({ path }) => path !== main.path) ? [[main.path, null] as const] : [];
  return { kind: 'replaced', files: [...removed, ...texts.map(toNewFile)], refusals };
}

/** Returns a page with the time at which the bot was listed, where it is a main page with another. */
function withCreated(page: PageText, created: unknown): PageText {
  const { data } = toPageFile(page).page ?? {};
  const isOther = data?.['created'] !== undefined && data['created'] !== created;
  return isOther && typeof created === 'number' ? { ...page, text: editPage(page.text, { created }) } : page;
}

function toNewFile({ id, locale, text }: PageText): BotPlan['files'][number] {
  return [pathOf(id, locale), { mode: '100644', content: Buffer.from(text) }];
}
