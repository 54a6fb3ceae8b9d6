import type { Proposal } from './proposal.ts';
import { isBot, toSubjectPath } from './subject.ts';

/** Something that a person should know of. */
export interface Notice {
  readonly kind: 'proposal' | 'decision' | 'fault' | 'report';
  readonly title: string;
  /** Plain text; may be empty. */
  readonly text: string;
  /** The page to act on. */
  readonly url: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
}

/**
 * Returns the notice of a step of a proposal: to the reviewers of what is sent, and of each decision. Null for a withdrawal.
 * @param isReviewedHere whether its page in the review is there; at the Git host it is not
 */
export function createProposalNotice(
  proposal: Proposal,
  baseUrl: string,
  isReviewedHere: boolean,
): Notice | null {
  const { subject, proposer, state, reviewer, reason, text } = proposal;
  if (state === 'withdrawn') return null;
  const what = isBot(subject) ? `the bot ${subject}` : toSubjectPath(subject);
  const from = `the proposal of ${proposer.name} for ${what}`;
  const at = Date.now();
  if (state === 'waiting') {
    const title = `${proposer.name} (${proposer.id}) proposes a change of ${what}`;
    const page = isReviewedHere ? `/${subject}/${proposer.id}` : '';
    return { kind: 'proposal', title, text, url: `${baseUrl}/review${page}`, at };
  }
  const decided = { accepted: 'Accepted', declined: 'Declined', 'changes-asked': 'Changes asked for' }[state];
  const title = `${decided}${reviewer === null ? '' : ` by ${reviewer.name}`}: ${from}`;
  const words = [reason ?? '', text].filter((part) => part !== '').join('\n');
  const page = state === 'accepted' ? toSubjectPath(subject) : `/proposals/${subject}`;
  return { kind: 'decision', title, text: words, url: baseUrl + page, at };
}

/**
 * Returns a notice as the JSON that webhooks of Discord show, which look for no mention in it
 * (https://discord.com/developers/docs/resources/webhook#execute-webhook). Other programs read `botshelf`: Discord takes
 * requests with keys that it does not know, but its documentation does not promise that.
 */
export function toWebhookBody(notice: Notice): string {
  const { url, at } = notice;
  const title = escapeMarkdown(notice.title.replaceAll(/\s+/g, ' '), 256);
  const description = escapeMarkdown(notice.text, 4096) || undefined;
  return JSON.stringify({
    content: `${title}\n<${url}>`.slice(0, 2000),
    embeds: [{ title, description, url, timestamp: new Date(at).toISOString() }],
    allowed_mentions: { parse: [] },
    botshelf: { ...notice, text: notice.text.slice(0, 4096) },
  });
}

/** Escapes what Discord reads as markup, a link or a mention. The result has at most `maxLength` characters. */
function escapeMarkdown(text: string, maxLength: number): string {
  let escaped = '';
  for (const character of text) {
    const piece = /[!-/:-@[-`{-~]/.test(character) ? `\\${character}` : character;
    if (escaped.length + piece.length >= maxLength) return `${escaped}…`;
    escaped += piece;
  }
  return escaped;
}
