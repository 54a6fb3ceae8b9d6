import { deepStrictEqual, match, ok, strictEqual, throws } from 'node:assert/strict';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import { Languages } from '../../../src/site/language/languages.ts';
import { type Locale, chooseLocale } from '../../../src/bot/locale.ts';
import { readCases } from '../../support/fixture-lines.ts';
import { type RecordedLog, recordedLog } from '../../support/recorded-log.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const english = { 'card.percent': '{change, number, percent}', 'layout.add': 'Add a bot' };
const files = {
  'en.json': JSON.stringify(english),
  'de.json': JSON.stringify({ ...english, 'layout.add': 'Bot hinzufügen' }),
  'ar.json': JSON.stringify({ ...english, 'layout.add': 'أضف بوتًا' }),
  'pt-BR.json': JSON.stringify({ ...english, 'layout.add': 'Adicionar um bot' }),
};

function open(
  texts: Readonly<Record<string, string>> = files,
  settings = toSettings(),
): { languages: Languages; log: RecordedLog } {
  const folder = tempFolder(texts);
  const log = recordedLog();
  return { languages: new Languages(log, () => settings, undefined, '', folder), log };
}

describe('the languages of the interface', () => {
  it('are those of the files, English first', () => {
    deepStrictEqual(open().languages.locales, ['en', 'ar', 'de', 'pt-BR']);
  });

  for (const { title, input, expected } of readCases('interface-languages'))
    it(title, () => {
      const [requested, accepted = '', language] = input
        .split(' | ')
        .map((text) => (text === '-' ? '' : text));
      const { languages } = open(files, toSettings(language ? { language } : {}));
      strictEqual(
        languages.choose((requested || undefined) as Locale | undefined, accepted).locale,
        expected[0],
      );
    });

  it('show texts of the catalogue in those of the reader, of the catalogue, English, or else the first', () => {
    const { languages } = open(files, toSettings({ language: 'eo' }));
    const choose = (accepted: string, ...available: string[]): string | undefined =>
      chooseLocale(available as Locale[], languages.choose(undefined, accepted).wanted);
    strictEqual(choose('ru, ar', 'ja', 'eo', 'en', 'ar'), 'ar');
    strictEqual(choose('ru, ar', 'ja', 'zh-CN', 'en', 'eo'), 'eo');
    strictEqual(choose('ru, ar', 'ja', 'zh-CN', 'en'), 'en');
    strictEqual(choose('ru, *', 'ja', 'zh-CN', 'en-GB'), 'en-GB');
    strictEqual(choose('ru, ar', 'ja', 'zh-CN'), 'ja');
    strictEqual(choose('', 'ja', 'en'), 'ja', 'a client that names none');
  });

  it('do without a file that is not JSON, which is logged', () => {
    for (const text of ['{"layout.add": "Bot hin', 'null', '']) {
      const { languages, log } = open({ ...files, 'de.json': text });
      deepStrictEqual(languages.locales, ['en', 'ar', 'pt-BR']);
      strictEqual(languages.choose('de' as Locale, '').text('layout.add'), 'Add a bot');
      match(log.lines.join('\n'), /warn: locales\/de\.json is not a JSON object; this language is left out/);
    }
  });

  it('show English for a message that lacks a placeholder, and log which, once', () => {
    const broken = { ...english, 'card.percent': 'Prozent', 'layout.add': 'Bot hinzufügen' };
    const { languages, log } = open({ ...files, 'de.json': JSON.stringify(broken) });
    for (let i = 0; i < 2; i++) {
      const { text } = languages.choose(undefined, 'de');
      strictEqual(text('card.percent', { change: 0.25 }), '25%');
      strictEqual(text('layout.add'), 'Bot hinzufügen');
    }
    deepStrictEqual(log.lines, [
      'warn: locales/de.json: "card.percent" lacks the placeholder {change, number}; the text is in English instead',
    ]);
  });

  it('write dates as the reader’s region does, with no more forms than regions differ in', () => {
    const { languages } = open(files);
    const time = Date.UTC(2026, 0, 22);
    const dayFor = (accepted: string, requested?: string): string =>
      languages.choose(requested as Locale | undefined, accepted).day(time);
    for (const american of ['', 'en', 'en-US, en-GB', 'en-XX', 'ja-JP', 'en-QQ;q=0.5, en-GB;q=0.1'])
      strictEqual(dayFor(american), 'January 22, 2026', american);
    for (const british of ['en-GB, en-US;q=0.8', 'fr-GB, en-AU;q=0.5', 'en-ie'])
      strictEqual(dayFor(british), '22 January 2026', british);
    strictEqual(dayFor('en-US', 'en-GB'), '22 January 2026');
    strictEqual(dayFor('de-AT'), '22. Jänner 2026');
    strictEqual(dayFor('ar-EG'), dayFor('ar'));
    const regions = Array.from({ length: 26 * 26 }, (_, i) =>
      String.fromCharCode(65 + Math.floor(i / 26), 65 + (i % 26)),
    );
    const forms = new Set(regions.map((region) => languages.choose(undefined, `en-${region}`).datesTag));
    ok(forms.size > 1 && forms.size < 12, [...forms].join(' '));
  });

  it('need the English file', () => {
    throws(() => open({ ...files, 'en.json': '{' }), /en\.json cannot be read/);
  });
});
