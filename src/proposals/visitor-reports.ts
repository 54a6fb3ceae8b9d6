import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { toWriteError } from '../bot/errors.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../bot/locale.ts';
import { removeUnfinishedWrites, writeAtomically } from '../lib/atomic-write.ts';
import { messageOf } from '../lib/errors.ts';
import type { Log } from '../lib/log.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { readStrictJson } from '../lib/strict-json.ts';

/** What can be wrong with a bot. */
export const reportReasons = [
  'scam',
  'impersonation',
  'malware',
  'wrong-info',
  'offline',
  'adult',
  'other',
] as const;

/** What a visitor says about a bot. Nothing about the visitor is in it. */
export interface SentReport {
  readonly bot: BotId;
  readonly reason: (typeof reportReasons)[number];
  /** At most `maxReportLength` characters; may be empty. Written by a stranger. */
  readonly text: string;
  /** The language of the page that it was sent from. */
  readonly locale: Locale;
}

export interface VisitorReport extends SentReport {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export const maxReportLength = 1000;

/** The reports that this machine took in the last 90 days, each in a file of a private folder. */
export class VisitorReports {
  readonly #folder: string;
  readonly #log: Log;
  /** Oldest first. */
  #reports: readonly VisitorReport[] = [];
  readonly #adding = new SerialQueue(maxUnsaved);
  readonly #timer = setInterval(() => void this.#removeOld(), msPerHour).unref();

  private constructor(folder: string, log: Log) {
    this.#folder = folder;
    this.#log = log;
  }

  /** Reads the reports. A file that holds none is left alone, with a line in the log. @throws a system error */
  static async open(folder: string, log: Log): Promise<VisitorReports> {
    const reports = new VisitorReports(folder, log);
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await removeUnfinishedWrites(folder);
    for (const name of (await readdir(folder)).toSorted()) {
      const path = join(folder, name);
      const { size } = await stat(path);
      const report = size > maxFileBytes ? undefined : parseReport(name, await readFile(path, 'utf8'));
      if (report) reports.#reports = [...reports.#reports, report];
      else log.warn({ path }, `${path} is not a report: it is left out`);
    }
    await reports.#removeOld();
    return reports;
  }

  /**
   * Keeps a report durably, and returns it; null where it is one too many of its bot in a day.
   * @throws {WritesUnavailableError} or {QueueFullError}, and nothing is kept
   */
  async add(sent: SentReport): Promise<VisitorReport | null> {
    return await this.#adding.run(async () => {
      const at = Date.now();
      const sameDay = this.#reports.filter((one) => one.bot === sent.bot && one.at > at - msPerDay);
      if (sameDay.length >= maxPerBotAndDay) return null;
      const report = { ...sent, id: `${at}-${randomBytes(4).toString('hex')}`, at };
      const options = { fsync: 'content and name', mode: 0o600 } as const;
      await writeAtomically(this.#path(report), JSON.stringify(sent), options).catch((error: unknown) => {
        throw toWriteError(error, this.#folder);
      });
      this.#reports = [...this.#reports, report];
      await this.#removeOld();
      return report;
    });
  }

  /** Returns the reports, newest first. */
  list(): readonly VisitorReport[] {
    return this.#reports.filter(isCurrent).toReversed();
  }

  /** Removes a report, if it is there. @throws a system error */
  async remove(id: string): Promise<void> {
    await this.#delete(this.#reports.filter((report) => report.id === id));
  }

  close(): void {
    clearInterval(this.#timer);
  }

  async #removeOld(): Promise<void> {
    const old = this.#reports.filter(
      (report, i, { length }) => !isCurrent(report) || i < length - maxReports,
    );
    await this.#delete(old).catch((error: unknown) =>
      this.#log.warn(
        { err: error },
        `old reports could not be removed: ${messageOf(error)}; retrying in an hour`,
      ),
    );
  }

  async #delete(reports: readonly VisitorReport[]): Promise<void> {
    for (const report of reports) await rm(this.#path(report), { force: true });
    this.#reports = this.#reports.filter((report) => !reports.includes(report));
  }

  #path({ id }: VisitorReport): string {
    return join(this.#folder, `${id}.json`);
  }
}

const maxReports = 1000;
const maxPerBotAndDay = 20;

/** Reports that are being written. */
const maxUnsaved = 100;

const maxFileBytes = 16_384;
const msPerHour = 3_600_000;
const msPerDay = 24 * msPerHour;

function isCurrent({ at }: VisitorReport): boolean {
  return at > Date.now() - 90 * msPerDay;
}

/** Returns the report in a file; undefined where it holds none. */
function parseReport(name: string, content: string): VisitorReport | undefined {
  const [, id, at] = /^((\d{13})-[0-9a-f]{8})\.json$/.exec(name) ?? [];
  const json = readStrictJson(content, name);
  if (id === undefined || !('data' in json)) return undefined;
  const { text } = json.data;
  const bot = parseBotId(String(json.data['bot']));
  const reason = reportReasons.find((one) => one === json.data['reason']);
  const locale = toCanonicalLocale(String(json.data['locale']));
  if (!bot || !reason || !locale || typeof text !== 'string' || text.length > maxReportLength)
    return undefined;
  return { id, at: Number(at), bot, reason, text, locale };
}
