import { createHmac, randomBytes } from 'node:crypto';
import { msPerDay } from '../bot/clock.ts';
import { type BotId, parseBotId } from '../bot/id.ts';
import { toCanonicalLocale, type Locale } from '../bot/locale.ts';
import type { Log } from '../lib/log.ts';
import { type Client, toClient } from '../lib/network.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { readStrictJson } from '../lib/json.ts';
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

/** A report, and keyed hashes of where it comes from: null for one that was sent before the service started. */
interface KeptReport {
  readonly sent: SentReport;
  readonly sender: Client | null;
}

/**
 * The reports that this machine took in the last 90 days, each in a file of a private folder. Senders are bounded by keyed
 * hashes of their addresses. These and their key are in memory only, so nothing leads from a report to its sender.
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
   * Reads the reports. A file that holds none is left alone, with a line in the log.
   * @param confirmedTime that of `DatedFiles`
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
   * Keeps a report durably, and returns it, or null if it is one too many: of its address group about the bot in a day, of
   * its network in a day, or of the network with the most reports in all.
   * @throws {BotshelfError} unavailable or queue-full, and nothing is kept
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

  /** Removes a report, if it is there. @throws a system error */
  async remove(id: string): Promise<void> {
    await this.#files.delete([id]);
  }

  #hash(address: string): string {
    return createHmac('sha256', this.#key).update(address).digest('base64url');
  }
}

const maxReports = 1000;

/** Of an address group about a bot, and of a network about all bots: a site of a customer, or an IPv4 address. */
const maxPerBotAndDay = 3;
const maxPerNetworkAndDay = 30;

/** Reports that are being written. */
const maxUnsaved = 100;

/** Returns the report in a file; undefined if it holds none. */
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
