import { blobId, type HashName } from '../objects/object-id.ts';
import type { Subject } from './commit-message.ts';
import type { FileChange, GitFile } from '../file-change.ts';

/** A change to one file of the catalogue. */
export interface Change {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /**
   * The file's text with the change made; null is a file that does not exist. Pure, and leaves a text alone
   * that has the change already. Called again when the branch turns out to have moved. What it throws is this
   * change's failure, and no other's.
   */
  apply(current: string | null): string;
  readonly subject: Subject;
}

/** A file that changes are planned on, as it is at the tip, in the index and in the work tree. */
export interface CurrentFile {
  readonly file: GitFile | null;
  readonly text: string | null;
  /** Why no change can be made to it. */
  readonly refusal?: Error;
}

/** A file that a batch replaces. */
export interface FileEdit extends FileChange {
  readonly after: GitFile;
  readonly content: Buffer;
}

export interface BatchPlan {
  readonly edits: readonly FileEdit[];
  /** One a change, in order: what becomes of it if the edits are committed. */
  readonly outcomes: readonly Outcome[];
}

export type Outcome =
  | { readonly kind: 'written'; readonly subject: Subject }
  | { readonly kind: 'unchanged' }
  | { readonly kind: 'refused'; readonly error: unknown };

/** Applies changes to files, in order. */
export function planBatch(
  changes: readonly Change[],
  files: ReadonlyMap<string, CurrentFile>,
  algorithm: HashName,
): BatchPlan {
  const texts = new Map([...files].map(([path, { text }]) => [path, text]));
  const outcomes = changes.map((change): Outcome => {
    const refusal = files.get(change.path)?.refusal;
    if (refusal) return { kind: 'refused', error: refusal };
    const current = texts.get(change.path) ?? null;
    try {
      const text = change.apply(current);
      if (text === current) return { kind: 'unchanged' };
      texts.set(change.path, text);
      return { kind: 'written', subject: change.subject };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  const edits: FileEdit[] = [];
  for (const [path, { file, text: old }] of files) {
    const text = texts.get(path) ?? null;
    if (text === null || text === old) continue;
    const content = Buffer.from(text);
    const after = { mode: file?.mode ?? '100644', id: blobId(content, algorithm) };
    edits.push({ path, before: file, after, content });
  }
  return { edits, outcomes };
}
