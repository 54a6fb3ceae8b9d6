import { type FileHandle, readFile } from 'node:fs/promises';
import { crc32 } from 'node:zlib';
import { parseBotId } from '../bot/id.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { writeAtomically } from '../lib/atomic-write.ts';
import type { Moment } from './spans.ts';
import type { Series } from './count-series.ts';
import type { IncrementalSeries } from './followed-series.ts';
import { VarintReader, VarintWriter } from './varint.ts';

/**
 * Writes series to `path`, replacing the file there at once or not at all. It is a cache: nothing is fsynced, the file
 * ends in a checksum instead.
 * @throws a system error
 */
export async function writeSeries(path: string, all: readonly IncrementalSeries[]): Promise<void> {
  const write = async (file: FileHandle): Promise<void> => {
    let sum = 0;
    for await (const piece of generatePieces(all)) {
      sum = crc32(piece, sum);
      await file.write(piece);
    }
    const end = Buffer.alloc(4);
    end.writeUInt32LE(sum);
    await file.write(end);
  };
  await writeAtomically(path, write, { fsync: 'none' });
}

/** Reads the file at `path` into empty series. Returns whether it could: else they stay empty. */
export async function readSeries(path: string, all: readonly IncrementalSeries[]): Promise<boolean> {
  const bytes = await readFile(path).catch(() => undefined);
  if (bytes === undefined || bytes.length < magic.length + 4) return false;
  const content = bytes.subarray(0, -4);
  if (!content.subarray(0, magic.length).equals(magic)) return false;
  if (crc32(content) !== bytes.readUInt32LE(content.length)) return false;
  const reader = new VarintReader(content);
  reader.position = magic.length;
  const slice = new TimeSlice();
  for (const series of all) {
    const read: Moment[] = [];
    for (let left = reader.read(); left > 0; left--)
      read.push({ period: reader.read(), tree: readLengthPrefixedText(content, reader) });
    series.restore(read);
    for (let left = reader.read(); left > 0; left--) {
      if (slice.isOver) await slice.next();
      const id = parseBotId(readLengthPrefixedText(content, reader));
      const [period, count] = [reader.read(), reader.read()];
      const ofBot = readLengthPrefixed(content, reader);
      if (id !== undefined) series.counts.restore(id, { bytes: ofBot, length: ofBot.length, period, count });
    }
  }
  return true;
}

/** Names the format. */
const magic = Buffer.from('botshelf counts 1\n');

/** Pieces of a good size for a file. */
async function* generatePieces(all: readonly IncrementalSeries[]): AsyncGenerator<Uint8Array> {
  const slice = new TimeSlice();
  yield magic;
  for (const { read, counts } of all) {
    const head = new VarintWriter(new Uint8Array(1024));
    head.write(read.length);
    for (const { period, tree } of read) {
      head.write(period);
      writeBytes(head, Buffer.from(tree));
    }
    head.write(counts.size);
    let piece = head;
    for (const [id, series] of counts.inOrder()) {
      if (slice.isOver) await slice.next();
      writeOne(piece, id, series);
      if (piece.length < pieceSize) continue;
      yield piece.bytes.subarray(0, piece.length);
      piece = new VarintWriter(new Uint8Array(pieceSize + 4096));
    }
    yield piece.bytes.subarray(0, piece.length);
  }
}

const pieceSize = 256 * 1024;

function writeOne(writer: VarintWriter, id: string, { bytes, length, period, count }: Series): void {
  writeBytes(writer, Buffer.from(id));
  writer.write(period);
  writer.write(count);
  writeBytes(writer, bytes.subarray(0, length));
}

function writeBytes(writer: VarintWriter, bytes: Uint8Array): void {
  writer.write(bytes.length);
  writer.append(bytes);
}

function readLengthPrefixed(content: Buffer, reader: VarintReader): Buffer {
  const length = reader.read();
  reader.position += length;
  return content.subarray(reader.position - length, reader.position);
}

function readLengthPrefixedText(content: Buffer, reader: VarintReader): string {
  return readLengthPrefixed(content, reader).toString();
}
