import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { computeTimeAfter } from '../bot/clock.ts';
import { type AccountId, parseAccountId } from '../bot/commit-message.ts';
import { toWriteError } from '../bot/errors.ts';
import { ignoreMissing, messageOf } from '../lib/errors.ts';
import { writeAtomically } from '../lib/files.ts';
import type { Log } from '../lib/log.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { maxSessionMs, type Session } from './session.ts';

interface LogOutOptions {
  /** The folder of the file. */
  readonly folder: string;
  readonly log: Log;
}

/**
 * When each account last logged out here: all of its sessions that began before have ended. Kept in memory and in a
 * file for as long as such a session could live. If there are too many, the oldest are forgotten.
 */
export class LogOuts {
  readonly #folder: string;
  readonly #path: string;
  readonly #log: Log;
  /** In milliseconds since the epoch, the oldest first. */
  readonly #times = new Map<AccountId, number>();
  readonly #writing = new SerialQueue();
  #isSaved = true;

  constructor({ folder, log }: LogOutOptions) {
    this.#folder = folder;
    this.#path = join(folder, 'log-outs.json');
    this.#log = log;
  }

  /** Reads the file. If it is damaged, logs a warning and knows no log-out. */
  async load(): Promise<void> {
    try {
      const text = await ignoreMissing(readFile(this.#path, 'utf8'));
      for (const [id, time] of text === undefined ? [] : parseTimes(text)) this.#times.set(id, time);
    } catch (error) {
      const message = `${this.#path} cannot be read (${messageOf(error)}): sessions that a log-out ended may work again; to end all sessions, set a new BOTSHELF_SECRET, or without one delete cookie-secret in ${this.#folder}, and restart`;
      this.#log.warn({ err: error }, message);
    }
  }

  /** Whether the account of a session has logged out since it began. */
  hasEnded({ id, loggedInAt }: Session): boolean {
    return loggedInAt <= (this.#times.get(id) ?? Number.NEGATIVE_INFINITY);
  }

  /** Returns the time for a session that begins now: later than the last log-out of its account. */
  computeBegin(id: AccountId): number {
    return computeTimeAfter(this.#times.get(id));
  }

  /**
   * Ends a session and all that its account began before now, and resolves once that is durable. An ended session ends no
   * other one.
   * @throws {BotshelfError} unavailable; the sessions have ended, but only until the service stops
   */
  async add(session: Session): Promise<void> {
    const { id, loggedInAt } = session;
    if (!this.hasEnded(session)) {
      this.#times.delete(id);
      this.#times.set(id, Math.max(Date.now(), loggedInAt));
      const [oldest = id] = this.#times.keys();
      if (this.#times.size > maxAccounts) this.#times.delete(oldest);
      this.#isSaved = false;
    }
    await this.#writing.run(async () => await this.#save());
  }

  /** Writes all log-outs after which a session could still live, unless the last write had them. */
  async #save(): Promise<void> {
    if (this.#isSaved) return;
    const oldest = Date.now() - maxSessionMs;
    for (const [id, time] of this.#times) if (time < oldest) this.#times.delete(id);
    this.#isSaved = true;
    const options = { fsync: 'content and name', mode: 0o600 } as const;
    await writeAtomically(this.#path, JSON.stringify([...this.#times]), options).catch((error: unknown) => {
      this.#isSaved = false;
      throw toWriteError(error, this.#folder);
    });
  }
}

const maxAccounts = 10_000;

/** @throws {Error} if the text is no list of accounts and times */
function parseTimes(text: string): [AccountId, number][] {
  return (JSON.parse(text) as unknown[][]).map(([account, time]) => {
    const id = typeof account === 'string' ? parseAccountId(account) : undefined;
    if (id !== undefined && Number.isSafeInteger(time)) return [id, time as number];
    throw new TypeError('it is not a list of accounts and times');
  });
}
