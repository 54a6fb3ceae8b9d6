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
  const [[locale, [name, description, page = '']] = ['en', ['Homer', 'Answers.']], ...others] =
    Object.entries(texts);
  const data = withDefaults({
    name,
    description,
    authors: ['1'],
    category: 'fun',
    created: 0,
    invite: 'https://example.org/',
    ...keys,
  });
  const record = assembleRecord(
    botId(id),
    { locale: locale as Locale, data: data as unknown as FilledMainPage, page },
    others.map(([tag, [other, text, page = '']]) => [
      tag as Locale,
      { name: other, description: text, page },
    ]),
  );
  return indexBot(botId(id), record, []);
}
