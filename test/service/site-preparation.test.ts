import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { setTimeout as sleep } from 'node:timers/promises';
import { keepSitePrepared } from '../../src/service/site-preparation.ts';
import { silentLog } from '../../src/log.ts';

describe('the preparation of the site', () => {
  it('begins when every bot is in memory', async () => {
    const events: string[] = [];
    const unpacked = async (): Promise<boolean> => {
      await sleep(20);
      events.push('unpacked');
      return true;
    };
    let end = (): void => {};
    await new Promise<void>((resolve) => {
      const prepare = async (): Promise<void> => {
        events.push('prepared');
        resolve();
      };
      end = keepSitePrepared({ unpacked }, prepare, silentLog);
    });
    end();
    deepStrictEqual(events, ['unpacked', 'prepared']);
  });

  it('never begins where the catalogue is closed before', async () => {
    let prepared = 0;
    const prepare = async (): Promise<void> => void prepared++;
    const end = keepSitePrepared({ unpacked: async () => await sleep(5, false) }, prepare, silentLog);
    await sleep(20);
    end();
    strictEqual(prepared, 0);
  });

  it('leaves to visitors what fails, and says so', async () => {
    let end = (): void => {};
    const message = await new Promise<string>((resolve) => {
      const log = { ...silentLog, debug: (_fields: object, text: string) => resolve(text) };
      const prepare = async (): Promise<void> => await Promise.reject(new Error('too much waits'));
      end = keepSitePrepared({ unpacked: async () => true }, prepare, log);
    });
    end();
    match(message, /too much waits; a visitor waits for it/);
  });
});
