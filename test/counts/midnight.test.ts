import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { mkdirSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { mock } from 'node:test';
import * as fc from 'fast-check';
import type { BotId } from '../../src/bot/id.ts';
import { CommittedState, createStateRef } from '../../src/counts/state-ref.ts';
import type { StateStore } from '../../src/counts/state-store.ts';
import { parseDay, toDay, toDayPath } from '../../src/counts/state.ts';
import { writeCommit } from '../../src/git/commit-files.ts';
import { stateRef } from '../../src/git/refs.ts';
import { silentLog } from '../../src/lib/log.ts';
import { fetchState } from '../../src/sync/remote.ts';
import { issueToken } from '../../src/tokens/tokens.ts';
import { openerOf, openUntilEnd } from '../support/opened.ts';
import { newPlace, open } from '../support/place.ts';
import { repositoryIn, type TestRepository, testRepository } from '../support/repository.ts';
import { botId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';

const [homer, marge, bart] = [botId('7'), botId('12'), botId('31')];
const midnight = Date.UTC(2026, 10, 23);
const [path, pathBefore] = [1, 2].map((ago) => toDayPath(toDay(midnight) - ago));

describe('counts around midnight', () => {
  let now = midnight;
  let clock: { mock: { restore: () => void } };
  beforeEach(() => void (clock = mock.method(Date, 'now', () => now++)));
  afterEach(() => clock.mock.restore());

  /** Sets the clock: `-0:30` is half an hour before midnight. */
  const setClock = (text: string): void => {
    const [, sign, hours, minutes, seconds = 0] = /^(-?)(\d+):(\d+)(?::(\d+))?$/.exec(text) ?? [];
    const ms = ((Number(hours) * 60 + Number(minutes)) * 60 + Number(seconds)) * 1000;
    now = midnight + (sign === '-' ? -ms : ms);
  };

  const post = async (
    machine: Machine,
    at: string,
    ...counts: [id: BotId, count: number][]
  ): Promise<void> => {
    setClock(at);
    for (const [id, count] of counts) await machine.store.setCount(id, count);
    await machine.store.checkpoint();
  };

  it('of a machine that was cut off until after it are in the file of the day', async () => {
    const [here, cutOff] = [await newMachine(), await newMachine()];
    await post(cutOff, '-7:00', [homer, 40]);
    await cutOff.copyTo(here);
    await post(cutOff, '-4:00', [homer, 50], [marge, 7]);
    await post(here, '-3:00', [bart, 3]);
    await post(here, '0:01', [bart, 4]);
    deepStrictEqual(here.countsOf(path), { 7: 40, 31: 3 });
    await post(here, '0:05', [homer, 60]);
    setClock('0:10');
    await cutOff.copyTo(here);
    deepStrictEqual(here.countsOf(path), { 7: 50, 12: 7, 31: 3 });
    await here.copyTo(cutOff);
    deepStrictEqual(cutOff.countsOf(path), { 7: 50, 12: 7, 31: 3 });
    deepStrictEqual(
      [homer, marge].map((id) => cutOff.store.count(id)),
      [60, 7],
    );
  });

  it('that went down before it are not replaced by larger, earlier ones', async () => {
    const [here, cutOff] = [await newMachine(), await newMachine()];
    await post(cutOff, '-7:00', [homer, 100], [marge, 8]);
    await cutOff.copyTo(here);
    await post(here, '-2:00', [homer, 90]);
    await post(cutOff, '-1:00', [marge, 6]);
    for (const machine of [here, cutOff]) await post(machine, '0:01', [bart, 1]);
    await cutOff.copyTo(here);
    await here.copyTo(cutOff);
    for (const { countsOf } of [here, cutOff]) deepStrictEqual(countsOf(path), { 7: 90, 12: 6 });
  });

  it('that a command of the same second does not know are in the file that it has written', async () => {
    for (const next of [[], [[homer, 6]] as [BotId, number][]]) {
      const machine = await newMachine();
      await post(machine, '-9:00', [homer, 9], [bart, 3]);
      setClock('-0:00:30');
      await machine.store.setCount(homer, 5);
      await machine.store.setCount(marge, 2);
      setClock('0:00:02');
      const ref = createStateRef(openerOf(machine.repository.folder), silentLog);
      await issueToken(new CommittedState(ref, silentLog), bart, { name: 'user marge', known: 'all' });
      deepStrictEqual(machine.countsOf(path), { 7: 9, 31: 3 });
      await post(machine, '0:00:30', ...next);
      deepStrictEqual(machine.countsOf(path), { 7: 5, 12: 2, 31: 3 });
    }
  });

  it('that were replaced before their checkpoint are in the file of their day, after a crash too', async () => {
    const machine = await newMachine();
    await post(machine, '-24:10', [homer, 1]);
    setClock('-24:05');
    await machine.store.setCount(homer, 2);
    setClock('-0:10');
    for (const count of [9, 3]) await machine.store.setCount(homer, count);
    setClock('0:10');
    await machine.store.setCount(homer, 4);
    const copy = await machine.crashed();
    for (const { store, countsOf } of [machine, copy]) {
      await store.checkpoint();
      deepStrictEqual([countsOf(pathBefore), countsOf(path)], [{ 7: 2 }, { 7: 3 }]);
    }
  });

  it('that another machine shares late are in the file, though a newer one has come here', async () => {
    const [here, cutOff] = [await newMachine(), await newMachine()];
    await post(here, '-7:00', [bart, 1]);
    await here.copyTo(cutOff);
    await post(cutOff, '-1:00', [homer, 5]);
    await post(here, '0:01', [bart, 2]);
    setClock('0:05');
    await here.store.setCount(homer, 6);
    await cutOff.copyTo(here);
    await post(here, '0:10', [homer, 7]);
    deepStrictEqual(here.countsOf(path), { 7: 5, 31: 1 });
  });

  it('leave alone the days before the last one that has a file', async () => {
    const machine = await newMachine();
    await post(machine, '-47:00', [homer, 1]);
    await post(machine, '-23:00', [marge, 1]);
    await post(machine, '0:01', [bart, 1]);
    deepStrictEqual([machine.countsOf(pathBefore), machine.countsOf(path)], [{ 7: 1 }, { 12: 1 }]);
    const opened = await openUntilEnd(machine.repository.folder);
    const parent = machine.repository.git('rev-parse', stateRef);
    const files = new Map([[String(pathBefore), null]]);
    const pruned = await writeCommit(opened, { parents: [parent], files, message: 'Prune\n' });
    machine.repository.git('update-ref', stateRef, pruned);
    const restarted = await machine.crashed();
    await post(restarted, '24:01', [homer, 2], [marge, 2]);
    await post(restarted, '24:02', [bart, 2]);
    strictEqual(
      restarted.repository.git('ls-tree', '-r', '--name-only', stateRef, 'days/'),
      [path, toDayPath(toDay(midnight))].join('\n'),
    );
  });

  it('are those of the last answered posts, whatever is posted, merged and checkpointed in any order @slow', async () => {
    const step = fc.oneof(
      { weight: 4, arbitrary: fc.record({ post: fc.nat(2), count: fc.nat(5), machine: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ checkpoint: fc.nat(1) }) },
      { weight: 1, arbitrary: fc.record({ copyFrom: fc.nat(1) }) },
    );
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 4, maxLength: 12 }), async (steps) => {
        setClock(`-${steps.length * 3}:00`);
        const machines = [await newMachine(), await newMachine()] as const;
        const wanted = new Map<string, Record<string, number>>();
        for (const [i, step] of steps.entries()) {
          setClock(i < steps.length / 2 ? `-${steps.length - i}:00` : `${i}:00`);
          if ('post' in step) {
            const id = [homer, marge, bart][step.post] ?? homer;
            const path = toDayPath(toDay(now));
            await machines[step.machine === 0 ? 0 : 1].store.setCount(id, step.count);
            wanted.set(path, { ...wanted.get(path), [id]: step.count });
          } else if ('checkpoint' in step) {
            await machines[step.checkpoint === 0 ? 0 : 1].store.checkpoint();
          } else {
            await machines[step.copyFrom === 0 ? 0 : 1].copyTo(machines[step.copyFrom === 0 ? 1 : 0]);
          }
        }
        setClock('72:00');
        for (const { store } of machines) {
          await store.setCount(botId('40'), 1);
          await store.checkpoint();
        }
        await machines[0].copyTo(machines[1]);
        await machines[1].copyTo(machines[0]);
        for (const { countsOf } of machines)
          for (const [path, counts] of wanted) deepStrictEqual(countsOf(path), counts);
      }),
      { numRuns: 3 },
    );
  });
});

