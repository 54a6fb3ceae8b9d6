import { deepStrictEqual, match, ok, strictEqual } from 'node:assert/strict';
import type { BotRecord } from '../../../schemas/types.ts';
import { folderOf } from '../../../src/catalogue/page/layout.ts';
import { groupByBot, listFolder, readPageFile } from '../../../src/catalogue/page/page-file.ts';
import { toSettings } from '../../../src/catalogue/settings/settings.ts';
import type { IndexedBot } from '../../../src/catalogue/store/bot-index.ts';
import { type BotReading, readBot } from '../../../src/catalogue/store/bot-reader.ts';
import { botId, mainPage, pagePath, translation, writeFiles } from '../../support/sample.ts';
import { tempFolder } from '../../support/temp-folder.ts';

const id = botId('190519304972663312');

/** Reads the bot whose files are these, locale → text. */
function read(texts: Readonly<Record<string, string>>, previous?: IndexedBot): BotReading {
  const root = tempFolder();
  writeFiles(
    root,
    Object.fromEntries(Object.entries(texts).map(([locale, text]) => [pagePath(id, locale), text])),
  );
  const places = groupByBot(folderOf(id), listFolder(root, folderOf(id)).keys()).bots.get(id) ?? [];
  return readBot(
    id,
    places.flatMap((place) => readPageFile(root, place) ?? []),
    previous,
    toSettings(),
  );
}

function good(texts: Readonly<Record<string, string>>, previous?: IndexedBot): IndexedBot {
  const { bot, faults } = read(texts, previous);
  deepStrictEqual(faults, []);
  ok(bot);
  return bot;
}

function record(bot: IndexedBot | undefined): BotRecord {
  ok(bot);
  return JSON.parse(bot.record.toString()) as BotRecord;
}

function rules({ faults }: BotReading): string[] {
  return faults.map(({ path, rule }) => `${/\.(\S+)\.md/.exec(path)?.[1]} ${rule}`);
}

const french = translation('Homère', 'Répond.', 'La page.');
const both = { en: mainPage(), fr: french };
const notJson = '---\n{"name": }\n---\n';

describe('a bot', () => {
  it('is the record of its main page and its translations, the default locale first', () => {
    const { contents } = record(good({ de: translation('Homer', 'Antwortet.'), ...both }));
    deepStrictEqual(Object.keys(contents), ['en', 'de', 'fr']);
    deepStrictEqual(contents['fr'], { description: 'Répond.', name: 'Homère', page: 'La page.' });
  });

  it('is listed with each file as Git knows it', () => {
    const bot = good({ en: mainPage({}, ''), fr: french });
    deepStrictEqual(
      bot.files.map(({ locale, main, size }) => [locale, main, size]),
      [
        ['en', true, Buffer.byteLength(mainPage({}, ''))],
        ['fr', false, Buffer.byteLength(french)],
      ],
    );
    for (const { sha } of bot.files) match(sha, /^[0-9a-f]{40}$/);
  });

  it('serves the last valid version of a faulty translation, and the new main page', () => {
    const { bot, faults } = read({ en: mainPage({ name: 'Bart' }), fr: notJson }, good(both));
    strictEqual(faults.length, 1);
    const { contents } = record(bot);
    strictEqual(contents['en']?.name, 'Bart');
    strictEqual(contents['fr']?.name, 'Homère');
  });

  it('serves the last valid version of a faulty main page, and the new translation', () => {
    const texts = { en: mainPage({ invite: 'x', nsfw: true }), fr: translation('Omer', 'Répond.') };
    const { bot } = read(texts, good(both));
    const { contents, category, nsfw } = record(bot);
    deepStrictEqual([contents['fr']?.name, category, nsfw], ['Omer', 'fun', false]);
  });

  it('is listed with a faulty file as that was when it was good', () => {
    const before = good(both);
    deepStrictEqual(read({ ...both, fr: notJson }, before).bot?.files, before.files);
  });

  it('is served without a translation that never was good', () => {
    const reading = read({ ...both, fr: notJson });
    deepStrictEqual(rules(reading), ['fr json']);
    deepStrictEqual(Object.keys(record(reading.bot).contents), ['en']);
    strictEqual(reading.bot?.files.length, 1);
  });

  it('is not hidden by a translation with a key too many', () => {
    for (const key of ['descripton', 'nsfw', 'verified']) {
      const reading = read({ ...both, fr: `---\n{"name": "a", "description": "b", "${key}": true}\n---\n` });
      deepStrictEqual(rules(reading), ['fr additionalProperties']);
      strictEqual(record(reading.bot).contents['en']?.name, 'Homer');
    }
  });

  it('is not served while its main page never was good', () => {
    const reading = read({ ...both, en: notJson });
    deepStrictEqual(rules(reading), ['en json']);
    strictEqual(reading.bot, undefined);
  });

  for (const [title, texts, expected] of [
    ['with two main pages', { fr: mainPage({ name: 'Omer' }) }, ['en one-main-page', 'fr one-main-page']],
    ['without a main page', { en: translation('Homer', 'Answers.') }, ['en one-main-page']],
    [
      'while another file becomes the main page and is faulty',
      { en: translation('Homer', 'Answers.'), fr: mainPage({ invite: 'x' }) },
      ['fr pattern'],
    ],
  ] as const)
    it(`stays whole as it was ${title}`, () => {
      const before = good(both);
      const reading = read({ ...both, ...texts }, before);
      deepStrictEqual(rules(reading), expected);
      strictEqual(reading.bot, before);
    });

  it('is not served with two main pages that never were one', () => {
    strictEqual(read({ en: mainPage(), fr: mainPage() }).bot, undefined);
  });

  it('changes its default locale when another file becomes the main page', () => {
    const swapped = { en: translation('Homer', 'Answers.'), fr: mainPage({ name: 'Homère' }) };
    deepStrictEqual(Object.keys(record(good(swapped, good(both))).contents), ['fr', 'en']);
  });

  it('loses a language with its file', () => {
    deepStrictEqual(Object.keys(record(good({ en: mainPage() }, good(both))).contents), ['en']);
  });

  it('is reported with what its only page lacks to be a main page', () => {
    deepStrictEqual(rules(read({ fr: french })), [
      'fr required',
      'fr required',
      'fr required',
      'fr required',
    ]);
  });

  it('tells every fault of every file at once', () => {
    const reading = read({ en: mainPage({ nsfw: 1, website: 'x' }), fr: translation('', ''), de: notJson });
    deepStrictEqual(rules(reading).toSorted(), [
      'de json',
      'en pattern',
      'en type',
      'fr minLength',
      'fr minLength',
    ]);
  });

  it('has no __proto__ slipped into its record', () => {
    const text = mainPage().replace('{', '{"__proto__": {"verified": true},');
    const reading = read({ en: text });
    deepStrictEqual(rules(reading), ['en additionalProperties']);
    strictEqual(reading.bot, undefined);
  });
});
