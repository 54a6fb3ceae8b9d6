import { defaultCategories } from '../../../src/bot/schemas.ts';
import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { anyCharacter } from '../../support/arbitrary.ts';
import { parseCommands, parseStats, parseUpdate } from '../../../src/http/api/update-route.ts';
import { ProblemError } from '../../../src/http/problem.ts';

function parse(body: unknown): ReturnType<typeof parseUpdate> {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return parseUpdate(text, defaultCategories, () => 'edit the file by pull request');
}

/** The problem that a body is refused with. */
function refusal(body: unknown, read: (body: unknown) => unknown = parse): ProblemError {
  try {
    read(body);
  } catch (error) {
    ok(error instanceof ProblemError);
    return error;
  }
  throw new Error(`it is read: ${JSON.stringify(body)}`);
}

describe('the body of an update', () => {
  it('has the values in bot, or in flat keys', () => {
    deepStrictEqual(parse({ bot: { count: 156, nsfw: true } }), { count: 156, nsfw: true });
    for (const count of [0, 10_000_000_000]) deepStrictEqual(parse({ bot: { count } }), { count });
    deepStrictEqual(parse({ 'bot.count': 156, 'bot.support': null }), { count: 156, support: null });
    deepStrictEqual(parse('\uFEFF{"bot": {"count": 1}}'), { count: 1 });
    deepStrictEqual(parse(' \n{"bot": {"oauth": "1"}}\n'), { oauth: '1' });
  });

  describe('is not JSON, and so a 400', () => {
    for (const [body, detail] of [
      ['', /^the body is empty: send an object, such as /],
      [' \n', /^the body is empty: /],
      ['{', /^line 1, column 2: a } is missing: /],
      ['{"bot": {"count": 1}} {}', /^line 1, column 23: this comes after the end of the object: /],
      ['\n{"bot":\n{"count": 1,}}', /^line 3, column 13: a key is expected here: /],
      ['{"bot": {"count": 1}} // why', /^line 1, column 23: JSON has no comments: /],
      ["{'bot': 1}", /double quotes/],
      ['{"bot": {"count": 1, "count": 2}}', /^the key "count" is here twice: keep one of them$/],
      [
        '{"bot": {"count": 1, "count": 2, "nsfw": true, "\\u006esfw": false}}',
        /^the key "count" is here twice: .*; the key "nsfw" is here twice: /,
      ],
      [
        `{"bot": ${'['.repeat(8)}${']'.repeat(8)}}`,
        /^the body is nested more than 8 levels deep: no key needs that, make it flat$/,
      ],
      ['{"bot": {"__proto__": {}}}', /^#\/bot\/__proto__ is not a key of an update: leave it out$/],
      ['{"__proto__": 1, "bot": {"count": 1}}', /^#\/__proto__ /],
      ['{"bot": {"support": {"a": [{"__proto__": 1}]}}}', /^#\/bot\/support\/a\/0\/__proto__ /],
    ] as const)
      it(body.slice(0, 50), () => {
        const problem = refusal(body);
        strictEqual(problem.kind, 'bad-json');
        match(problem.message, detail);
        ok(!problem.message.includes('front matter'));
      });
  });

  describe('breaks a rule, and so is a 422', () => {
    for (const [body, pointer, detail] of [
      [[], '#', /^there is no "bot" object: wrap the values in bot, such as \{"bot": \{"count": 156\}\}$/],
      ['null', '#', /^there is no "bot" object: /],
      ['5', '#', /^there is no "bot" object: /],
      [{}, '#', /^there is no "bot" object: /],
      [{ bot: {} }, '#/bot', /^the object is empty: write at least one of category, count, /],
      [{ bot: [] }, '#/bot', /^this is a list: write an object in \{ \}$/],
      [
        { bot: { count: '5' } },
        '#/bot/count',
        /^this is the text "5": write a whole number, without quotes$/,
      ],
      [{ bot: { count: 1.5 } }, '#/bot/count', /^this is the fraction 1.5: /],
      [{ bot: { count: -1 } }, '#/bot/count', /^-1 is too small: write at least 0$/],
      [{ bot: { count: 10_000_000_001 } }, '#/bot/count', /^10000000001 is too large: /],
      ['{"bot": {"count": 1e999}}', '#/bot/count', /^this is a number that is too large: write a whole/],
      [
        { bot: { category: 'cars' } },
        '#/bot/category',
        /^"cars" is not an allowed value: choose moderation, /,
      ],
      [{ bot: { website: 'http://x' } }, '#/bot/website', /https/],
      [
        { bot: { website: 'https://exämple.org/%zz' } },
        '#/bot/website',
        /^"https:\/\/exämple\.org\/%zz" has characters that .*: write "https:\/\/xn--exmple-cua\.org\/%25zz"$/,
      ],
      [{ bot: { colour: 1 } }, '#/bot/colour', /^"colour" is not a key here: /],
      [{ bot: { 'a/b~c': 1 } }, '#/bot/a~1b~0c', /^"a\/b~c" is not a key here: /],
      [
        { bot: { server_count: 5 } },
        '#/bot/server_count',
        /is not a key: the number of servers is called "count"$/,
      ],
      [{ bot: { 'bot.count': 5 } }, '#/bot/bot.count', /called "count"$/],
      [
        { bot: { name: 'Bart' } },
        '#/bot/name',
        /^"name" cannot be changed here: edit the file by pull request$/,
      ],
      [{ 'bot.codehost.owner': 'x' }, '#/bot/codehost.owner', /cannot be changed here: edit the file/],
    ] as const)
      it(JSON.stringify(body), () => {
        const { kind, errors } = refusal(body);
        strictEqual(kind, 'invalid-update');
        deepStrictEqual(
          errors.map((error) => error.pointer),
          [pointer],
        );
        match(errors[0]?.detail ?? '', detail);
      });

    it('with the values outside of bot, in words that have them in it', () => {
      const details = (body: object): string[] => refusal(body).errors.map(({ detail }) => detail);
      for (const body of [{ count: 5 }, { server_count: 5 }, { guilds: 5 }, { 'bot.count': 5, servers: 5 }])
        match(details(body).join('; '), /wrap the values in bot: send \{"bot": \{"count": 5\}\}/);
      for (const bot of [{ 'bot.count': 1 }, { bot: { count: 1 } }])
        deepStrictEqual(details({ ...bot, shard_count: 1 }), [
          '"shard_count" is not a key here: leave it out',
        ]);
      match(details({ shards: 1 }).join('; '), /^there is no .*; "shards" is outside of bot: wrap /);
    });

    it('with every error at once', () => {
      const { errors } = refusal({
        bot: { count: -1, nsfw: 'no', category: 'cars', website: 'http://x', oauth: 5, colour: 1 },
      });
      deepStrictEqual(
        errors.map(({ pointer }) => pointer).toSorted(),
        ['category', 'colour', 'count', 'nsfw', 'oauth', 'website'].map((key) => `#/bot/${key}`),
      );
    });

    it('with hundreds of keys, in one short sentence', () => {
      const { errors } = refusal({
        bot: Object.fromEntries(Array.from({ length: 600 }, (_, i) => [`k${i}`, i])),
      });
      deepStrictEqual(errors, [
        {
          pointer: '#',
          detail: 'there are hundreds of keys, lists or objects: send only the keys that change',
        },
      ]);
    });
  });

  it('of /stats has the number of servers in the key of any list, or that of each shard', () => {
    const read = (body: unknown): unknown => parseStats(JSON.stringify(body)).count;
    for (const body of [
      { server_count: 156, shard_id: 0, shard_count: 1 },
      { guildCount: 156, shardId: 0, shardCount: '1' },
      { server_count: 156, shard_id: null, shard_count: 2, shards: [1, 2] },
      { guilds: 156, shard_id: 0, shards: 1 },
      { server_count: 156, shard_id: 0, shard_count: 1, tags: ['a', 'b'] },
      { shards: [156], shard_id: 0 },
      { serverCount: 156 },
      { guildCount: 156, shardCount: 1 },
      { guild_count: 156, user_count: 9 },
      { guilds: 156, users: 9, voice_connections: 1 },
      { servers: 156, shards: 3 },
      { count: 156, guilds: 156 },
      { server_count: [100, 56] },
      { shards: [100, 50, 6] },
    ])
      strictEqual(read(body), 156, JSON.stringify(body));
    for (const [body, pointer, detail] of [
      [
        {},
        '#',
        /^there is no number of servers: send it as one of server_count, .*, such as \{"server_count"/,
      ],
      [{ shard_count: 1, shards: 2 }, '#', /^there is no number of servers: /],
      [[1, 2], '#', /^there is no number of servers: /],
      [{ serverCount: '5' }, '#/serverCount', /^this is the text "5": write a whole number/],
      [{ shards: [] }, '#/shards', /^this list has no count of a shard/],
      [{ shards: [1, '2'] }, '#/shards', /^this list .* send whole numbers, such as \[78, 78\]/],
      [{ guilds: [9_999_999_999, 2] }, '#/guilds', /^10000000001 is too large: /],
      [
        { server_count: 900, shard_id: 2, shard_count: 4 },
        '#/shard_id',
        /^this is the count of shard 2 of 4: post the total from one process, with "shard_count": 1 or without a shard id$/,
      ],
      [{ guildCount: 9, shardId: 0, shardCount: 2 }, '#/shardId', /^this is the count of shard 0 of 2: /],
      [{ guilds: 9, shard_id: 0 }, '#/shard_id', /^this is the count of shard 0: post the total /],
      [{ servers: 9, shardID: '1', shards: 3 }, '#/shardID', /^this is the count of shard "1" of 3: /],
      [{ server_count: [5, 9], shard_id: 1, shard_count: 1 }, '#/shard_id', /^this is .* shard 1 of 2: /],
      [{ server_count: 5, shard_id: 2, owners: ['1'] }, '#/shard_id', /^this is the count of shard 2: /],
      [{ server_count: [5], shard_id: 2 }, '#/shard_id', /^this is the count of shard 2 of 1: /],
      [{ server_count: 5, 'shard-id': 1, shard_count: 2 }, '#/shard-id', /^this is .* shard 1 of 2: /],
      [{ server_count: 5, shard: [2, 4] }, '#/shard', /^this is the count of shard /],
      [{ count: 5, servers: 6 }, '#/count', /^this is not the same as servers: send one of them$/],
    ] as const) {
      const { kind, errors } = refusal(body, read);
      deepStrictEqual([kind, errors.map((error) => error.pointer)], ['invalid-update', [pointer]]);
      match(errors[0]?.detail ?? '', detail);
    }
    strictEqual(refusal('', () => parseStats('')).kind, 'bad-json');
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
        try {
          ok(Object.keys(parse(text)).length > 0);
        } catch (error) {
          ok(error instanceof ProblemError, String(error));
          ok(error.message.length > 0);
        }
      }),
      { numRuns: 500 },
    );
  });
});

