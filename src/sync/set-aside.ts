import type { BotId } from '../bot/id.ts';

/** A change that gave way to another one in a merge. It stays in the history. */
export interface SetAsideChange {
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
export function setAsideMessage({ path, what, of, because }: SetAsideChange): string {
  const whose = of === 'ours' ? 'from this clone' : 'from the remote';
  return `set aside ${JSON.stringify(what)} ${whose} in ${JSON.stringify(path)}, as ${because}; it stays in the history`;
}

/**
 * Returns a commit message: `<verb> the bot 312` or `<verb> 57 bots`, what was set aside, and a trailer for each bot.
 */
export function mergeMessage(
  verb: string,
  bots: readonly BotId[],
  setAside: readonly SetAsideChange[],
): string {
  const lines = [`${verb} ${bots.length === 1 ? `the bot ${bots[0]}` : `${bots.length} bots`}`];
  const sections = new Map<string, Map<string, string[]>>();
  for (const { path, what, of, because } of setAside) {
    const title = `Set aside${of === 'theirs' ? ' of the remote' : ''}, as ${because}:`;
    const section = sections.get(title) ?? new Map<string, string[]>();
    sections.set(title, section.set(path, [...(section.get(path) ?? []), quoted(what)]));
  }
  for (const [title, paths] of sections) {
    lines.push('', title);
    for (const [path, what] of paths) lines.push(`- ${JSON.stringify(path)}: ${what.join(', ')}`);
  }
  if (bots.length > 0) lines.push('', ...bots.map((id) => `Bot: ${id}`));
  return `${lines.join('\n')}\n`;
}

/** A key of a stranger's choice may have line breaks or any length. */
function quoted(what: string): string {
  return /^[\w-]{1,40}$/.test(what) ? what : JSON.stringify(what).slice(0, 40);
}
