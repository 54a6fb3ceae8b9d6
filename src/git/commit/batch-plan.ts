import { computeBlobId, type HashName } from '../objects/object-id.ts';
import type { Subject } from './commit-message.ts';
import type { FileChange, GitFile } from '../file-change.ts';

/** A change to the text of one file of the catalogue. */
export interface TextEdit {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /**
   * Returns the file's new text; `current` is null where the file does not exist. Pure: it is called again when the
   * branch has moved, and returns a text unchanged that has the edit already. What it throws rejects this edit alone.
   */
  apply(current: string | null): string;
  readonly subject: Subject;
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
  /** The new bytes of the changed files, by path. */
  readonly contents: ReadonlyMap<string, Buffer>;
  /** One for each edit, in order: its result once the changes are committed. */
  readonly outcomes: readonly EditOutcome[];
}

export type EditOutcome =
  | { readonly kind: 'written'; readonly subject: Subject }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly error: unknown };

/** Applies edits to files, in order. */
export function planBatch(
  edits: readonly TextEdit[],
  files: ReadonlyMap<string, CurrentFile>,
  algorithm: HashName,
): BatchPlan {
  const texts = new Map([...files].map(([path, { text }]) => [path, text]));
  const outcomes = edits.map((edit): EditOutcome => {
    const refusal = files.get(edit.path)?.refusal;
    if (refusal) return { kind: 'refused', error: refusal };
    const current = texts.get(edit.path) ?? null;
    try {
      const text = edit.apply(current);
      if (text === current) return { kind: 'unchanged' };
      texts.set(edit.path, text);
      return { kind: 'written', subject: edit.subject };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  const changes: FileChange[] = [];
  const contents = new Map<string, Buffer>();
  for (const [path, { file, text: old }] of files) {
    const text = texts.get(path) ?? null;
    if (text === null || text === old) continue;
    const content = Buffer.from(text);
    const after = { mode: file?.mode ?? '100644', id: computeBlobId(content, algorithm) };
    changes.push({ path, before: file, after });
    contents.set(path, content);
  }
  return { changes, contents, outcomes };
}
