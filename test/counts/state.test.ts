import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { type BotId, compareBotIds } from '../../src/bot/id.ts';
import { createToken, computeDigest, type TokenDigest } from '../../src/bot/token.ts';
import {
  mergeBotStates,
  toShardNumber,
  State,
  type BotState,
  readShard,
  toShardPath,
  type ShardFault,
  writeShard,
  mergeDays,
  parseDay,
  parseDayPath,
  toDay,
  toDayPath,
  writeDay,
} from '../../src/counts/state.ts';
import { maxLeadMs, toClockTime, countTimeAfter, eraMs, isAhead, maxTime } from '../../src/bot/clock.ts';
import { TimeSlice } from '../../src/lib/time-slice.ts';
import { someBotState, someId } from '../support/arbitrary.ts';
import { readCases } from '../support/fixture-lines.ts';
import { botId } from '../support/sample.ts';

const homer = botId('190519304972663312');
const marge = botId('190519304972663313');

describe('the state', () => {
  it('holds what a merge of everything it was given would', () => {
    fc.assert(
      fc.property(fc.array(someBotState, { minLength: 1 }), (all) => {
        const state = new State();
        for (const botState of all) state.merge(homer, botState);
        deepStrictEqual(
          state.get(homer),
          all.reduce((merged, botState) => mergeBotStates(merged, botState)),
        );
      }),
    );
  });

  it('grows its version when a count changes, and only then', () => {
    const state = new State();
    ok(state.merge(homer, { count: { value: 5, at: 1 } }));
    const { version } = state;
    ok(state.merge(homer, { count: { value: 5, at: 2 } }));
    ok(!state.merge(homer, { count: { value: 9, at: 1 } }));
    ok(state.merge(homer, { token: { digest: null, at: 1, generation: 1 } }));
    strictEqual(state.version, version);
    ok(state.merge(homer, { count: { value: 6, at: 3 } }));
    ok(state.version > version);
    ok(!state.merge(homer, structuredClone(state.get(homer))));
    deepStrictEqual(state.listBots(toShardNumber(homer)), [homer]);
    deepStrictEqual(state.listBots(toShardNumber(marge)), []);
    deepStrictEqual([state.bots.has(homer), state.bots.has(marge)], [true, false]);
  });

  it('finds the bot that a token belongs to, until it has another or none', () => {
    const state = new State();
    const [first, second] = [computeDigest(createToken()), computeDigest(createToken())];
    state.merge(homer, { token: { digest: first, at: 1, generation: 1 } });
    state.merge(marge, { token: { digest: second, at: 1, generation: 1 } });
    strictEqual(state.holder(first), homer);
    strictEqual(state.holder(second), marge);
    state.merge(homer, { token: { digest: null, at: 2, generation: 2 } });
    strictEqual(state.holder(first), undefined);
    state.merge(homer, { token: { digest: first, at: 1, generation: 1 } });
    strictEqual(state.holder(first), undefined);
    const both = { token: { digest: first, at: 3, generation: 3 } };
    for (const id of [homer, marge]) state.merge(id, both);
    state.merge(homer, { token: { digest: null, at: 4, generation: 4 } });
    strictEqual(state.holder(first), marge);
    strictEqual(state.hasToken(marge), true);
    strictEqual(state.hasToken(homer), false);
    strictEqual(state.hasToken(botId('7')), false);
  });
});

const first = `sha256:${'f'.repeat(64)}` as TokenDigest;
const second = `sha256:${'0'.repeat(64)}` as TokenDigest;

/** Reads `none at 9, generation 2` of a case. */
function toBotState(text: string): BotState {
  const [digest = '', , at, , generation] = text.split(/,? /);
  const digests: Readonly<Record<string, TokenDigest>> = { first, second };
  return { token: { digest: digests[digest] ?? null, at: Number(at), generation: Number(generation) } };
}

describe('merging what two replicas know of a bot', () => {
  it('does not depend on who merges whom, in which order several meet, or how often', () => {
    fc.assert(
      fc.property(someBotState, someBotState, someBotState, (a, b, c) => {
        const merged = mergeBotStates(a, b);
        deepStrictEqual(mergeBotStates(b, a), merged);
        deepStrictEqual(mergeBotStates(merged, c), mergeBotStates(a, mergeBotStates(b, c)));
        deepStrictEqual(mergeBotStates(merged, b), merged);
        deepStrictEqual(mergeBotStates(a, a), a);
      }),
    );
  });

  for (const { title, input, expected } of readCases('merged-tokens'))
    it(title, () => {
      const [ours = {}, theirs = {}] = input.split(' and ').map(toBotState);
      for (const merged of [mergeBotStates(ours, theirs), mergeBotStates(theirs, ours)])
        deepStrictEqual(merged, toBotState(expected[0] ?? ''));
    });
});

