/** The bot of an edit, and the keys that the edit sets. */
export interface Subject {
  /** As the bot's page has it: anything may be in it. */
  readonly name: string;
  readonly id: string;
  readonly keys: readonly string[];
}

/**
 * Returns the message for a commit of these edits: `Update Homer (190519304972663312): category, nsfw` for one bot,
 * `Update 57 bots` and a line for each for more; a trailer `Bot: <id>` per bot.
 */
export function commitMessage(subjects: readonly Subject[]): string {
  const bots = [...mergeByBot(subjects).values()];
  const [first] = bots;
  const lines =
    bots.length === 1 && first
      ? [`Update ${formatChange(first)}`]
      : [`Update ${bots.length} bots`, '', ...bots.map((bot) => `- ${formatChange(bot)}`)];
  return `${[...lines, '', ...bots.map(({ id }) => `Bot: ${id}`)].join('\n')}\n`;
}

function mergeByBot(subjects: readonly Subject[]): Map<string, Subject> {
  const bots = new Map<string, Subject>();
  for (const subject of subjects) {
    const earlier = bots.get(subject.id)?.keys ?? [];
    bots.set(subject.id, { ...subject, keys: [...new Set([...earlier, ...subject.keys])] });
  }
  return bots;
}

function formatChange({ name, id, keys }: Subject): string {
  return `${toOneLine(name)} (${id}): ${keys.join(', ')}`;
}

/** A name with line breaks could end the subject and forge trailers; control and bidi characters mislead. */
function toOneLine(name: string): string {
  const shown = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return shown.length <= 64 ? shown : `${shown.slice(0, 63)}…`;
}
