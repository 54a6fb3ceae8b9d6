import { type BotId, parseBotId } from '../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../bot/locale.ts';
import type { Log } from '../lib/log.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { readStrictJson } from '../lib/strict-json.ts';
import { DatedFiles, parseFileTime } from './dated-files.ts';

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
  readonly #files: DatedFiles<SentReport>;
  readonly #adding = new SerialQueue(maxUnsaved);

  private constructor(folder: string, confirmedTime: () => Promise<number>) {
    this.#files = new DatedFiles(folder, {
      confirmedTime,
      maxAgeMs: 90 * msPerDay,
      maxFiles: maxReports,
      // Who sends as many as fit about a few bots does not push out those about others.
      groupOf: ({ bot }) => bot,
    });
  }

  /**
   * Reads the reports. A file that holds none is left alone, with a line in the log.
   * @param confirmedTime that of `DatedFiles`
   * @throws a system error
   */
  static async open(folder: string, log: Log, confirmedTime: () => Promise<number>): Promise<VisitorReports> {
    const reports = new VisitorReports(folder, confirmedTime);
    await reports.#files.load(async (id) => {
      const report = parseReport(id, (await reports.#files.read(id)) ?? '');
      if (report === undefined) log.warn({ folder }, `${id} in ${folder} is not a report: it is left out`);
      return report;
    });
    return reports;
  }

  /**
   * Keeps a report durably, and returns it; null where it is one too many of its bot in a day.
   * @throws {WritesUnavailableError} or {QueueFullError}, and nothing is kept
   */
  async add(sent: SentReport): Promise<VisitorReport | null> {
    return await this.#adding.run(async () => {
      const since = Date.now() - msPerDay;
      const sameDay = this.list().filter(({ bot, at }) => bot === sent.bot && at > since);
      if (sameDay.length >= maxPerBotAndDay) return null;
      const id = await this.#files.add(JSON.stringify(sent), sent);
      return { ...sent, id, at: parseFileTime(id) };
    });
  }

  /** Returns the reports, newest first. */
  list(): readonly VisitorReport[] {
    return this.#files
      .list()
      .map(([id, sent]) => ({ ...sent, id, at: parseFileTime(id) }))
      .toReversed();
  }

  /** Removes a report, if it is there. @throws a system error */
  async remove(id: string): Promise<void> {
    await this.#files.delete([id]);
  }
}

const maxReports = 1000;
const maxPerBotAndDay = 20;

/** Reports that are being written. */
const maxUnsaved = 100;

const msPerDay = 86_400_000;

/** Returns the report in a file; undefined where it holds none. */
function parseReport(name: string, content: string): SentReport | undefined {
  const json = readStrictJson(content, name);
  if (!('data' in json)) return undefined;
  const { text } = json.data;
  const bot = parseBotId(String(json.data['bot']));
  const reason = reportReasons.find((one) => one === json.data['reason']);
  const locale = toCanonicalLocale(String(json.data['locale']));
  const isValid = bot && reason && locale && typeof text === 'string' && text.length <= maxReportLength;
  return isValid ? { bot, reason, text, locale } : undefined;
}