describe('the time of a count', () => {
  const now = 1_800_000_000_000;

  it('is that of the clock, and later than that of the count it replaces', () => {
    const time = fc.integer({ min: 0, max: maxTime - 1 });
    fc.assert(
      fc.property(time, (previous) => {
        const at = countTimeAfter(previous, now);
        ok(at > previous && at <= maxTime);
        if (at < maxTime - eraMs) ok(!isAhead(at, now));
      }),
    );
    strictEqual(countTimeAfter(undefined, now), now);
    strictEqual(countTimeAfter(now, now), now + 1);
    strictEqual(countTimeAfter(maxTime, 0), maxTime);
    strictEqual(countTimeAfter(now + maxLeadMs, now), now + maxLeadMs + 1);
    strictEqual(toClockTime(countTimeAfter(now + maxLeadMs + 1, now)), now);
    const lastEra = maxTime - eraMs;
    strictEqual(countTimeAfter(lastEra + now + maxLeadMs + 1, now), lastEra + now + maxLeadMs + 2);
    strictEqual(countTimeAfter(lastEra + maxLeadMs + 1, 0), maxTime);
  });

  it('makes a count win on every machine over those that its machine knew, whatever the clocks say', () => {
    const machine = fc.nat(2);
    const step = fc.oneof(
      fc.record({ post: machine, wait: fc.nat(2 * maxLeadMs) }),
      fc.record({ from: machine, to: machine }),
    );
    const lead = fc.integer({ min: -3 * 86_400_000, max: 3 * 86_400_000 });
    fc.assert(
      fc.property(fc.tuple(lead, lead, lead), fc.array(step), machine, (leads, steps, last) => {
        const machines: BotState[] = [{}, {}, {}];
        let clock = now;
        const post = (on: number): void => {
          const at = countTimeAfter(machines[on]?.count?.at, clock + (leads[on] ?? 0));
          machines[on] = mergeBotStates(machines[on] ?? {}, { count: { value: clock, at } });
        };
        const merge = (from: number, to: number): void =>
          void (machines[to] = mergeBotStates(machines[to] ?? {}, machines[from] ?? {}));
        for (const step of steps) {
          if ('from' in step) merge(step.from, step.to);
          else post(step.post);
          clock += 'wait' in step ? step.wait + 1 : 0;
        }
        for (const from of [0, 1, 2]) merge(from, last);
        post(last);
        for (const to of [0, 1, 2]) {
          merge(last, to);
          strictEqual(machines[to]?.count?.value, clock);
        }
      }),
    );
  });
});

const digest = `sha256:${'9f'.repeat(32)}` as TokenDigest;

