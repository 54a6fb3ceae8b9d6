import { deepStrictEqual, match } from 'node:assert/strict';
import type { BotRecord } from '../../../schemas/types.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { type IndexedBot, type BotReading, readBot } from '../../../src/catalogue/store/bot-index.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { type Pages, toFiles } from '../../support/page-file.ts';
import { botId } from '../../support/sample.ts';

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
