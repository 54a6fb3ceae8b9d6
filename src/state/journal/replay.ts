import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf } from '../../system-error.ts';
import { type JournalEntry, readLine } from './journal-line.ts';
import { TimeSlice } from '../../concurrency/time-slice.ts';

/** Lines of a segment that cannot be read, though something was acknowledged with them. */
export interface JournalDamage {
  readonly path: string;
  /** Their numbers, from 1. */
  readonly lines: readonly number[];
}

/** The name of the segment with this number; the names sort as the numbers do. */
export function segmentName(number: number): string {
  return `${String(number).padStart(12, '0')}.ndjson`;
}

/** The numbers of the segments in a folder, oldest first; none when there is no folder. */
export async function segmentNumbers(folder: string): Promise<number[]> {
  const names = await readdir(folder).catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return [];
    throw error;
  });
  return names
    .filter((name) => /^\d{12}\.ndjson$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .toSorted((a, b) => a - b);
}

/**
 * Hands every entry of a segment to `take`, in the order it was written. Damaged lines are skipped and named,
 * but not the last one where it has no end: that is what a crash leaves, and nobody was answered for it.
 */
export async function replaySegment(
  folder: string,
  number: number,
  take: (entry: JournalEntry) => void,
): Promise<JournalDamage | undefined> {
  const path = join(folder, segmentName(number));
  const bytes = await readFile(path);
  const damaged: number[] = [];
  const slice = new TimeSlice('service');
  let line = 0;
  for (let start = 0, end = bytes.indexOf(newline); end !== -1;) {
    line++;
    const entry = readLine(bytes.toString('latin1', start, end));
    if (entry === undefined) damaged.push(line);
    else take(entry);
    if (slice.isOver) await slice.next();
    start = end + 1;
    end = bytes.indexOf(newline, start);
  }
  return damaged.length > 0 ? { path, lines: damaged } : undefined;
}

const newline = 0x0a;
