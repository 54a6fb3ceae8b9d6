import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { validate } from '../../src/bot/validate.ts';
import { mergeFile } from '../../src/sync/key-merge.ts';
import { parsePage } from '../../src/catalogue/page/page.ts';
import { readCases } from '../support/fixture-lines.ts';
import { collection, mainPage, translation } from '../support/sample.ts';

const path = 'bots/312/190519304972663312.en.md';
const base = mainPage({ edited: 1_700_000_000_100, website: null });

describe('the merge of a page', () => {
  it('takes each key from the side that changed it, and every other byte from theirs', () => {
    const theirs = base
      .replace('"Homer",', '"Homer J.",')
      .replace('The page.', 'A better page.')
      .replace('  "website"', '      "website"');
    const { text, droppedKeys } = mergeFile(path, { base, ours: base.replace('"fun"', '"music"'), theirs });
    strictEqual(text, theirs.replace('"fun"', '"music"'));
    deepStrictEqual(droppedKeys, []);
  });

  it('takes ours where both changed a key that is to be kept, also one that ours removed', () => {
    const theirs = mainPage({ edited: 1_700_000_000_100, website: 'https://theirs.example/', oauth: '2' });
    const ours = mainPage({ edited: 1_700_000_000_100, category: 'music' });
    const from = mainPage({ edited: 1_700_000_000_100, website: null, oauth: '1', category: 'fun' });
    const merged = mergeFile(path, { base: from, ours, theirs, keep: new Set(['website']) });
    strictEqual('website' in dataOf(merged.text), false);
    strictEqual(dataOf(merged.text)['oauth'], '2');
    strictEqual(dataOf(merged.text)['category'], 'music');
    deepStrictEqual(merged.droppedKeys, ['oauth']);
  });

  it('takes the markdown that one side changed, and theirs where both did', () => {
    const mine = base.replace('The page.', 'Mine.');
    const other = base.replace('"fun"', '"music"');
    strictEqual(mergeFile(path, { base, ours: mine, theirs: other }).text, mine.replace('"fun"', '"music"'));
    strictEqual(mergeFile(path, { base, ours: other, theirs: mine }).text, mine.replace('"fun"', '"music"'));
    const theirs = base.replace('The page.', 'Theirs.');
    deepStrictEqual(mergeFile(path, { base, ours: mine, theirs }), { text: theirs, droppedKeys: ['page'] });
  });

  it('leaves a file to theirs that either side has made unreadable', () => {
    const ours = base.replace('"fun"', '"music"');
    for (const broken of ['---js\nalert()\n---\n', base.replace('"Homer",', '"Homer"'), '<<<<<<< a\n']) {
      deepStrictEqual(mergeFile(path, { base, ours, theirs: broken }), {
        text: broken,
        droppedKeys: ['file'],
      });
      deepStrictEqual(mergeFile(path, { base, ours: broken, theirs: ours }), {
        text: ours,
        droppedKeys: ['file'],
      });
    }
  });

  it('makes no faulty page of a sound one: a main page that became a translation gets no keys of a main page', () => {
    const theirs = translation('Homer', 'Answers questions about doughnuts.');
    const from = mainPage();
    const merged = mergeFile(path, { base: from, ours: mainPage({ edited: 1_700_000_000_300 }), theirs });
    deepStrictEqual(merged, { text: theirs, droppedKeys: ['file'] });
  });

  it('keeps the keys of both where a file is new on both sides', () => {
    const { text, droppedKeys } = mergeFile(path, {
      base: null,
      ours: mainPage({ website: 'https://ours.example/', nsfw: true }),
      theirs: mainPage({ website: 'https://theirs.example/' }),
    });
    strictEqual(dataOf(text)['website'], 'https://theirs.example/');
    strictEqual(dataOf(text)['nsfw'], true);
    deepStrictEqual(droppedKeys, ['website']);
  });

  it('takes and removes keys by the ten thousand', () => {
    const toPage = (value: number, length = 15_000): string => {
      const keys = Array.from({ length }, (_, i) => [`k${i}`, value] as const);
      return `---\n${JSON.stringify({ a: 0, ...Object.fromEntries(keys) })}\n---\n`;
    };
    const merge = (ours: string) => mergeFile(path, { base: toPage(1), ours, theirs: `${toPage(1)}\nx\n` });
    strictEqual(merge(toPage(1, 1)).text, `${toPage(1, 1)}\nx\n`);
    strictEqual(merge(toPage(2)).text, `${toPage(2)}\nx\n`);
    strictEqual(merge('---\n{}\n---\n').text, '---\n{}\n---\n\nx\n');
  });

  it('has, for any three versions, each key as the side that changed it has it', () => {
    fc.assert(
      fc.property(keys, keys, keys, (was, mine, reviewed) => {
        const { text, droppedKeys } = merge(was, mine, reviewed);
        const [old, ours, theirs, merged] = [was, mine, reviewed].map(withDefaults).concat(dataOf(text));
        for (const key of names) {
          const [a, b, c, d] = [old, ours, theirs, merged].map((data) => JSON.stringify(data?.[key]));
          if (a === b) strictEqual(d, c, key);
          else if (a === c) strictEqual(d, b, key);
          else if (key === 'edited' && c !== undefined && b !== undefined) {
            strictEqual(d, String(Math.max(Number(b), Number(c))));
          } else {
            strictEqual(d, c, key);
            strictEqual(droppedKeys.includes(key), b !== c, key);
          }
        }
        strictEqual(validate('main-page', dataOf(text)).length, 0);
      }),
    );
  });

  it('is, for any versions, the same again when merged again', () => {
    fc.assert(
      fc.property(keys, keys, keys, (was, mine, reviewed) => {
        const { text } = merge(was, mine, reviewed);
        const again = mergeFile(path, { base: pageOf(reviewed), ours: text, theirs: pageOf(reviewed) });
        deepStrictEqual(dataOf(again.text), dataOf(text));
        strictEqual(merge(was, mine, mine).text, pageOf(mine));
        strictEqual(merge(was, was, mine).text, pageOf(mine));
      }),
    );
  });

  it('says the same whichever side is whose, where no key was changed on both', () => {
    fc.assert(
      fc.property(keys, keys, fc.subarray([...names]), (was, now, part) => {
        const mine = choose((key) => (part.includes(key) ? now : was));
        const other = choose((key) => (part.includes(key) ? was : now));
        const [there, back] = [merge(was, mine, other), merge(was, other, mine)];
        deepStrictEqual(dataOf(there.text), dataOf(back.text));
        deepStrictEqual(there.droppedKeys.concat(back.droppedKeys), []);
        for (const key of names) {
          deepStrictEqual(dataOf(there.text)[key], withDefaults(now)[key], `${key} is lost`);
        }
      }),
    );
  });

  it('never throws, whatever the three texts are', () => {
    const text = fc.oneof(
      fc.string(),
      keys.map(pageOf),
      fc.string().map((json) => `---\n${json}\n---\n`),
    );
    fc.assert(
      fc.property(text, text, text, (base, ours, theirs) => {
        const merged = mergeFile(path, { base, ours, theirs });
        ok(merged.text === theirs || merged.text !== base || ours === base || theirs === base);
      }),
    );
  });
});

