import { assembleRecord, type FilledMainPage } from '../../src/bot/record.ts';
import { type IndexedBot, indexBot } from '../../src/catalogue/store/bot-index.ts';
import { withDefaults } from '../../src/catalogue/page/page.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { botId } from './sample.ts';

/** A bot as the index holds it: locale → name, description and page, the main page first, with `keys` of the main page. */
export function sampleBot(
  id: string,
  texts: Readonly<Record<string, readonly [name: string, description: string, page?: string]>> = {
    en: ['Homer', 'Answers.'],
  },
  keys: Partial<FilledMainPage> = {},
): IndexedBot {
  const contents = new Map(
    Object.entries(texts).map(([locale, [name, description, page = '']]) => [
      locale as Locale,
      { name, description, page },
    ]),
  );
  const data = withDefaults({
    authors: ['1'],
    category: 'fun',
    created: 0,
    invite: 'https://example.org/',
    ...keys,
  });
  const record = assembleRecord(botId(id), data as unknown as FilledMainPage, contents);
  return indexBot(botId(id), record, []);
}
