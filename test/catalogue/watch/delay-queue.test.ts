import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import { setTimeout as rest } from 'node:timers/promises';
import { Agenda } from '../../../src/catalogue/watch/delay-queue.ts';
import { eventually } from '../../support/eventually.ts';

describe('an agenda', () => {
  it('does each piece of work once, in the order in which they are due', async () => {
    const done: string[] = [];
    const agenda = new Agenda((name) => done.push(name));
    agenda.add('late', 60);
    agenda.add('early', 5);
    agenda.add('early', 5);
    ok(!agenda.idle);
    await eventually(() => agenda.idle);
    deepStrictEqual(done, ['early', 'late']);
  });

  it('does work at the earliest time that anybody asked for', async () => {
    const done: string[] = [];
    const agenda = new Agenda((name) => done.push(name));
    agenda.add('a', 3_600_000);
    agenda.add('a', 5);
    agenda.add('a', 3_600_000);
    await eventually(() => done.length === 1);
    ok(agenda.idle);
  });

  it('does work again when it is put down while it is done', async () => {
    let times = 0;
    const agenda = new Agenda((name) => {
      times += 1;
      if (times < 3) agenda.add(name, 1);
    });
    agenda.add('a', 0);
    await eventually(() => times === 3 && agenda.idle);
  });

  it('lets others have their turn between long pieces of work', async () => {
    const done: string[] = [];
    const agenda = new Agenda((name) => {
      done.push(name);
      const end = performance.now() + 20;
      while (performance.now() < end);
    });
    for (const name of ['a', 'b', 'c']) agenda.add(name, 0);
    await eventually(() => done.length > 0);
    strictEqual(done.length, 1, 'a timer of ours ran before the second piece');
    await eventually(() => agenda.idle);
    deepStrictEqual(done, ['a', 'b', 'c']);
  });

  it('does nothing any more once it is closed', async () => {
    const done: string[] = [];
    const agenda = new Agenda((name) => done.push(name));
    agenda.add('a', 0);
    agenda.close();
    agenda.add('b', 0);
    await rest(30);
    deepStrictEqual(done, []);
    ok(agenda.idle);
  });
});
