import type { BotId } from '../bot/id.ts';
import { toInviteKey, toNameKey } from '../bot/likeness.ts';
import { fetchMissing } from '../git/fetch.ts';
import { grepLines } from '../git/grep.ts';
import type { Finding } from './check.ts';
import { quoteValue } from '../lib/quote-value.ts';
import { botsFolder, parsePagePath } from '../catalogue/page/layout.ts';
import type { Page } from '../catalogue/page/page.ts';

/** A main page with a new name or invite. */
export interface AddedBot {
  readonly id: BotId;
  readonly page: Page;
  /** The keys that are new. */
  readonly keys: readonly ('name' | 'invite')[];
}

/**
 * Warns of main pages whose new name or invite another bot has already. Every page of the commit is searched for these keys
 * without parsing: text that looks like a key counts as one.
 */
export async function checkDuplicates(
  root: string,
  commit: string,
  newcomers: readonly AddedBot[],
): Promise<Finding[]> {
  const wanted = new Map<string, NewValue[]>();
  for (const { id, page, keys } of newcomers) {
    for (const key of keys) {
      const likeness = toComparisonKey(key, page.data[key]);
      if (likeness === undefined) continue;
      wanted.set(likeness, [...(wanted.get(likeness) ?? []), { id, page, key, others: new Set() }]);
    }
  }
  if (wanted.size === 0) return [];
  await fetchMissing(root, [`${commit}^{tree}`, '--', botsFolder]);
  const keys = new Set([...wanted.values()].flatMap((values) => values.map(({ key }) => `"${key}"`)));
  await grepLines(root, commit, botsFolder, [...keys], (path, line) => {
    for (const [, key, value = ''] of line.matchAll(keyAndText)) {
      const likeness = toComparisonKey(key as NewValue['key'], parseJsonString(value));
      for (const { id, others } of wanted.get(likeness ?? '') ?? []) {
        if (parsePagePath(path)?.id !== id) others.add(path);
      }
    }
  });
  return [...wanted.values()].flat().flatMap(listTakenWarnings);
}

interface NewValue {
  readonly id: BotId;
  readonly page: Page;
  readonly key: 'name' | 'invite';
  /** The paths of other bots' pages with a like value. */
  readonly others: Set<string>;
}

const keyAndText = /"(name|invite)"\s*:\s*("(?:[^"\\]|\\.)*")/g;

function toComparisonKey(key: NewValue['key'], value: unknown): string | undefined {
  if (typeof value !== 'string') return undefined;
  const likeness = key === 'name' ? toNameKey(value) : toInviteKey(value);
  return likeness === '' || likeness === undefined ? undefined : `${key} ${likeness}`;
}

/** Parses a JSON string. Most have no escapes. */
function parseJsonString(text: string): unknown {
  if (!text.includes('\\')) return text.slice(1, -1);
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function listTakenWarnings({ page, key, others }: NewValue): Finding[] {
  const [first, ...more] = [...others].toSorted();
  if (first === undefined) return [];
  const also = more.length > 0 ? ` and ${more.length} more` : '';
  const message =
    key === 'name'
      ? `name: ${quoteValue(page.data['name'])} is the name of ${first}${also} already, or looks like it: choose another name, unless this is intended`
      : `invite: ${first}${also} adds the same bot already: edit that page instead of adding another, or correct the invite`;
  return [{ ...page.faultAt([key], `${key}-taken`, message), severity: 'warning' }];
}
