import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ignoreMissing } from '../lib/errors.ts';
import { type JournalEntry, parseJournalLine } from './journal-line.ts';
import { TimeSlice } from '../lib/time-slice.ts';

/** Returns the name of a segment. Names sort like numbers. */
export function formatSegmentName(number: number): string {
  return `${String(number).padStart(12, '0')}.ndjson`;
}

/** Returns the numbers of the segments in a folder, oldest first; none where the folder does not exist. */
export async function listSegmentNumbers(folder: string): Promise<number[]> {
  const names = (await ignoreMissing(readdir(folder))) ?? [];
  return names
    .filter((name) => /^\d{12}\.ndjson$/.test(name))
    .map((name) => Number.parseInt(name, 10))
    .toSorted((a, b) => a - b);
}

/**
 * Calls `take` with every entry of a segment, in the order of the file. Damaged lines are skipped, and their numbers,
 * from 1, returned; a last line without a newline is only skipped, as a crash left it and its post was not answered.
 */
export async function replaySegment(
  folder: string,
  number: number,
  take: (entry: JournalEntry) => void,
): Promise<readonly number[]> {
  const bytes = await readFile(join(folder, formatSegmentName(number)));
  const damaged: number[] = [];
  const slice = new TimeSlice('service');
  let line = 0;
  for (let start = 0, end = bytes.indexOf(newline); end !== -1;) {
    line++;
    const entry = parseJournalLine(bytes.toString('latin1', start, end));
    if (entry === undefined) damaged.push(line);
    else take(entry);
    if (slice.isOver) await slice.next();
    start = end + 1;
    end = bytes.indexOf(newline, start);
  }
  return damaged;
}

const newline = 0x0a;
