import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import type { BotId } from '../../src/bot/id.ts';
import { CommittedState } from '../../src/counts/state-ref.ts';
import { type BotState } from '../../src/counts/state.ts';
import { createRefConflictError, stateRef } from '../../src/git/refs.ts';
import { silentLog } from '../../src/lib/log.ts';
import { MemoryRef } from '../support/place.ts';
import { botId } from '../support/sample.ts';

describe('the state and its ref', () => {
  it('lose nothing when ten commit to it at the same time', async () => {
    const ref = new MemoryRef();
    const bots = Array.from({ length: 10 }, (_, i) => botId(`1903312${i}`));
    const all = bots.map(() => newCommitted(ref));
    await Promise.all(
      all.map(async (committed, i) => {
        for (let value = 1; value <= 3; value++) {
          await committed.commit(() => one(bots[i], value), 'Count 1 bot');
        }
      }),
    );
    const last = newCommitted(ref);
    await last.follow();
    deepStrictEqual(
      bots.map((id) => last.state.get(id).edited),
      bots.map(() => 3),
    );
    strictEqual(ref.history.length, 30);
  });

  it('have all of thousands of bots that change at once, with time for others between them @slow', async () => {
    const ref = new MemoryRef();
    const ids = Array.from({ length: 20_000 }, (_, n) => botId(String(100_000 + n)));
    const [here, there] = [newCommitted(ref), newCommitted(ref)];
    const change = new Map(ids.map((id) => [id, { edited: 1 }]));
    await here.commit(() => change, 'Edit 20000 bots');
    await there.follow();
    for (const { state } of [here, there]) ok(ids.every((id) => state.get(id).edited === 1));
    strictEqual(here.follow(), undefined, 'all is read');
    await here.commit(() => one(ids[0], 2), 'Count 1 bot');
    strictEqual(
      ref.history.at(-1)?.files['00/00.json'],
      '{\n"100000":{"edited":2},\n"110000":{"edited":1}\n}\n',
    );
  });

  it('ask again what to commit once the tip has moved', async () => {
    const ref = new MemoryRef();
    const id = botId('7');
    const [here, there] = [newCommitted(ref), newCommitted(ref)];
    await here.follow();
    await there.commit(() => one(id, 1), 'Count 1 bot');
    const seen: unknown[] = [];
    await here.commit(() => {
      seen.push(here.state.get(id).edited);
      return one(id, 2);
    }, 'Count 1 bot');
    deepStrictEqual(seen.at(-1), 1);
    strictEqual(here.state.get(id).edited, 2);
  });

  it('give up on a tip that never stands still', async () => {
    const ref = new MemoryRef();
    const racing = new CommittedState(
      Object.assign(new MemoryRef(ref.history), {
        commit: async () => {
          const { commit } = await ref.read();
          await ref.commit(commit, new Map([['00/00.json', String(Math.random())]]), 'Count 1 bot');
          throw createRefConflictError(stateRef);
        },
      }),
      silentLog,
    );
    await rejects(
      racing.commit(() => one(botId('7'), 1), 'Count 1 bot'),
      { code: 'ref-conflict' },
    );
  });
});

/** Opens the state in another process. */
function newCommitted({ history }: MemoryRef): CommittedState {
  return new CommittedState(new MemoryRef(history), silentLog);
}

function one(id: BotId | undefined, value: number): Map<BotId, BotState> {
  return new Map(id === undefined ? [] : [[id, { edited: value }]]);
}
