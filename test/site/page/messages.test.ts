import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { readSchema } from '../../../src/bot/schemas.ts';
import { categoryNames, day, integer, messages } from '../../../src/site/page/messages.ts';

describe('the texts of the pages', () => {
  it('have a name for each category of the schema', () => {
    const { $defs } = readSchema('definitions') as unknown as { $defs: { category: { enum: string[] } } };
    deepStrictEqual(Object.keys(categoryNames).toSorted(), $defs.category.enum.toSorted());
  });

  it('say one and many', () => {
    deepStrictEqual(
      [messages.found(1), messages.found(0), messages.found(4794)],
      ['1 bot', '0 bots', '4,794 bots'],
    );
    deepStrictEqual([messages.servers(1), messages.servers(1200)], ['1 server', '1,200 servers']);
    deepStrictEqual(
      [messages.shortServers(1), messages.shortServers(1_230_000)],
      ['1 server', '1.2M servers'],
    );
    deepStrictEqual(
      [messages.addFaults(1), messages.addFaults(9)],
      ['1 field needs attention', '9 fields need attention'],
    );
  });

  it('write numbers and days in the language of the pages, days in UTC', () => {
    strictEqual(integer(10_000_000_000), '10,000,000,000');
    strictEqual(day(Date.UTC(2026, 2, 3, 23, 59)), 'March 3, 2026');
  });
});
