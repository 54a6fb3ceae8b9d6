/** Bytes that are produced piece by piece, any number of times. */
export interface Pieces {
  /** How many bytes there are altogether, about. */
  readonly bytes: number;
  read(): AsyncIterable<Buffer>;
}
