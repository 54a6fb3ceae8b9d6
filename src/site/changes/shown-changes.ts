import { type BotChange, type ChangesPage, readBotChanges } from '../../catalogue/changes/bot-changes.ts';
import type { FieldChange, PageChange } from '../../catalogue/changes/compare.ts';
import { TimeSlice } from '../../lib/time-slice.ts';
import { formatValue } from '../add/fields.ts';
import { diffWords, type Words } from '../add/file-diff.tsx';
import { withoutBidiControls } from '../page/bidi.ts';

/** A value that differs, as text. Empty where there is none; both are where the value is not shown. */
export interface ShownField extends Record<'before' | 'after', string>, Pick<FieldChange, 'name'> {
  /** The words that differ: null where too many do, undefined until they are compared. */
  words?: readonly Words[] | null;
}

/** What changes in a page of a bot, as texts. */
export interface ShownPageChange extends Omit<PageChange, 'fields'> {
  readonly fields: readonly ShownField[];
}

/** Changes, newest first, with their values as texts, and the commit after which the next ones begin. */
export interface ShownChanges extends Omit<ChangesPage, 'changes'> {
  readonly changes: readonly (Omit<BotChange, 'pages'> & { readonly pages: readonly ShownPageChange[] })[];
}

/** Reads changes as `readBotChanges` does, with the words that differ. */
export async function readShownChanges(...options: Parameters<typeof readBotChanges>): Promise<ShownChanges> {
  const page = await readBotChanges(...options);
  const changes = page.changes.map((change) => ({ ...change, pages: toShownPages(change.pages) }));
  await compareWords(changes.flatMap(({ pages }) => pages));
  return { ...page, changes };
}

export function toShownPages(pages: readonly PageChange[]): ShownPageChange[] {
  return pages.map(({ fields, ...page }) => ({
    ...page,
    fields: fields.map(({ name, before, after }) => {
      return { name, before: formatAny(before), after: formatAny(after) };
    }),
  }));
}

function formatAny(value: unknown): string {
  if (value === true) return '✓';
  if (value === undefined) return '';
  return withoutBidiControls(formatValue(value) ?? JSON.stringify(value));
}

/** Compares the words of each field, one slice of time after the other, where that was not done. */
export async function compareWords(pages: readonly ShownPageChange[]): Promise<void> {
  const slice = new TimeSlice();
  const end = performance.now() + maxWordsMs;
  for (const field of pages.flatMap(({ fields }) => fields)) {
    if (field.words !== undefined) continue;
    await slice.next();
    field.words = performance.now() < end ? diffWords(field.before, field.after) : null;
  }
}

/** Milliseconds in which the words of a page are compared. */
const maxWordsMs = 500;
