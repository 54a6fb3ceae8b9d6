import { isDeepStrictEqual } from 'node:util';
import { formatCommitMessage } from '../bot/commit-message.ts';
import { PreconditionFailedError, UnknownBotError, WritesUnavailableError } from '../bot/errors.ts';
import type { BotId } from '../bot/id.ts';
import { withDefaults, editPage, parsePage } from '../catalogue/page/page.ts';
import { validate } from '../catalogue/page/schema.ts';
import type { BotIndex } from '../catalogue/store/bot-index.ts';
import { editedTimeAfter } from '../counts/state.ts';
import type { Editor, FileEdit } from '../git/commit/branch-writer.ts';

/** New values for keys of a bot's main page, from its owner. */
export interface PostedEdit extends FileEdit {
  readonly id: BotId;
  /** The bot's name, for the commit's message. */
  readonly name: string;
  readonly values: Readonly<Record<string, unknown>>;
  /** The digest that the bot must still have, where the owner requires that. */
  readonly digest: string | undefined;
}

/** Returns the editor of the catalogue's pages. */
export function createPageEditor(bots: BotIndex): Editor<PostedEdit> {
  return {
    edit: (text, edit) => {
      // Checked again on the file that is changed: a merge may have come in between.
      const bot = bots.get(edit.id);
      if (bot === undefined) throw new UnknownBotError(edit.id);
      if (edit.digest !== undefined && bot.digest !== edit.digest)
        throw new PreconditionFailedError(bot.digest);
      return withValues(edit.path, text, edit.values, Date.now());
    },
    describe: (edits) =>
      formatCommitMessage(edits.map((edit) => ({ ...edit, keys: Object.keys(edit.values) }))),
  };
}

/**
 * Returns a main page's text with `values` and `edited`; the same text where it has the values already. `edited` is
 * `now`, or just after what it was if the clock has stepped back a little: in a merge the later post wins.
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
  return editPage(text, { ...Object.fromEntries(changed), edited: editedTimeAfter(page.data, now) });
}

function createFaultyError(path: string, why: string): WritesUnavailableError {
  return new WritesUnavailableError(
    `${path} is faulty (${why}): a maintainer has to fix it before the bot can be changed`,
    'faulty-page',
  );
}
