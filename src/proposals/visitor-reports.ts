import { createHmac, randomBytes } from 'node:crypto';
import { msPerDay } from '../bot/clock.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../bot/locale.ts';
import type { Log } from '../lib/log.ts';
import { type Client, toClient } from '../lib/network.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { readStrictJson } from '../lib/json.ts';
import { DatedFiles, parseFileTime } from './dated-files.ts';

/** The reasons for reporting a bot. */
export const reportReasons = [
  'scam',
  'impersonation',
  'malware',
  'wrong-info',
  'offline',
  'adult',
  'other',
] as const;

/** A visitor's report about a bot. It contains nothing about the visitor. */
export interface SentReport {
  readonly bot: BotId;
  readonly reason: (typeof reportReasons)[number];
  /** At most `maxReportLength` characters; may be empty. Not trusted. */
  readonly text: string;
  /** The language of the page on which it was written. */
  readonly locale: Locale;
}

export interface VisitorReport extends SentReport {
  readonly id: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

export const maxReportLength = 1000;

/** A report with keyed hashes of its sender's address; null for one that was sent before the service started. */
interface KeptReport {
  readonly sent: SentReport;
  readonly sender: Client | null;
}

/**
 * The reports of the last 90 days on this machine, each in a file of a private folder. Senders are limited by keyed
 * hashes of their addresses. The hashes and their key are only in memory, so nothing links a report to its sender.
 */
export class VisitorReports {
  readonly #key = randomBytes(32);
  readonly #files: DatedFiles<KeptReport>;
  readonly #adding = new SerialQueue(maxUnsaved);

  private constructor(folder: string, confirmedTime: () => Promise<number>) {
    this.#files = new DatedFiles(folder, {
      confirmedTime,
      maxAgeMs: 90 * msPerDay,
      maxFiles: maxReports,
      groupOf: ({ sent, sender }) => sender?.network ?? sent.bot,
    });
  }

  /**
   * Reads the reports. A file without a report is kept, and logged.
   * @param confirmedTime as in `DatedFiles`
   * @throws a system error
   */
  static async open(folder: string, log: Log, confirmedTime: () => Promise<number>): Promise<VisitorReports> {
    const reports = new VisitorReports(folder, confirmedTime);
    await reports.#files.load(async (id) => {
      const report = parseReport(id, (await reports.#files.read(id)) ?? '');
      if (report === undefined) log.warn({ folder }, `${id} in ${folder} is not a report: it is left out`);
      return report && { sent: report, sender: null };
    });
    return reports;
  }

  /**
   * Saves a report durably, and returns it. Returns null above a limit: of an address group for the bot per day, of
   * its network per day, or in total for the network with the most reports.
   * @throws {BotshelfError} unavailable or queue-full; nothing is saved
   */
  async add(sent: SentReport, address: string): Promise<VisitorReport | null> {
    const { group, network } = toClient(address);
    const sender = { group: this.#hash(group), network: this.#hash(network) };
    return await this.#adding.run(async () => {
      const since = Date.now() - msPerDay;
      const recent = this.#files.list().flatMap(([id, kept]) => (parseFileTime(id) > since ? kept : []));
      const ofNetwork = recent.filter((other) => other.sender?.network === sender.network);
      const aboutBot = ofNetwork.filter(
        (other) => other.sender?.group === sender.group && other.sent.bot === sent.bot,
      );
      if (aboutBot.length >= maxPerBotAndDay || ofNetwork.length >= maxPerNetworkAndDay) return null;
      const id = await this.#files.add(JSON.stringify(sent), { sent, sender });
      return this.list().find((report) => report.id === id) ?? null;
    });
  }

  /** Returns the reports, newest first. */
  list(): readonly VisitorReport[] {
    return this.#files
      .list()
      .map(([id, { sent }]) => ({ ...sent, id, at: parseFileTime(id) }))
      .toReversed();
  }

  /** Removes a report if it exists. @throws a system error */
  async remove(id: string): Promise<void> {
    await this.#files.delete([id]);
  }

  #hash(address: string): string {
    return createHmac('sha256', this.#key).update(address).digest('base64url');
  }
}

const maxReports = 1000;

/** Maximum number per day of an address group for a bot, and of a network (a customer's site, or an IPv4 address) for all bots. */
const maxPerBotAndDay = 3;
const maxPerNetworkAndDay = 30;

/** Maximum number of reports being written. */
const maxUnsaved = 100;

/** Parses the report in a file; undefined if the file has no report. */
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
