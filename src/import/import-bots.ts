import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { BotId } from '../bot/id.ts';
import type { Locale } from '../bot/locale.ts';
import type { ImportMap } from '../bot/schema-types.ts';
import { botsFolder } from '../catalogue/page/layout.ts';
import { editPage } from '../catalogue/page/page.ts';
import { readPageFile } from '../catalogue/page/page-file.ts';
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
import {
  type MappedBot,
  mapRecord,
  type PageText,
  readExported,
  type Refusal,
  toPageText,
} from './map-record.ts';
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
  /** Receives what is done with each record. */
  readonly report: ImportReport;
}

/**
 * Imports records, in commits of up to a thousand bots. A bot that is there with the same files, but for `created`, is
 * left as it is, so that an import that was killed goes on when it is run again.
 * @param onProgress is called with the number of records that are read
 * @throws {GitError} for failures of Git: earlier commits stay
 */
export async function importBots(
  records: AsyncIterable<SourceRecord>,
  options: ImportOptions,
  onProgress: (records: number) => void,
): Promise<void> {
  const { report } = options;
  const places = new Map<BotId, string>();
  let batch: PlacedBot[] = [];
  let [count, size] = [0, 0];
  for await (const { place, fields } of records) {
    onProgress(++count);
    const { files, refusals } = toBot(fields, options);
    const id = files[0]?.id;
    const first = id && places.get(id);
    if (id === undefined || refusals.length > 0) report.add('refused', place, refusals);
    else if (first !== undefined)
      report.add('refused', place, [
        { rule: 'twice', message: `id: the bot is at ${first} already: remove one` },
      ]);
    else {
      places.set(id, place);
      batch.push({ id, place, files });
      size += files.reduce((sum, { text }) => sum + text.length, 0);
    }
    if (batch.length < maxBotsPerCommit && size < maxCharactersPerCommit) continue;
    await importBatch(batch, options);
    [batch, size] = [[], 0];
  }
  await importBatch(batch, options);
}

const maxBotsPerCommit = 1000;
const maxCharactersPerCommit = 32 * 1024 * 1024;

/** A bot with nothing wrong, and the place of its record. */
interface PlacedBot extends Pick<MappedBot, 'files'> {
  readonly id: BotId;
  readonly place: string;
}

/** Returns the bot that a record becomes, with all that is wrong with it. */
function toBot(fields: SourceRecord['fields'], { map, limits, blocked, locale }: ImportOptions): MappedBot {
  if (typeof fields === 'string') return refuseRecord(fields);
  try {
    const bot = map === undefined ? readExported(fields) : mapRecord(map, fields, locale);
    if (bot === undefined)
      return refuseRecord('this is no line of an export: pass a mapping with --map, which --suggest begins');
    const { files } = bot;
    const faults = [...checkFiles(files, limits).faults, ...checkBlocked(files, blocked, true)];
    const tokens = files.some(({ text }) => holdsToken(text)) ? [tokenRefusal] : [];
    return { files, refusals: [...bot.refusals, ...faults, ...tokens] };
  } catch (error) {
    return refuseRecord(`this cannot be read (${messageOf(error)}): correct it`);
  }
}

function refuseRecord(message: string): MappedBot {
  return { files: [], refusals: [{ rule: 'record', message }] };
}

const tokenRefusal = { rule: tokenRule, message: 'this has what looks like a bot token: remove it' };

async function importBatch(bots: readonly PlacedBot[], options: ImportOptions): Promise<void> {
  const { repository, report } = options;
  let plans: BotPlan[] = [];
  // oxlint-disable-next-line typescript/require-await -- others read from Git
  const plan = async (): Promise<FilesCommit> => {
    plans = bots.map((bot) => planBot(bot, options));
    const changed = plans.flatMap(({ files }) => files ?? []);
    const files = new Map(changed.flatMap((each) => [...each]));
    return { files, message: `Import ${formatCount(changed.length, 'bot')}\n` };
  };
  await (repository === null ? plan() : commitFiles(repository, plan));
  for (const { kind, place, refusals } of plans) report.add(kind, place, refusals);
}

/** What is done with a bot. */
interface BotPlan {
  readonly place: string;
  readonly kind: keyof ImportReport['counts'];
  /** Its changed files by path, from the top of the repository. */
  readonly files?: FilesCommit['files'];
  readonly refusals?: readonly Refusal[];
}

function planBot({ id, place, files }: PlacedBot, options: ImportOptions): BotPlan {
  const { root, repository, replace, limits } = options;
  const places = existsSync(join(root, botsFolder)) ? listPages(root, id) : [];
  const former = places.flatMap((at) => readPageFile(root, at) ?? []);
  const [main] = checkFiles(former, noLimits).mainPages;
  const pages = files.map((file) => withCreated(file, main?.page?.data['created']));
  if (pages.every(({ path, sha }) => former.some((file) => file.path === path && file.sha === sha)))
    return { place, kind: 'unchanged' };
  const isNew = former.length === 0;
  const refusals = isNew || replace ? checkFiles(pages, limits).faults : [existsRefusal];
  if (refusals.length > 0) return { place, kind: 'refused', refusals };
  const prefix = repository?.prefix ?? '';
  const changed = new Map<string, NewFile>(main && [[prefix + main.path, null]]);
  for (const { path, text } of pages)
    changed.set(prefix + path, { mode: '100644', content: Buffer.from(text) });
  return { place, kind: isNew ? 'added' : 'replaced', files: changed };
}

const existsRefusal = {
  rule: 'exists',
  message: 'the bot is there with other pages: pass --replace to replace them',
};

/** Returns a page with the time at which the bot was listed, where it is a main page with another. */
function withCreated(file: PageText, created: unknown): PageText {
  const own = file.page?.data['created'];
  if (own === undefined || own === created || typeof created !== 'number') return file;
  return toPageText(file, editPage(file.text, { created }));
}
