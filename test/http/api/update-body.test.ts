import { defaultCategories } from '../../../src/bot/schemas.ts';
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { fixtureLines, readCases, unquote } from '../../support/fixture-lines.ts';
import { anyCharacter } from '../../support/arbitrary.ts';
import { parseCommands, parseStats, parseUpdate } from '../../../src/http/api/update-body.ts';
import { ProblemError } from '../../../src/http/problem.ts';

const parse = (text: string): ReturnType<typeof parseUpdate> =>
  parseUpdate(text, defaultCategories, () => 'edit the file by pull request');

/** What a body is refused with: `pointer detail` of each error, or why it is no JSON. */
function faultsIn(text: string, read: (text: string) => unknown): string[] {
  try {
    read(text);
  } catch (error) {
    ok(error instanceof ProblemError, String(error));
    if (error.kind !== 'invalid-update') return [`${error.kind}: ${error.message}`];
    return error.errors.map(({ pointer, detail }) => `${pointer} ${detail}`);
  }
  return [];
}

for (const [list, read] of [
  ['update', parse],
  ['stats', parseStats],
  ['commands', parseCommands],
] as const)
  describe(`a body with ${list} is refused`, () => {
    for (const { input, expected } of readCases(`${list}-faults`))
      it(input.slice(0, 60), () => deepStrictEqual(faultsIn(unquote(input), read), expected));
  });

describe('the body of an update', () => {
  it('has the values in bot, or in flat keys', () => {
    const values = { count: 156, support: null, nsfw: true };
    deepStrictEqual(parse(JSON.stringify({ bot: values })), values);
    deepStrictEqual(parse('{"bot.count": 156, "bot.support": null, "bot.nsfw": true}'), values);
    for (const count of [0, 10_000_000_000])
      deepStrictEqual(parse(JSON.stringify({ bot: { count } })), { count });
    deepStrictEqual(parse('\uFEFF{"bot": {"count": 1}}'), { count: 1 });
    deepStrictEqual(parse(' \n{"bot": {"oauth": "1"}}\n'), { oauth: '1' });
  });

  it('is refused with hundreds of keys, in one short sentence', () => {
    const bot = Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k${i}`, i]));
    deepStrictEqual(faultsIn(JSON.stringify({ bot }), parse), [
      '# there are hundreds of keys, lists or objects: send only the keys that change',
    ]);
  });

  it('of /stats has the number of servers in the key of any list, or that of each shard', () => {
    for (const body of fixtureLines('stats-of-156-servers.txt'))
      strictEqual(parseStats(body).count, 156, body);
  });

  it('is read or refused with a reason, whatever it is', () => {
    const body = fc.oneof(
      fc.json(),
      fc.string({ unit: anyCharacter }),
      fc
        .dictionary(fc.constantFrom('bot', 'bot.count', 'count'), fc.jsonValue())
        .map((value) => JSON.stringify(value)),
    );
    fc.assert(
      fc.property(body, (text) => {
        const faults = faultsIn(text, parse);
        ok(faults.length > 0 ? faults.every((one) => /. ./.test(one)) : Object.keys(parse(text)).length > 0);
      }),
      { numRuns: 500 },
    );
  });
});

describe('the body with commands', () => {
  it('is what Discord returns, of which the keys are kept that say something', () => {
    for (const { input, expected } of readCases('commands-kept'))
      strictEqual(JSON.stringify(parseCommands(input)), expected[0]);
    deepStrictEqual(parseCommands('\uFEFF[]'), []);
  });

  it('is refused with more than 200, or too much for a file', () => {
    const many = Array.from({ length: 201 }, (_, i) => ({ name: `a${i}` }));
    match(faultsIn(JSON.stringify(many), parseCommands).join(), /keep at most 200/);
    const large = JSON.stringify([{ name: 'a', options: nest(3) }]);
    match(faultsIn(large, parseCommands).join(), /^# the file would have more than 262144 bytes: shorten/);
  });
});

/** 25 options, each with as many, and so on. */
function nest(levels: number): object[] {
  const options = levels > 1 ? nest(levels - 1) : undefined;
  return Array.from({ length: 25 }, () => ({ type: 3, name: 'a', options }));
}
