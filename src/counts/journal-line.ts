import { crc32 } from 'node:zlib';
import type { BotId } from '../bot/id.ts';
import { maxTime } from './bot-state.ts';

/** A count as the journal has it. */
export interface JournalEntry {
  readonly id: BotId;
  readonly count: number;
  /** Milliseconds since the epoch. */
  readonly countedAt: number;
}

/** Returns an entry as a line of JSON with a newline. `crc` is the CRC32 of what precedes it. */
export function formatJournalLine({ id, count, countedAt }: JournalEntry): string {
  const body = `{"id":"${id}","count":${count},"countedAt":${countedAt}`;
  return `${body},"crc":${crc32(body)}}\n`;
}

/** Parses a line without its newline. Returns undefined when the line is damaged. */
export function parseJournalLine(line: string): JournalEntry | undefined {
  const [, body = '', id, count, countedAt, crc] = pattern.exec(line) ?? [];
  if (crc === undefined || crc32(body) !== Number(crc) || Number(countedAt) > maxTime) return undefined;
  return { id: id as BotId, count: Number(count), countedAt: Number(countedAt) };
}

const pattern = /^(\{"id":"(\d{1,20})","count":(\d{1,11}),"countedAt":(\d{1,16})),"crc":(\d{1,10})\}$/;
