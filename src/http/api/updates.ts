import type { Command, UpdateValues } from '../../../schemas/types.ts';
import { isUnavailable } from '../../bot/errors.ts';
import { BotshelfError } from '../../lib/errors.ts';
import { formatCommitMessage } from '../../bot/commit-message.ts';
import type { Counts } from '../../bot/counts.ts';
import type { BotId } from '../../bot/id.ts';
import { commandsPart, pathOf } from '../../catalogue/page/layout.ts';
import { withValues } from '../../catalogue/page/page.ts';
import { printCommands } from '../../bot/commands.ts';
import { type BotIndex, findKnownBot, type IndexedBot } from '../../catalogue/store/bot-index.ts';
import type { Committer, Editor, FileEdit } from '../../git/branch/committer.ts';
import { computeBlobId } from '../../git/objects.ts';
import { SerialQueue } from '../../lib/serial-queue.ts';
import type { RateLimit } from '../limits.ts';
import { createDocument } from '../representation.ts';

/**
 * Applies an update and makes it durable. Returns the commit of its content; null if no content changed. If it rejects,
 * nothing is saved, unless the error is count-not-saved.
 * @param isExpected whether the client read the bot, or the commands, with this digest
 * @throws {BotshelfError} unknown-bot, when the bot has gone since it was looked up
 * @throws {BotshelfError} precondition-failed, when `isExpected` returns false, or the bot changes before the update is
 * made
 * @throws {BotshelfError} unavailable, when nothing can be written now, or the bot's file is faulty
 * @throws {BotshelfError} count-not-saved, when the count cannot be saved after the content
 * @throws {ProblemError} too-many-requests, if the bot would have one commit too many
 */
export type ApplyUpdate = (
  id: BotId,
  values: UpdateValues & PostedCommands,
  isExpected?: (digest: string | undefined) => boolean,
) => Promise<string | null>;

/** Commands, which are posted alone and replace all of the bot's commands. */
interface PostedCommands {
  readonly commands?: readonly Command[];
}

/** Limits the commits of a bot, because they stay in the history. */
interface CommitLimits {
  readonly content: RateLimit;
  readonly commands: RateLimit;
}

/**
 * Returns a function that applies owners' updates: content is committed, then the count goes to the journal. An update
 * that has resolved is durable. Updates of a bot that may commit run one after the other, so that each sees the one
 * before, and its commit is counted before the next is planned. A count alone does not wait.
 */
export function createUpdates(
  bots: BotIndex,
  committer: Pick<Committer<PostedEdit>, 'commit'>,
  counts: Pick<Counts, 'setCount'>,
  limits: CommitLimits,
): ApplyUpdate {
  const queues = new Map<BotId, SerialQueue>();
  const queued = async <T>(id: BotId, work: () => Promise<T>): Promise<T> => {
    const queue = queues.get(id) ?? new SerialQueue();
    queues.set(id, queue);
    try {
      return await queue.run(work);
    } finally {
      if (queue.size === 0) queues.delete(id);
    }
  };
  return async (id, { count, commands, ...content }, isExpected) => {
    const expected = (): IndexedBot => {
      const bot = findKnownBot(bots, id);
      const digest = digestOf(bot, commands);
      if (isExpected?.(digest) === false) throw createChangedError(digest);
      return bot;
    };
    if (count !== undefined && commands === undefined && Object.keys(content).length === 0) {
      expected();
      await counts.setCount(id, count);
      return null;
    }
    return await queued(id, async () => {
      const bot = expected();
      const [locale] = commands ? ([commandsPart] as const) : bot.facts.locales;
      const values = commands ? { commands } : content;
      const digest = isExpected && digestOf(bot, commands);
      const [limit, advice] = commands
        ? [limits.commands, 'each change of the commands is a commit, so put them only when they change']
        : [
            limits.content,
            'each change of keys is a commit, so send all keys in one post; counts alone are still taken',
          ];
      const ensureMayCommit = (): void => limit.ensureLeft(id, advice);
      const edit = { id, name: bot.facts.name, values, digest, ensureMayCommit };
      const commit = locale ? await committer.commit({ ...edit, path: pathOf(id, locale) }) : null;
      if (commit !== null) limit.add(id);
      const saved = count === undefined ? undefined : counts.setCount(id, count);
      await saved?.catch((error: unknown) => {
        if (commit === null || !isUnavailable(error)) throw error;
        const message = 'the keys are saved, but the count is not: send the count again later';
        throw new BotshelfError('count-not-saved', message, { cause: error });
      });
      return commit;
    });
  };
}

/** New values for keys of a bot's main page, or its commands, from its owner. */
export interface PostedEdit extends FileEdit {
  readonly id: BotId;
  /** The bot's name, for the commit's message. */
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>> & PostedCommands;
  /** The digest that the bot or its commands must still have, where the owner requires that. */
  readonly digest: string | undefined;
  /** Called if the edit changes the file. @throws {ProblemError} too-many-requests, if the bot may have no commit now */
  readonly ensureMayCommit: () => void;
}

/** Returns the editor of the catalogue's pages and commands. */
export function createPageEditor(bots: BotIndex): Editor<PostedEdit> {
  return {
    edit: (text, edit) => {
      // Checked again on the file that is changed: a merge may have come in between.
      const bot = findKnownBot(bots, edit.id);
      const { commands } = edit.values;
      const digest = digestOf(bot, commands);
      if (edit.digest !== undefined && digest !== edit.digest) throw createChangedError(digest);
      if (edit.digest !== undefined && !isServed(bot, edit.path, text)) throw createChangedError(undefined);
      const after = commands ? printCommands(commands) : withValues(edit.path, text, edit.values, Date.now());
      if (after !== text) edit.ensureMayCommit();
      return after;
    },
    describe: (edits) =>
      formatCommitMessage(edits.map((edit) => ({ ...edit, keys: Object.keys(edit.values) }))),
  };
}

/** Returns the digest of the document that a client has read: the bot, or its commands; undefined without one. */
function digestOf({ digest, commands }: IndexedBot, posted: PostedCommands['commands']): string | undefined {
  if (posted === undefined) return digest;
  return commands === null ? undefined : createDocument('application/json', commands).digest;
}

/** Whether the served bot has this text of a file. It has an older one until a person's commit is read. */
function isServed({ id, files }: IndexedBot, path: string, text: string | null): boolean {
  const sha = files.find(({ locale }) => pathOf(id, locale) === path)?.sha;
  if (text === null || sha === undefined) return text === null && sha === undefined;
  return computeBlobId(Buffer.from(text), sha.length === 40 ? 'sha1' : 'sha256') === sha;
}

/** @param digest the current one; undefined if it is not known */
function createChangedError(digest: string | undefined): BotshelfError {
  const message =
    'the bot has changed since it was read: read it again, then send the update again if it still applies';
  return new BotshelfError('precondition-failed', message, { digest });
}
