import { BotshelfError, messageOf } from '../../lib/errors.ts';
import { formatCount } from '../../lib/text.ts';
import type { NewFile } from '../commit-files.ts';
import type { FileChange, GitFile } from '../trees.ts';
import { computeBlobId, maxObjectBytes } from '../objects.ts';
import type { Repository } from '../repository.ts';
import type { Inspection } from './checkout.ts';
import { unmerged } from './git-index.ts';
import type { WorkTree } from './work-tree.ts';

/** A change to the text of one file, as data that an `Editor` interprets. */
export interface FileEdit {
  /** Relative to the catalogue's folder. */
  readonly path: string;
}

/** Applies edits to files. Its functions are pure: they are called again when the branch has moved. */
export interface Editor<E extends FileEdit> {
  /**
   * Returns a file's text with an edit, or the same text if the file already has it; `text` is null if the file does
   * not exist. An error rejects this edit alone.
   */
  readonly edit: (text: string | null, edit: E) => string | null;
  /** Returns the message for a commit of these edits. */
  readonly describe: (edits: readonly E[]) => string;
}

/** A file that edits are planned on: the same at the tip, in the index and in the work tree, or else refused. */
export interface CurrentFile {
  readonly file: GitFile | null;
  readonly text: string | null;
  /** The reason why it cannot be edited. */
  readonly refusal?: BotshelfError;
}

/** The commit of a batch, and the outcome of each edit. */
interface BatchPlan {
  readonly changes: readonly FileChange[];
  /** The changed files, by path. */
  readonly files: ReadonlyMap<string, NewFile>;
  readonly message: string;
  /** The result of each edit, in order, once the changes are committed. */
  readonly outcomes: readonly EditOutcome[];
}

type EditOutcome =
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
  for (const [path, { file, text: old }] of current) {
    const text = texts.get(path) ?? null;
    if (text === null || text === old) continue;
    const content = Buffer.from(text);
    const mode = file?.mode ?? '100644';
    changes.push({ path, before: file, after: { mode, id: computeBlobId(content, hash) } });
    files.set(path, { mode, content });
  }
  return { changes, files, message: editor.describe(written), outcomes };
}

/**
 * Returns the file to plan edits on. It is refused if a person has edited it, or it cannot be edited.
 * @param file the file at the tip
 * @param failure why the file is behind the branch
 */
export function readCurrentFile(
  path: string,
  file: GitFile | null,
  inspection: Inspection,
  failure: string | undefined,
): CurrentFile {
  const refuse = (why: string): CurrentFile => ({
    file,
    text: null,
    refusal: new BotshelfError('unusable-page', why),
  });
  const seen = inspection.files.get(path);
  if (failure !== undefined) return refuse(`${path} is behind the branch: it ${failure}`);
  if (seen === undefined || seen instanceof Error)
    return refuse(`${path} cannot be read (${seen ? messageOf(seen) : 'it was not inspected'})`);
  const state = findEdit(path, file, inspection);
  if (state !== undefined) {
    const message = `${path} ${state} in the service's clone: send the change again when a maintainer has committed them`;
    return { file, text: null, refusal: new BotshelfError('edit-conflict', message) };
  }
  if (file === null) return { file, text: null };
  if (!file.mode.startsWith('100')) return refuse(`${path} is no regular file: replace it with one`);
  if (seen.content === undefined) return refuse(`${path} has more than ${maxObjectBytes / 1024 / 1024} MiB`);
  const text = seen.content.toString();
  if (!Buffer.from(text).equals(seen.content)) return refuse(`${path} is not UTF-8: convert it`);
  return { file, text };
}

/**
 * Refuses a move of the branch that would change a file with edits of a person.
 * @throws {BotshelfError} edit-conflict
 */
export function refuseEdits(
  changes: readonly FileChange[],
  seen: Inspection,
  workTree: Pick<WorkTree, 'failureOf'>,
): void {
  const [first, ...others] = changes.flatMap(({ path, before }) => {
    const failure = workTree.failureOf(path);
    if (failure !== undefined) return `${path} is behind the branch: it ${failure}`;
    const edit = findEdit(path, before, seen);
    return edit === undefined ? [] : `${path} ${edit}: commit or discard them`;
  });
  if (first === undefined) return;
  const more = others.length > 0 ? ` (and ${formatCount(others.length, 'other file')})` : '';
  throw new BotshelfError('edit-conflict', first + more);
}

/** Returns how a file differs from that of the tip; undefined if index and work tree have the tip's file. */
function findEdit(path: string, file: GitFile | null, { index, files }: Inspection): string | undefined {
  const seen = files.get(path);
  const before = file?.id ?? null;
  const entry = index.get(path) ?? null;
  if (entry === unmerged) return 'is in conflict in a merge';
  if (seen instanceof Error) return `cannot be read (${messageOf(seen)})`;
  return entry !== before || seen?.id !== before ? 'has uncommitted edits' : undefined;
}