/** A service's counts in a clone of its own. */
interface Machine {
  readonly store: StateStore;
  readonly repository: TestRepository;
  /** Lets another one fetch the state and merge it. */
  copyTo(other: Machine): Promise<void>;
  /** Returns a machine with the files that a crash right now would leave. */
  crashed(): Promise<Machine>;
  /** Returns the counts in the file of a day at the tip. */
  countsOf(path: string | undefined): Record<string, number>;
}

async function newMachine(repository = testRepository(), folder = newPlace().folder): Promise<Machine> {
  const ref = createStateRef(openerOf(repository.folder), silentLog);
  const store = await open({ ...newPlace(), folder }, { ref, isShared: true });
  await store.checkpoint();
  return {
    store,
    repository,
    copyTo: async (other) => {
      const opened = await openUntilEnd(other.repository.folder);
      const { signal } = new AbortController();
      const address = repository.folder;
      if (repository.tryGit('rev-parse', '-q', '--verify', stateRef) !== 0) return;
      await fetchState({ repository: opened, address, stallSeconds: 60, signal });
      await other.store.refresh();
    },
    crashed: async () => {
      const copies = [repository.folder, folder].map((from) => {
        const to = join(tempFolder(), 'copy');
        mkdirSync(from, { recursive: true });
        cpSync(from, to, { recursive: true });
        return to;
      });
      return await newMachine(repositoryIn(copies[0] ?? ''), copies[1]);
    },
    countsOf: (path) => {
      const text = repository.git('show', `${stateRef}:${path}`);
      return Object.fromEntries([...parseDay(Buffer.from(text))].flat().map(([id, count]) => [id, count]));
    },
  };
}
