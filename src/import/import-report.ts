import { formatCount } from '../lib/counted.ts';
import type { Refusal } from './map-record.ts';

/** What an import did with the records of a list. Of those that did not fit it keeps a bounded number of lines. */
export class ImportReport {
  readonly #lines: string[] = [];
  readonly #reasons = new Map<string, number>();
  readonly #notes = new Map<string, { count: number; readonly place: string }>();
  readonly counts = { added: 0, replaced: 0, unchanged: 0, refused: 0 };

  /** @param place of the record in its source */
  add(kind: keyof ImportReport['counts'], place: string, refusals: readonly Refusal[] = []): void {
    this.counts[kind]++;
    for (const { rule, message } of refusals) {
      if (this.#lines.length < maxLines) this.#lines.push(`${place} ${rule} ${message}`);
      else if (this.#lines.length === maxLines) this.#lines.push('and more: correct these, and run it again');
      const [, key = ''] = messageKey.exec(message) ?? [];
      const reason = this.#reasons.size < maxReasons ? `${rule} ${key}`.trim() : 'others';
      this.#reasons.set(reason, (this.#reasons.get(reason) ?? 0) + 1);
    }
  }

  /** Counts something that is no record of its own, in the plural, such as blank rows. */
  note(text: string, place: string, count = 1): void {
    const note = this.#notes.get(text) ?? { count: 0, place };
    note.count += count;
    this.#notes.set(text, note);
  }

  /**
   * Returns a line for each reason of each record, and a summary.
   * @param escape makes a text of a stranger safe for a terminal
   */
  print(escape: (text: string) => string): string {
    const { added, replaced, unchanged, refused } = this.counts;
    const records = formatCount(added + replaced + unchanged + refused, 'record');
    const counts = `${added} added, ${replaced} replaced, ${unchanged} there already, ${refused} did not fit`;
    const reasons = [...this.#reasons].toSorted(([, a], [, b]) => b - a);
    const table = reasons.map(([reason, count]) => `${String(count).padStart(8)} ${reason}\n`);
    const notes = [...this.#notes].map(
      ([text, { count, place }]) => `${String(count).padStart(8)} ${text} (first: ${escape(place)})\n`,
    );
    const lines = this.#lines.map((line) => `${escape(line)}\n`);
    return [...lines, `${records}: ${counts}\n`, ...table, ...notes].join('');
  }
}

const maxLines = 10_000;
const maxReasons = 200;

/** The key that a message of the rules begins with. */
const messageKey = /^"?([a-z]{1,20}(?:\.[a-z]{1,20})?)(?:\[\d+\]: |: |" is missing)/;
