import type { VNode } from 'preact';
import { msPerDay } from '../../bot/clock.ts';
import type { BotId } from '../../bot/id.ts';
import type { Permission } from '../../bot/invite.ts';
import type { Locale } from '../../bot/locale.ts';
import {
  type AcceptedReview,
  readLastReview,
  readTrustChanges,
  type TrustChange,
} from '../../catalogue/changes/bot-changes.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import type { MessageKey, Messages } from '../language/messages.tsx';
import { nameAccount } from '../page/elements.tsx';
import { withoutBidiControls } from '../../lib/text.ts';
import { type PageParts, useLanguage } from '../page/page-context.tsx';

/** The facts about the trust in a bot: recent changes with the names of accounts, and the last review. */
interface BotTrust {
  readonly changes: readonly TrustChange[];
  /** Undefined if it is unknown, or its reviewer has no name. */
  readonly review: NamedReview | undefined;
}

/** The last review of a bot, with the reviewer's name. */
export type NamedReview = Omit<AcceptedReview, 'reviewer'> & { readonly reviewer: string };

/** Reads the facts about the trust in a page of a bot from its history, once per commit. Empty without Git. */
export async function readBotTrust(
  { changes: index, authors, cache }: PageParts,
  id: BotId,
  locale: Locale,
): Promise<BotTrust> {
  const read = async () => {
    const changes = await readTrustChanges(index, id);
    return { changes, review: await readLastReview(index, id, locale) };
  };
  const inputs = [() => index.stamp(id), () => Math.floor(Date.now() / msPerDay)];
  const kept = cache.get(`trust ${id} ${locale}`, read, { inputs, isExact: true });
  const { changes = [], review } = (await kept.catch(() => undefined)) ?? {};
  const profile = review && authors.findProfile(review.reviewer);
  return {
    changes: nameAuthors(changes, authors),
    review: profile && { ...review, reviewer: withoutBidiControls(profile.name) },
  };
}

/** Replaces the ids of accounts in changes by their names. */
export function nameAuthors(
  changes: readonly TrustChange[],
  authors: Pick<AuthorIndex, 'findProfile'>,
): TrustChange[] {
  return changes.map((change) => {
    if (change.kind !== 'author') return change;
    return { ...change, values: change.values.map((account) => nameAccount(authors, account)) };
  });
}

/** A change in the history of a bot, or a state that it is in since a time. */
export interface Warning extends Pick<TrustChange, 'values' | 'since'> {
  /** `gone`: removed from the list. `count`: no count since then. */
  readonly kind: TrustChange['kind'] | 'gone' | 'blocked' | 'count';
}

/** The kinds of warnings. */
const worstFirst = 'administrator permission author bot gone blocked nsfw count source'.split(' ');

/** Returns the place of a warning among all, worst first. */
export function rankWarning(warning: Warning): number {
  return worstFirst.indexOf(toWarningKind(warning));
}

function toWarningKind({ kind, values }: Warning): Warning['kind'] | 'administrator' {
  return values.includes('administrator') ? 'administrator' : kind;
}

/** Returns the key and the values of the sentence for a warning. */
export function toMessage(warning: Warning, { text, day }: Messages) {
  const shown = warning.values.map((value) => {
    if (warning.kind !== 'permission') return value;
    return /^\d/.test(value)
      ? text('permissions.unknown', { bit: Number(value) })
      : text(`permission.${value as Permission}`);
  });
  const values = { day: day(warning.since), values: shown.join(', ') };
  return [`changes.${toWarningKind(warning)}`, values] as const;
}

/** A change that matters for the trust in a bot, as a sentence with its date. */
export function TrustChangeText({ change }: { readonly change: Warning }): VNode {
  const language = useLanguage();
  const isLoud = ['administrator', 'bot', 'gone', 'blocked'].includes(toWarningKind(change));
  const sentence = language.t(...toMessage(change, language));
  return isLoud ? <strong class="warning">{sentence}</strong> : <>{sentence}</>;
}

/** Returns the two lines of the stamp of a review. @param translate returns a message of the page's language */
export function formatReview<T>(
  { reviewer: name, time, changed }: NamedReview,
  translate: (key: MessageKey, values: Record<'name' | 'day', string>) => T,
  day: (time: number) => string,
): [T | string, T | string] {
  const values = { name, day: day(changed ?? time) };
  if (changed === undefined) return [translate('bot.reviewed', values), values.day];
  return [translate('bot.reviewedBy', { name, day: day(time) }), translate('bot.changedSince', values)];
}
