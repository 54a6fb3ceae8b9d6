import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { renderToString } from 'preact-render-to-string';
import type { Locale } from '../../../src/bot/locale.ts';
import { parseMessages, createMessages, type Messages } from '../../../src/site/language/messages.tsx';
import { readCases } from '../../support/fixture-lines.ts';

const texts = {
  'list.found': '{count, plural, one {# bot} other {# bots}}',
  'bot.shortServers':
    '{count, plural, one {{count, number, short} server} other {{count, number, short} servers}}',
  'list.nothingFor': 'No bots match “{query}”.',
  'layout.operator': 'Operator: {contact}',
};
const english = createMessages('en' as Locale, parseMessages('en' as Locale, texts, texts).messages, null);
const inLocale = (locale: string, own: Readonly<Record<string, string>> = {}): Messages =>
  createMessages(locale as Locale, parseMessages(locale as Locale, own, texts).messages, english);
const now = Date.UTC(2026, 2, 3, 23, 59);

describe('the messages of a language', () => {
  it('have the plural of their language', () => {
    deepStrictEqual(
      [0, 1, 4794].map((count) => english.text('list.found', { count })),
      ['0 bots', '1 bot', '4,794 bots'],
    );
    const polish = inLocale('pl', {
      'list.found': '{count, plural, one {# bot} few {# boty} many {# botów} other {# bota}}',
    });
    deepStrictEqual(
      [1, 2, 5, 22, 1.5].map((count) => polish.text('list.found', { count })),
      ['1 bot', '2 boty', '5 botów', '22 boty', '1,5 bota'],
    );
  });

  it('shorten numbers from 10,000 on, in German too', () => {
    const shortServers =
      '{count, plural, one {{count, number, short} Server} other {{count, number, short} Server}}';
    const german = inLocale('de', { 'bot.shortServers': shortServers });
    for (const [count, short, shortInGerman] of [
      [8_700, '8,700 servers', '8.700 Server'],
      [612_400, '612K servers', '612\u00A0Tsd. Server'],
      [1_230_000, '1.2M servers', '1,2\u00A0Mio. Server'],
    ] as const) {
      strictEqual(english.text('bot.shortServers', { count }), short);
      strictEqual(german.text('bot.shortServers', { count }), shortInGerman);
    }
  });

  it('have the plural of a shortened number', () => {
    const shortServers =
      '{count, plural, one {{count, number, short} сервер} few {{count, number, short} сервера} many {{count, number, short} серверов} other {{count, number, short} сервера}}';
    const russian = inLocale('ru', { 'bot.shortServers': shortServers });
    deepStrictEqual(
      [101, 101_000, 102_000_000].map((count) => russian.text('bot.shortServers', { count })),
      ['101 сервер', '101\u00A0тыс. серверов', '102\u00A0млн серверов'],
    );
  });

  it('isolate the texts in them, so that a name from right to left leaves the sentence in order', () => {
    strictEqual(
      renderToString(<p>{english.t('list.nothingFor', { query: '<قيثارة>' })}</p>),
      '<p>No bots match “<bdi>&lt;قيثارة></bdi>”.</p>',
    );
    const arabic = inLocale('ar', { 'list.nothingFor': 'لا بوتات تطابق «{query}».' });
    strictEqual(arabic.text('list.nothingFor', { query: 'a' }), 'لا بوتات تطابق «\u2068a\u2069».');
  });

  it('take elements into their sentence', () => {
    const contact = <a href="mailto:a@example.org">a</a>;
    strictEqual(
      renderToString(<p>{english.t('layout.operator', { contact })}</p>),
      '<p>Operator: <a href="mailto:a@example.org">a</a></p>',
    );
  });

  it('are English where the language lacks them, and say so', () => {
    const german = inLocale('de');
    strictEqual(
      renderToString(<p>{german.t('list.found', { count: 2 })}</p>),
      '<p><span lang="en" dir="ltr">2 bots</span></p>',
    );
    strictEqual(german.text('list.found', { count: 2 }), '2 bots');
  });

  it('write numbers, days, times and languages as their language does', () => {
    const german = inLocale('de');
    strictEqual(english.integer(10_000_000_000), '10,000,000,000');
    strictEqual(german.integer(4794), '4.794');
    strictEqual(english.day(now), 'March 3, 2026');
    strictEqual(german.day(now), '3. März 2026');
    strictEqual(german.minute(now), '3. März 2026 um 23:59 UTC');
    strictEqual(german.languageName('fr'), 'Französisch');
  });

  it('say how long ago something was in its largest unit', () => {
    for (const { title, input, expected } of readCases('times-ago'))
      strictEqual(english.ago(now - Number(input), now), expected[0], title);
    strictEqual(inLocale('ru').ago(now - 2 * 86_400_000, now), 'позавчера');
  });

  it('say how many days ago something was, and the day of what is later', () => {
    strictEqual(english.daysAgo(now, now), 'today');
    strictEqual(english.daysAgo(now - 2 * 86_400_000, now), '2 days ago');
    strictEqual(english.daysAgo(Date.UTC(9999, 11, 31), now), 'December 31, 9999');
  });
});