describe('a shard of the state ref', () => {
  it('is named after the last four digits of the ids in it', () => {
    const paths = ['190519304972663312', '7', '10007'].map((id) => toShardPath(toShardNumber(botId(id))));
    deepStrictEqual(paths, ['33/12.json', '00/07.json', '00/07.json']);
  });

  it('is an object with one line a bot, in numeric order', () => {
    const token = { digest, at: 1_690_000_000_000, generation: 3 };
    const state = stateOf([
      ['990519304972663312', { token: { ...token, digest: null }, edited: 7 }],
      ['3312', { count: { value: 0, at: 1 } }],
      ['190519304972663312', { count: { value: 156, at: 1_700_000_000_000 }, token }],
    ]);
    const text = textOf(state, 3312);
    deepStrictEqual(text.split('\n'), [
      '{',
      '"3312":{"count":0,"countedAt":1},',
      `"190519304972663312":{"count":156,"countedAt":1700000000000,"token":"${digest}","tokenAt":1690000000000,"tokenGen":3},`,
      '"990519304972663312":{"token":null,"tokenAt":1690000000000,"tokenGen":3,"edited":7}',
      '}',
      '',
    ]);
    strictEqual(Object.keys(JSON.parse(text) as object).length, 3);
  });

  it('reads as what was written', async () => {
    const bots = fc.uniqueArray(fc.tuple(someId, someBotState), { selector: ([id]) => id });
    await fc.assert(
      fc.asyncProperty(bots, async (bots) => {
        const state = stateOf(bots);
        const seen = new Map<BotId, BotState>();
        for (const number of new Set(bots.map(([id]) => toShardNumber(id)))) {
          const text = textOf(state, number);
          deepStrictEqual(await read(toShardPath(number), text, seen), []);
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

  it('reads numbers of as many digits as can be written, such as a time of 16, and refuses one that no date has', async () => {
    const seen = new Map<BotId, BotState>();
    const botState: BotState = {
      count: { value: 12_345_678_901, at: 999_999_999_999_999 + 1 },
      token: { digest, at: maxTime, generation: 123 },
    };
    const text = textOf(stateOf([['3312', botState]]), 3312);
    deepStrictEqual(await read('33/12.json', text, seen), []);
    deepStrictEqual(seen.get(botId('3312')), botState);
    const [fault] = await read('33/12.json', text.replace(String(maxTime), '9999999999999999'), seen);
    strictEqual(fault?.message, '9999999999999999 is not a time: the last one is 8640000000000000');
  });

  it('names a bad line and keeps the others, and nothing of a text that is none', async () => {
    const seen = new Map<BotId, BotState>();
    const lines = readCases('shard-lines');
    const places = (what: string): number[] =>
      lines.flatMap(({ expected }, i) => (expected[0] === what ? [i] : []));
    const faults = await read('33/12.json', lines.map(({ input }) => input).join('\n'), seen);
    const kept = places('kept').map((i) => /\d+/.exec(lines[i]?.input ?? '')?.[0]);
    const skipped = faults.map(({ line }) => line - 1);
    deepStrictEqual([[...seen.keys()], skipped], [kept, places('skipped')]);
    strictEqual(faults[4]?.message, '43313 does not belong here: move the line to 33/13.json');
    for (const text of ['\0\0\0', '[]']) strictEqual((await read('33/12.json', text, seen)).length, 1);
    strictEqual(seen.size, 5);
  });
});

function stateOf(bots: readonly (readonly [string, BotState])[]): State {
  const state = new State();
  for (const [id, botState] of bots) state.merge(botId(id), botState);
  return state;
}

function textOf(state: State, shard: number): string {
  return writeShard(state.listBots(shard), (id) => state.get(id));
}

async function read(path: string, text: string, into: Map<BotId, BotState>): Promise<readonly ShardFault[]> {
  const faults: ShardFault[] = [];
  const take = (id: BotId, botState: BotState): void => void into.set(id, botState);
  await readShard(path, Buffer.from(text), new TimeSlice(), take, (fault) => faults.push(fault));
  return faults;
}

describe('the file of a day', () => {
  it('is named by the day, in UTC', () => {
    const day = toDay(Date.UTC(2026, 10, 22, 23, 59, 59));
    strictEqual(toDayPath(day), 'days/2026/11-22');
    strictEqual(parseDayPath('days/2026/11-22'), day);
    strictEqual(toDay(eraMs + Date.UTC(2026, 10, 22)), day, 'of the next era');
    for (const path of ['days/2026/13-01', 'days/2026/02-31', 'days/2026/11-22.orig', '2026/11-22', 'README'])
      strictEqual(parseDayPath(path), undefined);
  });

  it('has a line for each bot in the order of the ids, with the time if it is known; invalid lines are skipped', async () => {
    const text = await writeDay([
      [botId('190519304972663312'), 5, 1790000000000],
      [botId('7'), 0],
    ]);
    strictEqual(text, '7 0\n190519304972663312 5 1790000000000\n');
    const invalid = '8 -1\n9\n10 1 x\n11 1 9000000000000000\n12 1 1 1\n';
    deepStrictEqual([...parseDay(Buffer.from(`<<<<<<< ours\n${text}${invalid}`))].flat(), [
      ['7', 0],
      ['190519304972663312', 5, 1790000000000],
    ]);
  });

  for (const { input, expected } of readCases('merged-days'))
    it(`merges ${input} to ${expected.join(' | ') || 'what it was'}`, async () => {
      const [known, other] = input.split(' and ').map((text) => Buffer.from(`${text}\n`));
      const merged = await mergeDays(known ?? Buffer.of(), other ?? Buffer.of());
      strictEqual(merged, expected.length === 0 ? undefined : `${expected.join('\n')}\n`);
    });

  it('merges in any order, any number of times, to the last counts of all bots', async () => {
    const line = fc.record({ count: fc.nat(9), at: fc.nat(4) });
    const file = fc.dictionary(fc.constantFrom('7', '8', '12'), line);
    await fc.assert(
      fc.asyncProperty(file, file, file, async (...files) => {
        const [a = '', b = '', c = ''] = await Promise.all(
          files.map(
            async (lines) =>
              await writeDay(Object.entries(lines).map(([id, { count, at }]) => [botId(id), count, at])),
          ),
        );
        const merge = async (known: string, ...others: string[]): Promise<string> =>
          (await mergeDays(Buffer.from(known), ...others.map((text) => Buffer.from(text)))) ?? known;
        const merged = await merge(await merge(a, b), c);
        strictEqual(await merge(a, await merge(c, b)), merged);
        strictEqual(await merge(b, c, a), merged);
        strictEqual(await merge(merged, b, merged), merged);
        const last = files
          .flatMap((lines) => Object.entries(lines))
          .toSorted(([, x], [, y]) => x.at - y.at || x.count - y.count);
        deepStrictEqual(
          Object.fromEntries([...parseDay(Buffer.from(merged))].flat().map(([id, count]) => [id, count])),
          Object.fromEntries(last.map(([id, { count }]) => [id, count])),
        );
      }),
      { numRuns: 100 },
    );
  });
});
