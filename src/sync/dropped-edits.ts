import type { BotId } from '../bot/id.ts';

/** A change that gave way to another one in a merge. It stays in the history. */
export interface DroppedEdit {
  readonly path: string;
  /** A key of the front matter, `page` for the markdown, `file` for all of it. */
  readonly what: string;
  readonly of: 'ours' | 'theirs';
  readonly because:
    | 'people changed the same'
    | 'a later post changed the same'
    | 'the remote has changed the same';
}

/** Returns the log line for a change that was set aside. */
export function formatDroppedEdit({ path, what, of, because }: DroppedEdit): string {
  const whose = of === 'ours' ? 'from this clone' : 'from the remote';
  return `set aside ${JSON.stringify(what)} ${whose} in ${JSON.stringify(path)}, as ${because}; it stays in the history`;
}

/**
 * Returns a commit message: `<verb> the bot 312` or `<verb> 57 bots`, what was set aside, and a trailer for each bot.
 */
export function formatMergeMessage(
  verb: string,
  bots: readonly BotId[],
  droppedEdits: readonly DroppedEdit[],
): string {
  const lines = [`${verb} ${bots.length === 1 ? `the bot ${bots[0]}` : `${bots.length} bots`}`];
  const sections = new Map<string, Map<string, string[]>>();
  for (const { path, what, of, because } of droppedEdits) {
    const title = `Set aside${of === 'theirs' ? ' of the remote' : ''}, as ${because}:`;
    const section = sections.get(title) ?? new Map<string, string[]>();
    sections.set(title, section.set(path, [...(section.get(path) ?? []), quoteKey(what)]));
  }
  for (const [title, paths] of sections) {
    lines.push('', title);
    for (const [path, what] of paths) lines.push(`- ${JSON.stringify(path)}: ${what.join(', ')}`);
  }
  if (bots.length > 0) lines.push('', ...bots.map((id) => `Bot: ${id}`));
  return `${lines.join('\n')}\n`;
}

/** A key is user input: it may have line breaks or any length. */
function quoteKey(what: string): string {
  return /^[\w-]{1,40}$/.test(what) ? what : JSON.stringify(what).slice(0, 40);
}
