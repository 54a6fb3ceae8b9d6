import { TimeSlice } from './time-slice.ts';

/** Bytes that are produced piece by piece, any number of times. */
export interface Pieces {
  /** How many bytes there are altogether, about. */
  readonly bytes: number;
  read(): AsyncIterable<Buffer>;
}

/** Bytes of a piece: a good size for a socket. */
export const pieceSize = 64 * 1024;

/** Joins parts to pieces, one slice of time after the other. */
export async function* joinToPieces(
  parts: Iterable<Buffer> | AsyncIterable<Buffer>,
  slice = new TimeSlice(),
): AsyncGenerator<Buffer> {
  let piece: Buffer[] = [];
  let size = 0;
  for await (const part of parts) {
    if (slice.isOver) await slice.next();
    piece.push(part);
    size += part.length;
    if (size < pieceSize) continue;
    yield Buffer.concat(piece);
    [piece, size] = [[], 0];
  }
  yield Buffer.concat(piece);
}
