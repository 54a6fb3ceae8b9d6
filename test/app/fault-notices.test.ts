import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { createFileFault } from '../../src/catalogue/page/fault.ts';
import { BotStore } from '../../src/catalogue/store/bot-store.ts';
import { silentLog } from '../../src/lib/log.ts';
import { notifyFaults, type Notice } from '../../src/proposals/notifications.ts';
import { pagePath } from '../support/sample.ts';

describe('the notices of faulty files', () => {
  const [one, two, three] = [pagePath('1'), pagePath('2'), pagePath('3')];
  const store = new BotStore(silentLog);
  const notices: Notice[] = [];
  let look = (): void => {};
  const set = (path: string, message?: string): void =>
    store.report(path, message === undefined ? [] : [createFileFault(path, 'json', message)]);

  before(() => {
    set(three, 'was faulty before');
    look = notifyFaults(store, 'https://bots.example.org', (notice) => notices.push(notice));
  });
  beforeEach(() => void notices.splice(0));

  it('have what is wrong, and the bot', () => {
    set(one, 'this is not JSON: check it');
    look();
    strictEqual(notices.length, 1);
    const { kind, title, text, url } = notices[0] ?? {};
    deepStrictEqual(
      [kind, title, text, url],
      [
        'fault',
        `${one} is faulty`,
        `${one}:1:1: this is not JSON: check it`,
        'https://bots.example.org/bots/1',
      ],
    );
  });

  it('tell of a file once until it is fixed, and not of what was faulty at the start', () => {
    set(one, 'another fault');
    set(three, 'another fault');
    look();
    for (const path of [one, three]) set(path);
    look();
    deepStrictEqual(notices, []);
    set(three, 'faulty again');
    look();
    deepStrictEqual(
      notices.map(({ title }) => title),
      [`${three} is faulty`],
    );
  });

  it('are one for several files', () => {
    for (const path of [one, two]) set(path, 'broken');
    look();
    deepStrictEqual(
      notices.map(({ title, text, url }) => [title, text, url]),
      [['2 files are faulty', `${one}:1:1: broken\n${two}:1:1: broken`, 'https://bots.example.org']],
    );
  });
});
