import { isDeepStrictEqual } from 'node:util';
import { type SchemaName } from '../bot/schemas.ts';
import { validate } from '../bot/validate.ts';
import { removeKeys, setKeys, readStrictJson } from '../lib/json.ts';
import { mergeLines } from '../lib/merge-lines.ts';
import { parseFilePath, parsePagePath } from '../catalogue/page/layout.ts';
import { cutPage, type PageData, parsePage } from '../catalogue/page/page.ts';
import { maxCommandDepth } from '../bot/commands.ts';
import type { Repository } from '../git/repository.ts';

/** A file on two sides and at their merge base; null if there was none. */
export interface FileTextVersions {
  readonly base: string | null;
  /** The version in the clone of the service. */
  readonly ours: string;
  /** The version on the remote. */
  readonly theirs: string;
  /** Keys of a bot's page for which ours wins where both changed them. */
  readonly keep?: ReadonlySet<string>;
}

export interface MergedFile {
  readonly text: string;
  /**
   * The parts of ours that were dropped: keys, such as `links.terms` for one in the value of another; `page` for lines
   * of the markdown, `lines` for those of a text, `file` for all of it.
   */
  readonly droppedKeys: readonly string[];
}

/** Returns whether a file is merged by its keys. @param path relative to the catalogue's folder */
export function isMergedByKey(path: string): boolean {
  return findSchemas(path) !== undefined;
}

/**
 * Merges a file: files of bots, collections, profiles, settings and `blocked.json` key by key, anything else line by
 * line. A key that one side changed takes that side. One that both changed takes theirs unless it is in `keep`; in
 * other files than those of bots, objects are merged in turn, and lists member by member. Of two times in `edited` the
 * later stays. Markdown is merged by line. Every byte that ours did not change is as in theirs. Where a side cannot be
 * parsed, or the result would break a rule that theirs keeps, the file is theirs.
 * @param path relative to the catalogue's folder
 */
export function mergeFile(
  path: string,
  { base, ours, theirs, keep = new Set() }: FileTextVersions,
): MergedFile {
  if (ours === theirs || ours === base) return { text: theirs, droppedKeys: [] };
  const schemas = findSchemas(path);
  if (schemas === undefined) {
    const { text, isDropped } = mergeLines(base ?? '', ours, theirs);
    return { text, droppedKeys: isDropped ? [text === theirs ? 'file' : 'lines'] : [] };
  }
  const all = { text: theirs, droppedKeys: ['file'] };
  const [before, mine, other] = [parseSide(path, base), parseSide(path, ours), parseSide(path, theirs)];
  if (mine === undefined || other === undefined) return all;

  const isDeep = parseFilePath(path) === undefined;
  const { set, remove, droppedKeys } = mergeKeys(before?.data ?? {}, mine.data, other.data, { keep, isDeep });
  const markdown = mergeLines(before?.after ?? '', mine.after, other.after);
  const json = removeKeys(setKeys(other.json, set), remove);
  const text = other.before + json + markdown.text;
  const data = parseSide(path, text)?.data;
  const isValid = (value: PageData): boolean =>
    schemas.some((schema) => validate(schema, value).length === 0);
  if (data === undefined || (isValid(other.data) && !isValid(data))) return all;
  return { text, droppedKeys: markdown.isDropped ? [...droppedKeys, 'page'] : droppedKeys };
}

/** Returns the schemas of which a file has to fit one; undefined for a file that is merged by line. */
function findSchemas(path: string): readonly SchemaName[] | undefined {
  if (parsePagePath(path)) return ['main-page', 'translation'];
  if (parseFilePath(path)) return ['commands'];
  return sideFiles.find(([pattern]) => pattern.test(path))?.[1];
}

const sideFiles: readonly (readonly [pattern: RegExp, schemas: readonly SchemaName[]])[] = [
  [/^collections\/[^/]+\.md$/, ['collection']],
  [/^people\/[^/]+\.json$/, ['profile']],
  [/^botshelf\.json$/, ['settings']],
  [/^blocked\.json$/, ['blocked']],
];

