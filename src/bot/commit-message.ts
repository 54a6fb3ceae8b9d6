declare const brand: unique symbol;

/** The id of an account on the chat platform, as `authors` names it: 1–20 decimal digits. */
export type AccountId = string & { readonly [brand]: 'AccountId' };

/** Returns `text` as an account id; undefined when it is not one. The only way to get an AccountId. */
export function parseAccountId(text: string): AccountId | undefined {
  return /^[0-9]{1,20}$/.test(text) ? (text as AccountId) : undefined;
}

/** A bot and its changed keys, an empty list for a new bot. The name may contain anything. */
export interface EditedBot {
  readonly id: string;
  readonly name: string;
  readonly keys: readonly string[];
}

/**
 * Returns the message for a commit of these edits: `Update Homer (190519304972663312): category, nsfw` for one bot, `Add
 * Homer (190519304972663312)` for one that is new, `Update 57 bots` and a line for each for more; a trailer `Bot: <id>`
 * per bot, then `trailers`.
 * @param more another verb; why, which is a paragraph of its own
 */
export function formatCommitMessage(
  edits: readonly EditedBot[],
  trailers: readonly string[] = [],
  more: { readonly verb?: string; readonly reason?: string } = {},
): string {
  const bots = new Map<string, EditedBot>();
  for (const edit of edits) {
    const keys = [...(bots.get(edit.id)?.keys ?? []), ...edit.keys];
    bots.set(edit.id, { ...edit, keys: [...new Set(keys)] });
  }
  const changes = [...bots.values()].map(
    ({ name, id, keys }) =>
      `${toMessageText(name)} (${id})${keys.length === 0 ? '' : `: ${keys.map((key) => toMessageText(key)).join(', ')}`}`,
  );
  const { verb = edits.every(({ keys }) => keys.length === 0) ? 'Add' : 'Update', reason = '' } = more;
  const why = reason === '' ? [] : ['', toMessageText(reason, maxReasonLength)];
  const lines =
    changes.length === 1
      ? [`${verb} ${changes[0]}`, ...why]
      : [`${verb} ${changes.length} bots`, ...why, '', ...changes.map((change) => `- ${change}`)];
  return `${[...lines, '', ...[...bots.keys()].map((id) => `Bot: ${id}`), ...trailers].join('\n')}\n`;
}

/**
 * Returns a text without line breaks, which could end the subject and forge trailers, and without control and bidi
 * characters, which mislead.
 */
export function toOneLine(text: string, maxLength = maxNameLength): string {
  const shown = text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\s]+/gu, ' ').trim();
  return shown.length <= maxLength ? shown : `${shown.slice(0, maxLength - 1)}…`;
}

/** Returns a text of people for a commit message: one line, in which a Git host acts on no word. */
function toMessageText(text: string, maxLength?: number): string {
  return toInert(toOneLine(text, maxLength));
}

/**
 * Replaces characters in the words that Git hosts act on in messages, titles and descriptions: a mention, an address,
 * the number of an issue, also as `!1` or `TASK-1`, which a merged `Fixes #1` would close, and `[skip ci]` or
 * `***NO_CI***`, which would skip the check.
 */
export function toInert(text: string): string {
  const fullWidthOffset = 0xfee0;
  return text.replace(/[@#:*[\]]|[!&](?=\d)|(?<=[a-z])-(?=\d)/gi, (c) =>
    String.fromCharCode(c.charCodeAt(0) + fullWidthOffset),
  );
}

/** Returns the trailer of a commit that a person makes with a command. */
export function formatChangedBy(name: string): string {
  return `Changed-by: ${toMessageText(name)}`;
}

/** The maker of a commit: a person, an owner through the API, or an account whose proposal was accepted. */
export type CommitAuthor =
  | { readonly kind: 'person'; readonly name: string }
  | { readonly kind: 'api' }
  | { readonly kind: 'proposal'; readonly account: AccountId; readonly reviewer: AccountId | undefined };

/** Decodes the object of a commit by the encoding that it names. */
export function decodeCommit(object: Buffer): string {
  const text = object.toString();
  const [, encoding] = /^encoding (\S+)$/m.exec(text.slice(0, text.indexOf('\n\n'))) ?? [];
  try {
    return encoding === undefined ? text : new TextDecoder(encoding).decode(object);
  } catch {
    // The encoding is unknown.
    return text;
  }
}

/**
 * Parses the author of a commit from its object. A service makes its commits with one identity at one time and names
 * the bots: a commit that a person has amended is that person's, and so is one with trailers and another identity.
 * Anything may be in a person's name.
 * @param identity that of the service, `name <address>`
 */
export function parseCommitAuthor(content: string, identity: string): CommitAuthor {
  const { author, isOneIdentity, trailers } = parseCommit(content);
  if (!isOneIdentity || !author.startsWith(`${identity} `) || !/^Bot: /m.test(trailers))
    return {
      kind: 'person',
      name: author
        .replace(/<[^<]*$/, '')
        .trimEnd()
        .slice(0, maxNameLength),
    };
  const name = /^Changed-by: (.+)$/m.exec(trailers)?.[1];
  if (name !== undefined) return { kind: 'person', name };
  const [account, reviewer] = ['Proposed-by', 'Reviewed-by'].map((key) =>
    parseAccountId(new RegExp(`^${key}: (\\d+)$`, 'm').exec(trailers)?.[1] ?? ''),
  );
  return account === undefined ? { kind: 'api' } : { kind: 'proposal', account, reviewer };
}

/** Returns the first trailer of a commit that only a service writes, where the commit could be taken for a service's. */
export function findServiceTrailer(content: string): string | undefined {
  const { isOneIdentity, trailers } = parseCommit(content);
  return isOneIdentity
    ? /^(?:Bot|Changed-by|Proposed-by|Reviewed-by): /m.exec(trailers)?.[0].trim()
    : undefined;
}

function parseCommit(content: string): { author: string; isOneIdentity: boolean; trailers: string } {
  const [headers = ''] = content.split('\n\n', 1);
  const [author = '', committer] = ['author', 'committer'].map(
    (key) => new RegExp(`^${key} (.*)$`, 'm').exec(headers)?.[1] ?? '',
  );
  const trailers = content.trimEnd().split('\n\n').at(-1) ?? '';
  return { author, isOneIdentity: author === committer, trailers };
}

/** Characters of a name that are shown. */
const maxNameLength = 64;

const maxReasonLength = 500;
