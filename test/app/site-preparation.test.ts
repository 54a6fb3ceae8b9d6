import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { warmPageCache } from '../../src/app/site-preparation.ts';
import { silentLog } from '../../src/lib/log.ts';

describe('the preparation of the site', () => {
  const ready = { unpacked: async () => true, isRead: async () => true };

  it('begins when every bot and its counts over time are in memory', async () => {
    const events: string[] = [];
    const unpacked = async (): Promise<boolean> => {
      await sleep(20);
      events.push('unpacked');
      return true;
    };
    const isRead = async (): Promise<boolean> => {
      await sleep(5);
      events.push('counts read');
      return true;
    };
    const prepare = async (): Promise<void> => void events.push('prepared');
    await warmPageCache({ unpacked }, { isRead }, prepare, silentLog);
    deepStrictEqual(events, ['unpacked', 'counts read', 'prepared']);
  });

  it('never begins where the catalogue is closed before', async () => {
    let prepared = 0;
    const prepare = async (): Promise<void> => void prepared++;
    await warmPageCache({ unpacked: async () => await sleep(5, false) }, ready, prepare, silentLog);
    strictEqual(prepared, 0);
  });

  it('leaves to visitors what fails, and says so', async () => {
    const messages: string[] = [];
    const log = { ...silentLog, debug: (_fields: object, text: string) => void messages.push(text) };
    const prepare = async (): Promise<void> => await Promise.reject(new Error('too much waits'));
    await warmPageCache(ready, ready, prepare, log);
    match(messages.join(), /too much waits; a visitor waits for it/);
  });
});