interface MergedKeys {
  readonly set: Record<string, unknown>;
  readonly remove: ReadonlySet<string>;
  readonly droppedKeys: readonly string[];
}

/** Returns the changes to apply to theirs. */
function mergeKeys(
  base: PageData,
  ours: PageData,
  theirs: PageData,
  { keep, isDeep }: { readonly keep: ReadonlySet<string>; readonly isDeep: boolean },
): MergedKeys {
  const set = new Map<string, unknown>();
  const remove = new Set<string>();
  const droppedKeys: string[] = [];
  for (const key of new Set([...Object.keys(base), ...Object.keys(ours)])) {
    const [was, mine, other] = [base, ours, theirs].map((data) =>
      Object.hasOwn(data, key) ? data[key] : undefined,
    );
    if (isDeepStrictEqual(mine, was) || isDeepStrictEqual(mine, other)) continue;
    if (key === 'edited' && typeof mine === 'number' && typeof other === 'number' && other !== was)
      set.set(key, Math.max(mine, other));
    else if (isDeepStrictEqual(other, was) || keep.has(key)) {
      if (mine === undefined) remove.add(key);
      else set.set(key, mine);
    } else if (isDeep && isObject(mine) && isObject(other)) {
      const merged = mergeKeys(isObject(was) ? was : {}, mine, other, { keep, isDeep });
      const entries = Object.entries({ ...other, ...merged.set });
      set.set(key, Object.fromEntries(entries.filter(([name]) => !merged.remove.has(name))));
      droppedKeys.push(...merged.droppedKeys.map((name) => `${key}.${name}`));
    } else if (isDeep && Array.isArray(mine) && Array.isArray(other))
      set.set(key, mergeMembers(Array.isArray(was) ? was : [], mine, other));
    else droppedKeys.push(key);
  }
  return { set: Object.fromEntries(set), remove, droppedKeys };
}

/** Returns the members of theirs without those that ours removed, and those that ours added. */
function mergeMembers(
  base: readonly unknown[],
  ours: readonly unknown[],
  theirs: readonly unknown[],
): unknown[] {
  const [isBefore, isOurs, isTheirs] = [createLookup(base), createLookup(ours), createLookup(theirs)];
  return [
    ...theirs.filter((member) => isOurs(member) || !isBefore(member)),
    ...ours.filter((member) => !isTheirs(member) && !isBefore(member)),
  ];
}

/**
 * Returns a function that tells whether a list has an equal member. Comparing each takes minutes for thousands of
 * blocks.
 */
function createLookup(list: readonly unknown[]): (member: unknown) => boolean {
  const texts = new Set(list.map((member) => JSON.stringify(member)));
  return (member) => texts.has(JSON.stringify(member));
}

function isObject(value: unknown): value is PageData {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Returns the keys of a file that is merged by them; undefined if it cannot be parsed. @param path as `mergeFile` */
export function parseKeys(path: string, text: string): PageData | undefined {
  return parseSide(path, text)?.data;
}

/** Returns the keys of the file with this blob; undefined without a blob, or if it cannot be parsed. @throws {GitError} */
export async function readPageData(
  { objects }: Pick<Repository, 'objects'>,
  path: string,
  blob: string | undefined,
): Promise<PageData | undefined> {
  const object = blob === undefined ? undefined : await objects.readOne(blob);
  return object && parseKeys(path, object.content.toString());
}

function parseSide(
  path: string,
  text: string | null,
): (ReturnType<typeof cutPage> & { readonly data: PageData }) | undefined {
  if (text === null) return undefined;
  if (path.endsWith('.json')) {
    const read = readStrictJson(text, 'the file', maxCommandDepth);
    return 'data' in read ? { data: read.data, before: '', json: text, after: '' } : undefined;
  }
  const { page } = parsePage(path, Buffer.from(text));
  return page && { data: page.data, ...cutPage(text) };
}
