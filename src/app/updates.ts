import type { Counts } from '../bot/counts.ts';
import { PreconditionFailedError, UnknownBotError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import type { UpdateValues } from '../bot/schema-types.ts';
import { pathOf } from '../catalogue/page/layout.ts';
import type { BotIndex, IndexedBot } from '../catalogue/store/bot-index.ts';
import type { Committer } from '../git/commit/committer.ts';
import { SerialQueue } from '../lib/serial-queue.ts';
import type { PostedEdit } from './page-editor.ts';

/** Applies owners' updates: content is committed, counts go to the journal. An update that has resolved is durable. */
export class Updates {
  readonly #bots: BotIndex;
  readonly #committer: Pick<Committer<PostedEdit>, 'commit'>;
  readonly #counts: Pick<Counts, 'setCount'>;
  /** A bot's updates come one after the other, so that each sees what the one before did. */
  readonly #queues = new Map<BotId, SerialQueue>();

  constructor(
    bots: BotIndex,
    committer: Pick<Committer<PostedEdit>, 'commit'>,
    counts: Pick<Counts, 'setCount'>,
  ) {
    this.#bots = bots;
    this.#committer = committer;
    this.#counts = counts;
  }

  /**
   * Applies an update, all or nothing. Returns the commit of its content; null where no content changed.
   * @param isExpected whether the bot is the one the client read
   * @throws {UnknownBotError} when the bot has gone since it was looked up
   * @throws {PreconditionFailedError} when `isExpected` returns false, or the bot changes before the update is made
   * @throws {WritesUnavailableError} when nothing can be written now, or the bot's file is faulty
   */
  async apply(
    id: BotId,
    values: UpdateValues,
    isExpected?: (bot: IndexedBot) => boolean,
  ): Promise<string | null> {
    const { count, ...content } = values;
    const expected = (): IndexedBot => {
      const bot = this.#bots.get(id);
      if (bot === undefined) throw new UnknownBotError(id);
      if (isExpected?.(bot) === false) throw new PreconditionFailedError(bot.digest);
      return bot;
    };
    if (count !== undefined && Object.keys(content).length === 0) {
      expected();
      await this.#counts.setCount(id, count);
      return null;
    }
    return await this.#queued(id, async () => {
      const { facts, digest } = expected();
      const [locale] = facts.locales;
      const expectedDigest = isExpected && digest;
      const edit = { id, name: facts.name, values: content, digest: expectedDigest };
      const commit = locale ? await this.#committer.commit({ ...edit, path: pathOf(id, locale) }) : null;
      if (count !== undefined) await this.#counts.setCount(id, count);
      return commit;
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
