import { isDeepStrictEqual } from 'node:util';
import { PreconditionFailedError, UnknownBotError, WritesUnavailableError } from '../bot/errors.ts';
import type { Counts } from '../bot/counts.ts';
import type { BotId } from '../bot/id.ts';
import type { UpdateValues } from '../bot/schema-types.ts';
import type { BotIndex, IndexedBot } from '../catalogue/store/bot-index.ts';
import type { Committer } from '../git/commit/committer.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import { editPage, parsePage } from '../catalogue/page/page.ts';
import { withDefaults } from '../catalogue/page/defaults.ts';
import { validate } from '../catalogue/page/schema.ts';
import { computeTimeAfter } from '../counts/bot-state.ts';

/** Applies owners' updates: content is committed, counts go to the journal. An update that has resolved is durable. */
export class Updates {
  readonly #bots: BotIndex;
  readonly #committer: Pick<Committer, 'commit'>;
  readonly #counts: Pick<Counts, 'setCount'>;
  /** A bot's updates come one after the other, so that each sees what the one before did. */
  readonly #queues = new Map<BotId, SerialQueue>();

  constructor(bots: BotIndex, committer: Pick<Committer, 'commit'>, counts: Pick<Counts, 'setCount'>) {
    this.#bots = bots;
    this.#committer = committer;
    this.#counts = counts;
  }

  /**
   * Applies an update, all or nothing. Returns the commit of its content; null where no content changed.
   * @param isExpected whether the bot is the one the client read; called right before the change
   * @throws {UnknownBotError} when the bot has gone since it was looked up
   * @throws {PreconditionFailedError} when `isExpected` returns false
   * @throws {WritesUnavailableError} when nothing can be written now, or the bot's file is faulty
   */
  async apply(
    id: BotId,
    values: UpdateValues,
    isExpected: (bot: IndexedBot) => boolean = () => true,
  ): Promise<string | null> {
    if (values.count !== undefined && Object.keys(values).length === 1) {
      this.#expected(id, isExpected);
      await this.#counts.setCount(id, values.count);
      return null;
    }
    const { count, ...content } = values;
    return await this.#queued(id, async () => {
      const commit = await this.#changeContent(id, isExpected, content);
      if (count !== undefined) await this.#counts.setCount(id, count);
      return commit;
    });
  }

  #expected(id: BotId, isExpected: (bot: IndexedBot) => boolean): IndexedBot {
    const bot = this.#bots.get(id);
    if (bot === undefined) throw new UnknownBotError(id);
    if (!isExpected(bot)) throw new PreconditionFailedError(bot.digest);
    return bot;
  }

  async #changeContent(
    id: BotId,
    isExpected: (bot: IndexedBot) => boolean,
    values: Omit<UpdateValues, 'count'>,
  ): Promise<string | null> {
    const { facts } = this.#expected(id, isExpected);
    const [locale] = facts.locales;
    if (locale === undefined) return null;
    const path = pathOf(id, locale);
    // Checked again on the file that is changed: a merge may have come in between.
    const apply = (current: string | null): string => {
      this.#expected(id, isExpected);
      return withValues(path, current, values, Date.now());
    };
    return await this.#committer.commit({
      path,
      apply,
      subject: { name: facts.name, id, keys: Object.keys(values) },
    });
  }

  async #queued<T>(id: BotId, work: () => Promise<T>): Promise<T> {
    const queue = this.#queues.get(id) ?? new SerialQueue();
    this.#queues.set(id, queue);
    try {
      return await queue.run(work);
    } finally {
      if (queue.size === 0) this.#queues.delete(id);
    }
  }
}

/**
 * Returns a main page's text with `values` and `edited`; the same text where it has the values already. `edited` is
 * `now`, or just after what it was: in a merge a later post wins though the clock has stepped back.
 * @throws {WritesUnavailableError} when the file at the tip is no page that can be edited
 */
export function withValues(
  path: string,
  text: string | null,
  values: Readonly<Record<string, unknown>>,
  now: number,
): string {
  if (text === null) throw createFaultyError(path, 'it is not in the last commit');
  const { page, faults } = parsePage(path, Buffer.from(text));
  const [fault = validate('main-page', page?.data)[0]] = faults;
  if (page === undefined || fault !== undefined)
    throw createFaultyError(path, fault?.message ?? 'it cannot be read');

  const known = withDefaults(page.data);
  const changed = Object.entries(values).filter(([key, value]) => !isDeepStrictEqual(known[key], value));
  if (changed.length === 0) return text;
  const { created, edited: previous = created } = page.data;
  const edited = computeTimeAfter(Number(previous), Math.max(now, Number(created)));
  return editPage(text, { ...Object.fromEntries(changed), edited });
}

function createFaultyError(path: string, why: string): WritesUnavailableError {
  return new WritesUnavailableError(
    `${path} is faulty (${why}): a maintainer has to fix it before the bot can be changed`,
    'faulty-page',
  );
}
