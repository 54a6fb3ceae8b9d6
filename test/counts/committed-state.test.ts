import { deepStrictEqual, ok, rejects, strictEqual } from 'node:assert/strict';
import { join } from 'node:path';
import type { BotId } from '../../src/bot/id.ts';
import { CommittedState } from '../../src/counts/state-ref.ts';
import { type BotState } from '../../src/counts/state.ts';
import { createRefConflictError, stateRef } from '../../src/git/refs.ts';
import { silentLog } from '../../src/lib/log.ts';
import { FileRef } from '../support/file-ref.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

describe('the state and its ref', () => {
  it('lose nothing when ten commit to it at the same time', async () => {
    const path = join(tempFolder(), 'ref');
    const bots = Array.from({ length: 10 }, (_, i) => botId(`1903312${i}`));
    const all = bots.map(() => new CommittedState(new FileRef(path), silentLog));
    await Promise.all(
      all.map(async (committed, i) => {
        for (let value = 1; value <= 3; value++) {
          await committed.commit(() => one(bots[i], value), 'Count 1 bot');
        }
      }),
    );
    const last = new CommittedState(new FileRef(path), silentLog);
    await last.follow();
    deepStrictEqual(
      bots.map((id) => last.state.get(id).edited),
      bots.map(() => 3),
    );
    strictEqual(new FileRef(path).history().length, 30);
  });

  it('have all of thousands of bots that change at once, with time for others between them @slow', async () => {
    const path = join(tempFolder(), 'ref');
    const ids = Array.from({ length: 20_000 }, (_, n) => botId(String(100_000 + n)));
    const [here, there] = [newCommitted(path), newCommitted(path)];
    const change = new Map(ids.map((id) => [id, { edited: 1 }]));
    await here.commit(() => change, 'Edit 20000 bots');
    await there.follow();
    for (const { state } of [here, there]) ok(ids.every((id) => state.get(id).edited === 1));
    strictEqual(here.follow(), undefined, 'all is read');
    await here.commit(() => one(ids[0], 2), 'Count 1 bot');
    strictEqual(
      new FileRef(path).history().at(-1)?.files['00/00.json'],
      '{\n"100000":{"edited":2},\n"110000":{"edited":1}\n}\n',
    );
  });

  it('ask again what to commit once the tip has moved', async () => {
    const path = join(tempFolder(), 'ref');
    const id = botId('7');
    const [here, there] = [newCommitted(path), newCommitted(path)];
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
    const path = join(tempFolder(), 'ref');
    const ref = new FileRef(path);
    const racing = new CommittedState(
      Object.assign(new FileRef(path), {
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

function newCommitted(path: string): CommittedState {
  return new CommittedState(new FileRef(path), silentLog);
}

function one(id: BotId | undefined, value: number): Map<BotId, BotState> {
  return new Map(id === undefined ? [] : [[id, { edited: value }]]);
}