describe('the body with commands', () => {
  const read = (body: unknown): unknown =>
    parseCommands(typeof body === 'string' ? body : JSON.stringify(body));

  it('is what Discord returns, of which the keys are kept that say something', () => {
    const option = {
      type: 3,
      name: 'title',
      description: 'Which song',
      required: true,
      choices: [{ name: 'x' }],
    };
    const command = {
      id: '1',
      application_id: '2',
      type: 1,
      name: 'play',
      name_localizations: null,
      description: 'Plays a song',
      description_localizations: { fr: 'Joue une chanson', de: 'Spielt ein Lied' },
      nsfw: false,
      dm_permission: true,
      options: [{ type: 1, name: 'now', description: '', options: [option, { ...option, required: false }] }],
    };
    const kept = { type: 3, name: 'title', description: 'Which song' };
    deepStrictEqual(read([command]), [
      {
        name: 'play',
        description: 'Plays a song',
        description_localizations: { de: 'Spielt ein Lied', fr: 'Joue une chanson' },
        options: [{ type: 1, name: 'now', options: [{ ...kept, required: true }, kept] }],
      },
    ]);
    deepStrictEqual(read('\uFEFF[]'), []);
  });

  for (const [what, body, kind, detail] of [
    ['no list', {}, 'invalid-update', /^#: the body is not a list: send what Discord’s API returns /],
    ['no JSON', '[', 'bad-json', /a \] is missing/],
    ['a key twice', '[{"name": "a", "name": "b"}]', 'bad-json', /"name" is here twice/],
    [
      'more than 200',
      Array.from({ length: 201 }, (_, i) => ({ name: `a${i}` })),
      'invalid-update',
      /keep at most 200/,
    ],
    [
      'a text that is too long',
      [{ name: 'a' }, { name: 'play', options: [{ type: 3, name: 'b', description: 'x'.repeat(101) }] }],
      'invalid-update',
      /^#\/1\/options\/0\/description: the command "play": options\[0\]\.description: the text has 101 characters/,
    ],
    ['no name', [{ description: 'x' }], 'invalid-update', /^#\/0: "name" is missing: add it/],
    [
      'too much for a file',
      [{ name: 'a', options: nest(3) }],
      'invalid-update',
      /^#: the file would have more than 262144 bytes: shorten texts/,
    ],
  ] as const)
    it(`is refused with ${what}`, () => {
      const { kind: found, message } = refusal(body, read);
      strictEqual(found, kind);
      match(message, detail);
    });
});

/** 25 options, each with as many, and so on. */
function nest(levels: number): object[] {
  const options = levels > 1 ? nest(levels - 1) : undefined;
  return Array.from({ length: 25 }, () => ({ type: 3, name: 'a', options }));
}
