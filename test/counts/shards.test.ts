import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { maxTime } from '../../src/bot/clock.ts';
import { type BotId, compareBotIds } from '../../src/bot/id.ts';
import type { TokenDigest } from '../../src/bot/token.ts';
import {
  type BotState,
  readShard,
  toShardNumber,
  toShardPath,
  type ShardFault,
  writeShard,
  State,
} from '../../src/counts/state.ts';
import { someBotState, someId } from '../support/arbitrary.ts';
import { botId } from '../support/sample.ts';

const digest = `sha256:${'9f'.repeat(32)}` as TokenDigest;

describe('a shard of the state ref', () => {
  it('is named after the last four digits of the ids in it', () => {
    strictEqual(pathOf('190519304972663312'), '33/12.json');
    strictEqual(pathOf('7'), '00/07.json');
    strictEqual(pathOf('10007'), '00/07.json');
  });

  it('is an object with one line a bot, in numeric order', () => {
    const state = stateOf([
      ['990519304972663312', { token: { digest: null, at: 1_690_000_000_000, generation: 2 }, edited: 7 }],
      ['3312', { count: { value: 0, at: 1 } }],
      [
        '190519304972663312',
        {
          count: { value: 156, at: 1_700_000_000_000 },
          token: { digest, at: 1_690_000_000_000, generation: 3 },
        },
      ],
    ]);
    const text = textOf(state, 3312);
    strictEqual(
      text,
      [
        '{',
        '"3312":{"count":0,"countedAt":1},',
        `"190519304972663312":{"count":156,"countedAt":1700000000000,"token":"${digest}","tokenAt":1690000000000,"tokenGen":3},`,
        '"990519304972663312":{"token":null,"tokenAt":1690000000000,"tokenGen":2,"edited":7}',
        '}',
        '',
      ].join('\n'),
    );
    strictEqual(Object.keys(JSON.parse(text) as object).length, 3);
  });

  it('reads as what was written', () => {
    const bots = fc.uniqueArray(fc.tuple(someId, someBotState), { selector: ([id]) => id });
    fc.assert(
      fc.property(bots, (bots) => {
        const state = stateOf(bots);
        const seen = new Map<BotId, BotState>();
        for (const number of new Set(bots.map(([id]) => toShardNumber(id)))) {
          const text = textOf(state, number);
          deepStrictEqual(read(toShardPath(number), text, seen), []);
          deepStrictEqual(
            Object.keys(JSON.parse(text) as object).toSorted(),
            state.listBots(number).toSorted(),
          );
        }
        deepStrictEqual(
          [...seen].toSorted(([a], [b]) => compareBotIds(a, b)),
          bots.toSorted(([a], [b]) => compareBotIds(a, b)),
        );
      }),
    );
  });

  it('reads numbers of as many digits as can be written, such as a time of 16, and refuses one that no date has', () => {
    const seen = new Map<BotId, BotState>();
    const botState: BotState = {
      count: { value: 12_345_678_901, at: 999_999_999_999_999 + 1 },
      token: { digest, at: maxTime, generation: 123 },
    };
    const text = textOf(stateOf([['3312', botState]]), 3312);
    deepStrictEqual(read('33/12.json', text, seen), []);
    deepStrictEqual(seen.get(botId('3312')), botState);
    const [fault] = read('33/12.json', text.replace(String(maxTime), '9999999999999999'), seen);
    strictEqual(fault?.message, '9999999999999999 is not a time: the last one is 8640000000000000');
  });

  it('names a bad line and keeps the others', () => {
    const seen = new Map<BotId, BotState>();
    const faults = read(
      '33/12.json',
      [
        '{',
        '"3312":{"count":0,"countedAt":1},',
        '<<<<<<< ours',
        '"13312":{"count":-5,"countedAt":1},',
        '"23312":{"count":5},',
        '"33312":{"count":5,"countedAt":1,"colour":"red"},',
        '"43313":{"count":5,"countedAt":1},',
        '"53312":{"count":5,"countedAt":1}',
        '"63312":{"token":"sha256:12","tokenAt":1,"tokenGen":1}',
        '"73312":{"count":7,"countedAt":1},',
        '"93312":{"token":null,"tokenAt":1}',
        '}',
        '"83312": {"count":7,"countedAt":1},',
        ' "93312":{"count":7,"countedAt":1},',
        '"93312":{"count":7,"countedAt":1},"',
        '"93312":{"count":7,"countedAt":1}',
      ].join('\n'),
      seen,
    );
    deepStrictEqual([...seen.keys()], ['3312', '53312', '73312', '83312', '93312']);
    deepStrictEqual(
      faults.map(({ line }) => line),
      [3, 4, 5, 6, 7, 9, 11, 12, 14, 15],
    );
    strictEqual(faults[4]?.message, '43313 does not belong here: move the line to 33/13.json');
  });

  it('keeps nothing of a text that is none, and says so', () => {
    const seen = new Map<BotId, BotState>();
    strictEqual(read('33/12.json', '\u0000\u0000\u0000', seen).length, 1);
    strictEqual(read('33/12.json', '[]', seen).length, 1);
    strictEqual(seen.size, 0);
  });
});

function pathOf(id: string): string {
  return toShardPath(toShardNumber(botId(id)));
}

function stateOf(bots: readonly (readonly [string, BotState])[]): State {
  const state = new State();
  for (const [id, botState] of bots) state.merge(botId(id), botState);
  return state;
}

function textOf(state: State, shard: number): string {
  return writeShard(state.listBots(shard), (id) => state.get(id));
}

function read(path: string, text: string, into: Map<BotId, BotState>): readonly ShardFault[] {
  return readShard(path, text, (id, botState) => into.set(id, botState));
}
