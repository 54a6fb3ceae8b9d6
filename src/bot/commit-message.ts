import { type AccountId, parseAccountId } from './account.ts';

/** A bot, and the keys that were changed; none for a bot that is new. Anything may be in its name. */
export interface EditedBot {
  readonly id: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/**
 * Returns the message for a commit of these edits: `Update Homer (190519304972663312): category, nsfw` for one bot, `Add
 * Homer (190519304972663312)` for one that is new, `Update 57 bots` and a line for each for more; a trailer `Bot: <id>`
 * per bot, then `trailers`.
 */
export function formatCommitMessage(edits: readonly EditedBot[], trailers: readonly string[] = []): string {
  const bots = new Map<string, EditedBot>();
  for (const edit of edits) {
    const keys = [...(bots.get(edit.id)?.keys ?? []), ...edit.keys];
    bots.set(edit.id, { ...edit, keys: [...new Set(keys)] });
  }
  const changes = [...bots.values()].map(
    ({ name, id, keys }) => `${toOneLine(name)} (${id})${keys.length === 0 ? '' : `: ${keys.join(', ')}`}`,
  );
  const verb = edits.every(({ keys }) => keys.length === 0) ? 'Add' : 'Update';
  const lines =
    changes.length === 1
      ? [`${verb} ${changes[0]}`]
      : [`${verb} ${changes.length} bots`, '', ...changes.map((change) => `- ${change}`)];
  return `${[...lines, '', ...[...bots.keys()].map((id) => `Bot: ${id}`), ...trailers].join('\n')}\n`;
}

/** A name with line breaks could end the subject and forge trailers; control and bidi characters mislead. */
function toOneLine(name: string): string {
  const shown = name.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return shown.length <= 64 ? shown : `${shown.slice(0, 63)}…`;
}

/** Who made a commit: a person, an owner through the API, or an account whose proposal was accepted. */
export type CommitAuthor =
  | { readonly kind: 'person'; readonly name: string }
  | { readonly kind: 'api' }
  | { readonly kind: 'proposal'; readonly account: AccountId };

/**
 * Parses who made a commit from its object. A service makes its commits with one identity at one time and names the bots: a
 * commit that a person has amended is that person's. Anything may be in a person's name.
 */
export function parseCommitAuthor(content: string): CommitAuthor {
  const [headers = ''] = content.split('\n\n', 1);
  const [author, committer] = ['author', 'committer'].map(
    (key) => new RegExp(`^${key} (.*)$`, 'm').exec(headers)?.[1] ?? '',
  );
  const trailers = content.trimEnd().split('\n\n').at(-1) ?? '';
  if (author !== committer || !/^Bot: /m.test(trailers))
    return { kind: 'person', name: author?.replace(/ *<[^<]*$/, '').slice(0, maxNameLength) ?? '' };
  const account = parseAccountId(/^Proposed-by: (\d+)$/m.exec(trailers)?.[1] ?? '');
  return account === undefined ? { kind: 'api' } : { kind: 'proposal', account };
}

/** Characters of a person's name that are shown. */
const maxNameLength = 64;
