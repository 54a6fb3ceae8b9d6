import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import { type BotId, parseBotId } from '../../../src/bot/id.ts';
import {
  type Blocked,
  findBlocked,
  nothingBlocked,
  parseBlocked,
  printBlocked,
} from '../../../src/catalogue/settings/blocked.ts';
import { fixtureLines } from '../../support/fixture-lines.ts';

function parse(text: string): Blocked {
  const parsed = parseBlocked(Buffer.from(text));
  if ('faults' in parsed) throw new Error(JSON.stringify(parsed.faults));
  return parsed.value;
}

/** Returns `line:column rule message` of each fault. */
function faultsOf(content: string | Buffer): string[] {
  const parsed = parseBlocked(Buffer.from(content));
  if (!('faults' in parsed)) return [];
  return parsed.faults.map(({ line, column, rule, message }) => `${line}:${column} ${rule} ${message}`);
}

const account = '234567890123456789';

describe('a file that says who is blocked', () => {
  it('blocks accounts, bots, and hosts with their subdomains', () => {
    const blocked = parse(
      `{ "accounts": { "${account}": { "reason": "Spam" } }, "bots": { "77": {} }, "hosts": { "example.org": {} } }`,
    );
    const found = findBlocked(blocked, {
      bots: [parseBotId('77') as BotId],
      authors: ['1', account],
      addresses: [
        'https://bad.EXAMPLE.org./a',
        null,
        'https://example.org.example.com/',
        'https://notexample.org/',
        'example.org',
        'https://x.com/?https://example.org/',
      ],
    });
    deepStrictEqual(found, [
      { kind: 'bot', name: '77', reason: undefined },
      { kind: 'account', name: account, reason: 'Spam' },
      { kind: 'host', name: 'example.org', reason: undefined },
    ]);
    deepStrictEqual(findBlocked(blocked, { authors: ['__proto__', 'constructor', 'toString'] }), []);
    deepStrictEqual(findBlocked(nothingBlocked, { authors: [account], addresses: ['https://[::1]/'] }), []);
  });

  it('blocks an IP address however it is written', () => {
    const blocked = parse('{ "hosts": { "192.0.2.1": {} } }');
    const hosts = ['192.0.2.1', '3221225985', '0xc0.0.2.1', '[::ffff:192.0.2.1]', '[::ffff:c000:201]'];
    for (const host of hosts)
      strictEqual(findBlocked(blocked, { addresses: [`https://${host}/`] }).length, 1);
    deepStrictEqual(findBlocked(blocked, { addresses: ['https://[::192.0.2.1]/'] }), []);
  });

  it('is refused with the line and the column of each fault', () => {
    deepStrictEqual(
      faultsOf(
        `{\n  "acounts": {},\n  "accounts": {\n    "${account}": { "reason": 5 },\n    "x": {}\n  },\n  "hosts": { "EXAMPLE.org": { "since": "today" } }\n}\n`,
      ).map((fault) => fault.slice(0, 60)),
      [
        '2:3 additionalProperties acounts: "acounts" is not a key: wr',
        '5:5 pattern accounts.x: "x" is not allowed: write 1 to 20 di',
        '4:39 type accounts.234567890123456789.reason: this is the nu',
        '7:14 pattern hosts."EXAMPLE.org": "EXAMPLE.org" is not allow',
        '7:40 pattern hosts."EXAMPLE.org".since: "today" is not allow',
      ],
    );
    match(
      faultsOf(`{ "bots": { "1": { "reason": "${'x'.repeat(501)}" } } }`)[0] ?? '',
      /maxLength .*at most 500/,
    );
  });

  it('is refused where it is hostile, and in no time @slow', () => {
    const hostile = [
      ...fixtureLines('blocked-invalid.txt'),
      '',
      '\0',
      Buffer.from([0xff, 0xfe, 0x7b]),
      '['.repeat(1024 * 1024),
      '{"a":'.repeat(200_000),
      `{ "accounts": { ${Array.from({ length: 80_000 }, (_, i) => `"x${i}": 1`).join(',')} } }`,
      `{ "accounts": { "1": { "reason": "${'x'.repeat(1024 * 1024)}" } } }`,
    ];
    for (const content of hostile) {
      const faults = faultsOf(content);
      ok(faults.length > 0 && faults.length <= 100, content.toString().slice(0, 80));
    }
    strictEqual(({} as { reason?: string }).reason, undefined);
  });

  it('has one canonical form: sorted, with two spaces, and without what is empty', () => {
    const text =
      '{"hosts":{"b.org":{},"a.org":{"since":"2026-11-22","reason":"Ä"}},"bots":{},"accounts":{"234567890123456789":{},"10":{},"9":{}}}';
    const printed = printBlocked(parse(text));
    strictEqual(
      printed,
      '{\n  "accounts": {\n    "9": {},\n    "10": {},\n    "234567890123456789": {}\n  },\n  "hosts": {\n    "a.org": {\n      "reason": "Ä",\n      "since": "2026-11-22"\n    },\n    "b.org": {}\n  }\n}\n',
    );
    strictEqual(printBlocked(parse(printed)), printed);
    strictEqual(printBlocked(parse('{}')), '{}\n');
  });
});
