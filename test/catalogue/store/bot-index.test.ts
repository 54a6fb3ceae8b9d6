import { deepStrictEqual, match, strictEqual } from 'node:assert/strict';
import { listElement } from '../../../src/bot/record.ts';
import {
  listElementParts,
  computeElementSize,
  type IndexedBot,
  listPageImages,
  type BotReading,
  readBot,
} from '../../../src/catalogue/store/bot-index.ts';
import type { BotRecord } from '../../../schemas/types.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { botId } from '../../support/sample.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { type Pages, toFiles } from '../../support/page-file.ts';

describe('an indexed bot', () => {
  it('has a list element that is the record without its pages, whatever the texts are', () => {
    const tricky = ['', '{"description":"a","name":"b","page":"c"}', '"page":"ü\\"\n😀', '\\'];
    for (const text of tricky) {
      const texts = { en: [text, text, text], de: ['Ü', text, 'page'], fr: [text, 'é', ''] } as const;
      const indexed = sampleBot('7', texts);
      const expected = JSON.stringify(listElement(JSON.parse(indexed.record.toString())));
      strictEqual(Buffer.concat(listElementParts(indexed)).toString(), expected);
      strictEqual(computeElementSize(indexed), Buffer.byteLength(expected));
    }
  });
});

describe('the images in the pages of a bot', () => {
  it('are those of all its languages, the default one first', () => {
    const page = (name: string): string => `![](https://e.org/${name}.png) ![](https://e.org/both.png)`;
    const bot = sampleBot('7', { en: ['Seven', 'x', page('en')], fr: ['Sept', 'x', page('fr')] });
    const names = listPageImages(bot).map((url) => /([a-z]+)\.png/.exec(url)?.[1]);
    deepStrictEqual(names, ['en', 'both', 'fr']);
    deepStrictEqual(listPageImages(sampleBot('8')), []);
  });
});

const id = botId('190519304972663312');

function read(pages: Pages, previous?: IndexedBot): BotReading {
  return readBot(id, toFiles(id, pages), previous, toSettings());
}

/** Returns the bot that is served, its files, and the faults. */
function describeReading({ bot, faults }: BotReading, previous: IndexedBot | undefined): string[] {
  const rules = faults.map(({ path, rule }) => `${path.split('.')[1]} ${rule}`);
  if (bot === undefined) return rules;
  const { contents, category, nsfw, verified } = JSON.parse(bot.record.toString()) as BotRecord;
  const names = Object.entries(contents).map(([locale, { name }]) => `${locale} ${name}`);
  const files = bot.files.map(({ locale, main, size }) => `${locale}${main ? ' (main)' : ''} ${size}`);
  const keys = `${category}, nsfw ${nsfw}, verified ${verified}`;
  return [
    `serves ${names.join(', ')}, ${keys}${bot === previous ? ', as before' : ''}`,
    `of ${files.join(', ')}`,
    ...rules,
  ];
}

describe('a bot', () => {
  for (const { title, input, expected } of readCases('bot-readings'))
    it(title, () => {
      const [before, after] = input.split(' → ').map((json) => JSON.parse(json) as Pages | null);
      const previous = before ? read(before).bot : undefined;
      deepStrictEqual(describeReading(read(after ?? {}, previous), previous), expected);
    });

  it('is listed with each file as Git knows it, also with a faulty one as that was when it was valid', () => {
    const before = read({ en: {}, fr: ['Homère', 'Répond.'] }).bot;
    for (const { sha } of before?.files ?? []) match(sha, /^[0-9a-f]{40}$/);
    deepStrictEqual(read({ en: {}, fr: '---\n{"name": }\n---\n' }, before).bot?.files, before?.files);
  });
});
