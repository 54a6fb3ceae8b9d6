import { isDeepStrictEqual } from 'node:util';
import { removeKeys, setKeys } from '../../lib/edit-json.ts';
import { cutPage, type PageData, parsePage } from './page.ts';
import { validate } from './schema.ts';

/** A page file on two sides and at their merge base; null where there was none. */
export interface PageVersions {
  readonly base: string | null;
  /** The version in the clone of the service. */
  readonly ours: string;
  /** The version on the remote. */
  readonly theirs: string;
  /** Keys for which ours wins where both changed them. */
  readonly keep?: ReadonlySet<string>;
}

export interface MergedPage {
  readonly text: string;
  /** What of ours was dropped: keys of the front matter, `page` for the markdown, `file` for all of it. */
  readonly droppedKeys: readonly string[];
}

/**
 * Merges a page file by meaning, key by key: a top-level key that one side changed takes that side, one that both
 * changed takes theirs unless it is in `keep`, and of two times in `edited` the later stays. The markdown is theirs unless
 * only ours changed it. Every byte that ours did not change is as in theirs.
 * Where a side cannot be parsed, or the result would break a rule that theirs keeps, the file is theirs.
 */
export function mergePage(path: string, { base, ours, theirs, keep = new Set() }: PageVersions): MergedPage {
  if (ours === theirs || ours === base) return { text: theirs, droppedKeys: [] };
  const all = { text: theirs, droppedKeys: ['file'] };
  const [before, mine, other] = [parseSide(path, base), parseSide(path, ours), parseSide(path, theirs)];
  if (mine === undefined || other === undefined) return all;

  const { set, remove, droppedKeys } = mergeKeys(before?.data ?? {}, mine.data, other.data, keep);
  const isChanged = mine.after !== other.after && mine.after !== before?.after;
  const isDropped = isChanged && other.after !== before?.after;
  const json = removeKeys(setKeys(other.json, set), remove);
  const text = other.before + json + (isChanged && !isDropped ? mine.after : other.after);
  const data = parseSide(path, text)?.data;
  if (data === undefined || (isValid(other.data) && !isValid(data))) return all;
  return { text, droppedKeys: isDropped ? [...droppedKeys, 'page'] : droppedKeys };
}

interface MergedKeys {
  readonly set: Record<string, unknown>;
  readonly remove: readonly string[];
  readonly droppedKeys: readonly string[];
}

/** Returns the changes to apply to theirs. */
function mergeKeys(base: PageData, ours: PageData, theirs: PageData, keep: ReadonlySet<string>): MergedKeys {
  const set = new Map<string, unknown>();
  const remove: string[] = [];
  const droppedKeys: string[] = [];
  for (const key of new Set([...Object.keys(base), ...Object.keys(ours)])) {
    const [was, mine, other] = [base, ours, theirs].map((data) =>
      Object.hasOwn(data, key) ? data[key] : undefined,
    );
    if (isDeepStrictEqual(mine, was) || isDeepStrictEqual(mine, other)) continue;
    if (key === 'edited' && typeof mine === 'number' && typeof other === 'number' && other !== was)
      set.set(key, Math.max(mine, other));
    else if (!isDeepStrictEqual(other, was) && !keep.has(key)) droppedKeys.push(key);
    else if (mine === undefined) remove.push(key);
    else set.set(key, mine);
  }
  return { set: Object.fromEntries(set), remove, droppedKeys };
}

function parseSide(
  path: string,
  text: string | null,
): (ReturnType<typeof cutPage> & { readonly data: PageData }) | undefined {
  if (text === null) return undefined;
  const { page } = parsePage(path, Buffer.from(text));
  return page && { data: page.data, ...cutPage(text) };
}

/** Whether front matter is valid for a main page or for a translation. */
function isValid(data: PageData): boolean {
  return (['main-page', 'translation'] as const).some((schema) => validate(schema, data).length === 0);
}
