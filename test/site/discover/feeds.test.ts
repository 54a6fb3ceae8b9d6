import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { AuthorIndex } from '../../../src/catalogue/lists/authors.ts';
import { MutableBotIndex } from '../../../src/catalogue/store/bot-store.ts';
import { CurrentCache } from '../../../src/lib/current-cache.ts';
import { makeFeed } from '../../../src/site/discover/feeds.ts';
import { testLanguages } from '../../support/languages.ts';
import { sampleBot } from '../../support/sample-bot.ts';
import { childrenOf, parseXml, textsOf } from '../../support/xml.ts';

const ada = { name: 'Ada', website: null, description: {} };

const common = {
  authors: new AuthorIndex(new MutableBotIndex(), { files: new Map([['1.json', ada]]) }, new CurrentCache()),
  name: 'Botshelf',
  title: 'New bots',
  path: '/feeds/new.atom',
  page: '/?sort=newest',
  baseUrl: 'https://bots.example.org',
  messages: testLanguages.choose(undefined, 'en'),
};

describe('a feed', () => {
  it('has what Atom requires, and an entry for each bot in its own language', () => {
    const bots = [
      sampleBot(
        '8',
        { fr: ['Huit', 'Répond.'], en: ['Eight', 'x'] },
        { category: 'music', authors: ['2', '1', '3'], created: 5000, edited: 9000 },
      ),
      sampleBot('7', undefined, { authors: ['2'], created: 1000, edited: 2000 }),
    ];
    const root = parseXml(makeFeed({ ...common, bots }).body.toString());
    strictEqual(root.name, 'feed');
    strictEqual(root.namespace, 'http://www.w3.org/2005/Atom');
    deepStrictEqual(textsOf(root, 'id'), ['urn:botshelf:feed:/feeds/new.atom']);
    deepStrictEqual(textsOf(root, 'title'), ['New bots · Botshelf']);
    deepStrictEqual(textsOf(root, 'updated'), ['1970-01-01T00:00:09.000Z']);
    deepStrictEqual(
      childrenOf(root, 'author').flatMap((author) => textsOf(author, 'name')),
      ['Botshelf'],
    );
    deepStrictEqual(
      childrenOf(root, 'link').map(({ attributes }) => [attributes['rel'], attributes['href']]),
      [
        ['self', 'https://bots.example.org/feeds/new.atom'],
        ['alternate', 'https://bots.example.org/?sort=newest'],
      ],
    );
    const [entry] = childrenOf(root, 'entry');
    if (entry === undefined) throw new Error('no entry');
    strictEqual(entry.attributes['xml:lang'], 'fr');
    deepStrictEqual(
      ['id', 'title', 'summary', 'published', 'updated'].map((name) => textsOf(entry, name)[0]),
      ['urn:botshelf:bot:8:5000', 'Huit', 'Répond.', '1970-01-01T00:00:05.000Z', '1970-01-01T00:00:09.000Z'],
    );
    deepStrictEqual(childrenOf(entry, 'category')[0]?.attributes, { term: 'music', label: 'Music' });
    strictEqual(childrenOf(root, 'entry').length, 2);
  });
});
