import { EditConflictError, WritesUnavailableError } from '../../bot/errors.ts';
import { messageOf } from '../../lib/errors.ts';
import type { FileChange, GitFile } from '../diff.ts';
import { computeBlobId } from '../objects/object-id.ts';
import { maxObjectBytes } from '../objects/objects.ts';
import type { Repository } from '../repository.ts';
import type { NewFile } from './fast-import.ts';
import type { Inspection } from '../work-tree/checkout.ts';
import { unmerged } from '../work-tree/git-index.ts';

/** A change to the text of one file, as data: an `Editor` knows what it means. */
export interface FileEdit {
  /** Relative to the catalogue's folder. */
  readonly path: string;
}

/** Knows the files that are edited. Its functions are pure: they are called again when the branch has moved. */
export interface Editor<E extends FileEdit> {
  /**
   * Returns a file's text with an edit, the same text where it has the edit already; `text` is null where the file does
   * not exist. What it throws rejects this edit alone.
   */
  readonly edit: (text: string | null, edit: E) => string | null;
  /** Returns the message for a commit of these edits. */
  readonly describe: (edits: readonly E[]) => string;
}

/** A file that edits are planned on. It is the same at the tip, in the index and in the work tree, or refused. */
export interface CurrentFile {
  readonly file: GitFile | null;
  readonly text: string | null;
  /** Why it cannot be edited. */
  readonly refusal?: Error;
}

export interface BatchPlan {
  readonly changes: readonly FileChange[];
  /** The changed files, by path. */
  readonly files: ReadonlyMap<string, NewFile>;
  /** Their new bytes, by path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  readonly message: string;
  /** One for each edit, in order: its result once the changes are committed. */
  readonly outcomes: readonly EditOutcome[];
}

export type EditOutcome =
  | { readonly kind: 'written' | 'unchanged' }
  | { readonly kind: 'refused'; readonly error: unknown };

/**
 * Applies edits to files, in order.
 * @param current the files by path from the top of the repository
 */
export function planBatch<E extends FileEdit>(
  edits: readonly E[],
  current: ReadonlyMap<string, CurrentFile>,
  { prefix, hash }: Pick<Repository, 'prefix' | 'hash'>,
  editor: Editor<E>,
): BatchPlan {
  const texts = new Map([...current].map(([path, { text }]) => [path, text]));
  const written: E[] = [];
  const outcomes = edits.map((edit): EditOutcome => {
    const path = prefix + edit.path;
    const refusal = current.get(path)?.refusal;
    if (refusal) return { kind: 'refused', error: refusal };
    const before = texts.get(path) ?? null;
    try {
      const text = editor.edit(before, edit);
      if (text === before) return { kind: 'unchanged' };
      texts.set(path, text);
      written.push(edit);
      return { kind: 'written' };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  const changes: FileChange[] = [];
  const files = new Map<string, NewFile>();
  const contents = new Map<string, Buffer>();
  for (const [path, { file, text: old }] of current) {
    const text = texts.get(path) ?? null;
    if (text === null || text === old) continue;
    const content = Buffer.from(text);
    const mode = file?.mode ?? '100644';
    changes.push({ path, before: file, after: { mode, id: computeBlobId(content, hash) } });
    files.set(path, { mode, content });
    contents.set(path, content);
  }
  return { changes, files, contents, message: editor.describe(written), outcomes };
}

/**
 * Returns the file that edits are planned on. It is refused where a person has edited it, or it cannot be edited.
 * @param file what the tip has
 * @param failure why the file is behind the branch
 */
export function readCurrentFile(
  path: string,
  file: GitFile | null,
  { index, files }: Inspection,
  failure: string | undefined,
): CurrentFile {
  const refuse = (why: string): CurrentFile => ({
    file,
    text: null,
    refusal: new WritesUnavailableError(why, 'unusable-page'),
  });
  const seen = files.get(path);
  if (failure !== undefined) return refuse(`${path} is behind the branch: it ${failure}`);
  if (seen === undefined || seen instanceof Error)
    return refuse(`${path} cannot be read (${seen ? messageOf(seen) : 'it was not inspected'})`);
  const before = file?.id ?? null;
  const entry = index.get(path) ?? null;
  if (entry !== before || seen.id !== before) {
    const state = entry === unmerged ? 'is in conflict in a merge' : 'has uncommitted edits';
    return { file, text: null, refusal: new EditConflictError(path, state) };
  }
  if (file === null) return { file, text: null };
  if (!file.mode.startsWith('100')) return refuse(`${path} is no regular file: replace it with one`);
  if (seen.content === undefined) return refuse(`${path} has more than ${maxObjectBytes / 1024 / 1024} MiB`);
  const text = seen.content.toString();
  if (!Buffer.from(text).equals(seen.content)) return refuse(`${path} is not UTF-8: convert it`);
  return { file, text };
}
