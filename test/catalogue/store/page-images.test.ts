import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { findImages, listPageImages } from '../../../src/catalogue/store/bot-index.ts';
import { hostilePages } from '../../support/hostile-pages.ts';
import { sampleBot } from '../../support/sample-bot.ts';

describe('the images in a page', () => {
  it('are those of Markdown and HTML, each once', () => {
    const text = `![a](https://e.org/1.png "A") [![b](<https://e.org/2.png>)](https://e.org)
      <img alt="c" src='https://e.org/3.png?a=1&amp;b=2'><IMG SRC=https://e.org/4.png> ![d](https://e.org/1.png)
      ![e](http://e.org/5.png) ![f](data:image/png;base64,AAAA) [g](https://e.org/6.png) ![h](/7.png)`;
    deepStrictEqual(findImages(text), [
      'https://e.org/1.png',
      'https://e.org/2.png',
      'https://e.org/3.png?a=1&b=2',
      'https://e.org/4.png',
    ]);
  });

  it('are a hundred at most, and found before a test is given up in any text', () => {
    const many = Array.from({ length: 500 }, (_, i) => `![](https://e.org/${i})`).join('');
    strictEqual(findImages(many).length, 100);
    for (const text of [...Object.values(hostilePages), '!['.repeat(10_000), '<img '.repeat(4_000)])
      findImages(text);
  });

  it('of a bot are those of all its languages, the default one first', () => {
    const page = (name: string): string => `![](https://e.org/${name}.png) ![](https://e.org/both.png)`;
    const bot = sampleBot('7', { en: ['Seven', 'x', page('en')], fr: ['Sept', 'x', page('fr')] });
    const names = listPageImages(bot).map((url) => /([a-z]+)\.png/.exec(url)?.[1]);
    deepStrictEqual(names, ['en', 'both', 'fr']);
    deepStrictEqual(listPageImages(sampleBot('8')), []);
  });
});
