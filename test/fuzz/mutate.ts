/** Returns a number from 0 to `below`, which it is never. */
export type Dice = (below: number) => number;

/** Changes an input in one to five places. @param pieces what may be put in, the most usual first */
export function mutate(input: Buffer, pieces: readonly Buffer[], dice: Dice, maxLength: number): Buffer {
  let bytes = input;
  for (let left = dice(5); left >= 0; left--) {
    const at = dice(bytes.length + 1);
    const end = Math.min(bytes.length, at + (dice(4) === 0 ? dice(bytes.length + 1) : dice(8)));
    const put = (...parts: readonly Buffer[]): Buffer =>
      Buffer.concat([bytes.subarray(0, at), ...parts, bytes.subarray(end)]);
    bytes = changes[dice(changes.length)]?.({ taken: bytes.subarray(at, end), put, pieces, dice }) ?? bytes;
  }
  return bytes.subarray(0, maxLength);
}

interface Place {
  /** The bytes that `put` replaces. */
  readonly taken: Buffer;
  readonly put: (...parts: readonly Buffer[]) => Buffer;
  readonly pieces: readonly Buffer[];
  readonly dice: Dice;
}

const changes: readonly ((place: Place) => Buffer)[] = [
  ({ put }) => put(),
  ({ put, taken, dice }) => put(taken, Buffer.from([dice(256)])),
  ({ put, taken, dice }) => put(taken.map((byte) => byte ^ (1 << dice(8))) as Buffer),
  ({ put, taken, dice }) => put(...Array.from({ length: 2 + dice(dice(9) === 0 ? 300 : 4) }, () => taken)),
  ({ put, taken, dice }) => put(taken, taken.toReversed() as Buffer, Buffer.alloc(dice(20), dice(128))),
  ({ put, dice }) => put(pick(numbers, dice)),
  ({ put, pieces, dice }) => put(pick(pieces, dice)),
  ({ put, taken, pieces, dice }) => put(taken, pick(pieces, dice)),
  ({ put, taken, pieces, dice }) => put(pick(pieces, dice), taken, pick(pieces, dice)),
  ({ put, taken, pieces, dice }) => {
    const piece = pick(pieces, dice);
    const start = dice(piece.length + 1);
    return put(taken, piece.subarray(start, start + dice(piece.length + 1 - start)));
  },
];

/** Picks a piece, more often one of the first. */
function pick(pieces: readonly Buffer[], dice: Dice): Buffer {
  return pieces[dice(1 + dice(pieces.length))] ?? Buffer.alloc(0);
}

const numbers =
  '0 -1 1 -0 1e999 0.1 255 256 65536 2147483648 4294967296 9007199254740993 190519304972663312 99999999999999999999 \0 \x7f é \u2028 \u202e \ud83d\ude00 \ufeff'
    .split(' ')
    .map((text) => Buffer.from(text));
