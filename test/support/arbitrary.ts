import * as fc from 'fast-check';
import type { BotId } from '../../src/bot/id.ts';
import { type BotState, createBotState } from '../../src/counts/state.ts';
import type { TokenDigest } from '../../src/bot/token.ts';

/** Times so close together that ties are common. */
const time = fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_004 });

const count = fc.record({ value: fc.integer({ min: 0, max: 3 }), at: time }, { noNullPrototype: true });

const digest = fc.constantFrom('0', '7', 'f').map((digit) => `sha256:${digit.repeat(64)}` as TokenDigest);

/** Generations so close together that ties are common. */
const generation = fc.integer({ min: 1, max: 3 });

const token = fc.record({ digest: fc.option(digest), at: time, generation }, { noNullPrototype: true });

/** A state of a bot, with a count, a token or the time of an edit. */
export const someBotState: fc.Arbitrary<BotState> = fc
  .tuple(optional(count), optional(token), optional(time))
  .filter((parts) => parts.some((part) => part !== undefined))
  .map(([count, token, edited]) => createBotState(count, token, edited));

function optional<T>(part: fc.Arbitrary<T>): fc.Arbitrary<T | undefined> {
  return fc.option(part, { nil: undefined });
}

/** Ids of any length, many of them in the same shard. */
export const someId: fc.Arbitrary<BotId> = fc
  .oneof(
    fc.constantFrom('7', '07', '1007', '190519304972663312', '990519304972663312', '00000000000000000007'),
    fc.stringMatching(/^[0-9]{1,20}$/),
  )
  .map((text) => text as BotId);

/** A character. Of `unit: 'binary'`, fast-check builds a table of all of them in each process. */
export const anyCharacter: fc.Arbitrary<string> = fc
  .integer({ min: 0, max: 0x10_ff_ff - 0x800 })
  .map((code) => String.fromCodePoint(code < 0xd800 ? code : code + 0x800));
