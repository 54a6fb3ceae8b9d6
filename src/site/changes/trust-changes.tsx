import type { VNode } from 'preact';
import type { Permission } from '../../bot/permissions.ts';
import type { BotId } from '../../bot/id.ts';
import { readTrustChanges, type TrustChange } from '../../catalogue/changes/bot-changes.ts';
import type { AuthorIndex } from '../../catalogue/lists/authors.ts';
import { withoutBidiControls } from '../page/bidi.ts';
import type { SiteParts } from '../page/site-parts.ts';
import { useLanguage } from '../language/page-language.tsx';

/** Reads what matters to who trusts a bot, with the names of accounts. Without Git there is nothing. */
export async function readNamedTrustChanges(
  { changes, authors }: Pick<SiteParts, 'changes' | 'authors'>,
  id: BotId,
): Promise<readonly TrustChange[]> {
  const read = await readTrustChanges(changes, id).catch(() => []);
  return read.map(({ values, ...change }) => {
    const isOfAuthors = change.kind === 'author';
    return {
      ...change,
      values: isOfAuthors ? values.map((account) => nameAccount(authors, account)) : values,
    };
  });
}

/** Returns the name of an account; its id where it has none. */
export function nameAccount(authors: Pick<AuthorIndex, 'findProfile'>, account: string): string {
  return withoutBidiControls(authors.findProfile(account)?.name ?? account);
}

/** What matters to who trusts a bot, in a sentence: what it has, and since when. */
export function TrustChangeText({
  change: { kind, values, since },
}: {
  readonly change: TrustChange;
}): VNode {
  const { t, text, day } = useLanguage();
  const isWarning = kind === 'bot' || values.includes('administrator');
  const key = values.includes('administrator') ? 'administrator' : kind;
  const shown = values.map((value) => {
    if (kind !== 'permission') return value;
    return /^\d/.test(value)
      ? text('permissions.unknown', { bit: Number(value) })
      : text(`permission.${value as Permission}`);
  });
  const sentence = t(`changes.${key}`, { day: day(since), values: shown.join(', ') });
  return isWarning ? <strong class="warning">{sentence}</strong> : <>{sentence}</>;
}
