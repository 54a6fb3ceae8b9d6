import { match, strictEqual } from 'node:assert/strict';
import { createEditedNotice } from '../../src/app/health.ts';
import { maxLeadMs } from '../../src/bot/clock.ts';
import type { IndexedBot } from '../../src/catalogue/store/bot-index.ts';
import { atTime } from '../support/at-time.ts';

const now = 1_900_000_000_000;

describe('a bot that was edited by a clock that is ahead', () => {
  it('is named until that time has come', async () => {
    let bots = { version: 1, all: () => [bot('1', now), bot('2', now + maxLeadMs)] };
    const fault = createEditedNotice({
      get version() {
        return bots.version;
      },
      all: () => bots.all(),
    });
    await atTime(now, async () => await Promise.resolve(strictEqual(fault(), null)));
    bots = { version: 2, all: () => [bot('1', now + maxLeadMs + 1), bot('2', 0)] };
    await atTime(
      now,
      async () => await Promise.resolve(match(fault() ?? '', /^"edited" of the bot 1 is 2030-03-/)),
    );
    await atTime(now + 1, async () => await Promise.resolve(strictEqual(fault(), null)));
  });
});

function bot(id: string, edited: number): IndexedBot {
  return { id, facts: { edited } } as unknown as IndexedBot;
}
