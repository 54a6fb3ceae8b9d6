import type { WritesUnavailable } from '../bot/errors.ts';
import type { Subject } from './commit-message.ts';
import { blobId, type HashName } from './object-id.ts';

/** A change to one file of the catalogue. */
export interface Change {
  /** Relative to the catalogue's folder. */
  readonly path: string;
  /**
   * The file's text with the change made; null is a file that does not exist. Pure, and leaves a text alone
   * that has the change already. It is called again whenever the text turns out to be another one. What it
   * throws is this change's failure, and no other's.
   */
  apply(current: string | null): string;
  readonly subject: Subject;
}

/** A file as it is at the tip. */
export interface TipFile {
  readonly id: string | null;
  readonly mode: string;
  readonly text: string | null;
  /** The bytes of a regular file, null where they are too many; the target of a symbolic link. */
  readonly content: Buffer | null;
  /** Why no change can be made to it. */
  readonly refusal?: WritesUnavailable;
}

/** A file that a batch replaces. */
export interface FileEdit {
  readonly path: string;
  readonly mode: string;
  /** The blob at the tip that was planned on, null where there was no file. */
  readonly before: string | null;
  readonly after: string;
  readonly content: Buffer;
  /** The batch's changes to this file, one after the other. */
  apply(current: string | null): string;
}

export interface BatchPlan {
  readonly edits: readonly FileEdit[];
  /** One a change, in order: what becomes of it if the edits are committed. */
  readonly outcomes: readonly Outcome[];
}

export type Outcome =
  | { readonly kind: 'written'; readonly text: string; readonly subject: Subject }
  | { readonly kind: 'unchanged'; readonly text: string }
  | { readonly kind: 'refused'; readonly error: unknown };

/** Applies changes to the files at the tip, in order. */
export function planBatch(
  changes: readonly Change[],
  files: ReadonlyMap<string, TipFile>,
  algorithm: HashName,
): BatchPlan {
  const texts = new Map([...files].map(([path, { text }]) => [path, text]));
  const applied = new Map<string, Change[]>();
  const outcomes = changes.map((change): Outcome => {
    const refusal = files.get(change.path)?.refusal;
    if (refusal) return { kind: 'refused', error: refusal };
    const current = texts.get(change.path) ?? null;
    try {
      const text = change.apply(current);
      if (text === current) return { kind: 'unchanged', text };
      texts.set(change.path, text);
      applied.set(change.path, [...(applied.get(change.path) ?? []), change]);
      return { kind: 'written', text, subject: change.subject };
    } catch (error) {
      return { kind: 'refused', error };
    }
  });
  const edits: FileEdit[] = [];
  for (const [path, made] of applied) {
    const text = texts.get(path) ?? '';
    const { id: before = null, mode = '100644', text: old } = files.get(path) ?? {};
    if (text === old) continue;
    const content = Buffer.from(text);
    const apply = (current: string | null): string =>
      made.reduce<string | null>((value, change) => change.apply(value), current) ?? '';
    edits.push({ path, mode, before, after: blobId(content, algorithm), content, apply });
  }
  return { edits, outcomes };
}