describe('the merge of a file beside the pages of bots', () => {
  for (const { title, input, expected } of readCases('merges'))
    it(title, () => {
      const [name = '', versions = ''] = input.split(' ← ');
      const [base = null, ours = '', theirs = ''] = versions.split(' | ').map((json) => {
        const value = JSON.parse(json) as string | object | null;
        return typeof value === 'object' && value !== null ? `${JSON.stringify(value, null, 2)}\n` : value;
      });
      const { text, droppedKeys } = mergeFile(name, { base, ours: ours ?? '', theirs: theirs ?? '' });
      const [merged = '', ...dropped] = expected;
      deepStrictEqual(
        droppedKeys,
        dropped.map((line) => line.slice('dropped: '.length)),
      );
      const whole = JSON.parse(merged) as unknown;
      deepStrictEqual(typeof whole === 'string' ? text : JSON.parse(text), whole);
    });

  it('has of the list of a collection what either added and not what either removed, and its page by line', () => {
    const [base, ours, theirs] = [
      ['1', '2', '3'],
      ['1', '2', '4'],
      ['5', '2', '3', '1'],
    ] as const;
    const name = 'collections/small.en.md';
    const { text, droppedKeys } = mergeFile(name, {
      base: collection({ bots: base }, 'One.\n\nTwo.\n'),
      ours: collection({ bots: ours }, 'First.\n\nTwo.\n'),
      theirs: collection({ bots: theirs, title: 'Theirs' }, 'One.\n\nSecond.\n'),
    });
    deepStrictEqual(droppedKeys, []);
    deepStrictEqual(
      JSON.stringify(dataOf(text)['bots']) + text.slice(text.lastIndexOf('---')),
      '["5","2","1","4"]---\n\nFirst.\n\nSecond.\n',
    );
  });

  it('is theirs where the result would break a rule', () => {
    const bots = (from: number): string[] => Array.from({ length: 20 }, (_, i) => String(from + i));
    const [ours, theirs] = [collection({ bots: bots(1) }), collection({ bots: bots(100) })];
    deepStrictEqual(mergeFile('collections/small.en.md', { base: null, ours, theirs }), {
      text: theirs,
      droppedKeys: ['file'],
    });
  });
});

type Keys = Readonly<Record<string, unknown>>;

const names = ['category', 'edited', 'nsfw', 'oauth', 'support', 'trigger', 'website'] as const;

const site = fc.option(fc.constantFrom('https://a.example/', 'https://b.example/'));

const keys: fc.Arbitrary<Keys> = fc.record(
  {
    category: fc.constantFrom('fun', 'music', 'news'),
    edited: fc.integer({ min: 1_700_000_000_000, max: 1_700_000_000_009 }),
    nsfw: fc.boolean(),
    oauth: fc.option(fc.constantFrom('1', '2')),
    support: site,
    trigger: fc.record({ prefix: fc.subarray(['!', '?']), mentionable: fc.boolean() }),
    website: site,
  },
  { requiredKeys: [] },
);

function pageOf(keys: Keys): string {
  return mainPage(keys);
}

/** What the text of a page of these keys says, as mainPage has some of its own. */
function withDefaults(keys: Keys): Keys {
  return dataOf(pageOf(keys));
}

/** Each key from the side that is chosen for it. */
function choose(side: (key: (typeof names)[number]) => Keys): Keys {
  return Object.fromEntries(names.flatMap((key) => (key in side(key) ? [[key, side(key)[key]]] : [])));
}

function merge(base: Keys, ours: Keys, theirs: Keys): { text: string; droppedKeys: readonly string[] } {
  return mergeFile(path, { base: pageOf(base), ours: pageOf(ours), theirs: pageOf(theirs) });
}

function dataOf(text: string): Record<string, unknown> {
  const { page, faults } = parsePage(path, Buffer.from(text));
  deepStrictEqual(faults, []);
  return { ...page?.data };
}
