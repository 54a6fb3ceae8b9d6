import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const option = { type: 3, name: 'title', name_localizations: { 'en-GB': 'song' } };
const play = {
  type: 1,
  name: 'play',
  description: 'Spielt',
  description_localizations: { 'en-US': 'Plays', fr: 'Joue' },
  options: [
    { ...option, required: true },
    { type: 3, name: 'voice' },
  ],
};
const commands = [
  ...Array.from({ length: 60 }, (_, i) => ({ name: `c${i}`, description: 'Counts' })),
  { name: 'music', nsfw: true, options: [{ type: 2, name: 'do', options: [play] }] },
  { type: 3, name: '<Quote>' },
];

describe('the page with the commands of a bot', function () {
  this.timeout(30_000);
  let service: TestService;
  before(async () => {
    service = await startTestService({
      [pagePath('7')]: mainPage(),
      [pagePath('7', 'fr')]: translation('Homère', 'Répond.'),
      [commandsPath('7')]: JSON.stringify({ commands }),
      [pagePath('8')]: mainPage(),
    });
  });

  const get = async (path: string): Promise<Response> =>
    await fetch(service.address + path, { headers: { Accept: 'text/html' } });
  const read = async (query: string): Promise<string> => await (await get(`/bots/7/commands${query}`)).text();
  const rowsOf = (html: string): string[] =>
    Array.from(html.matchAll(/<td class="stay">(.*?)<\/tr>/g), ([, row = '']) =>
      row
        .replaceAll(/<\/td>/g, ' | ')
        .replaceAll(/<.*?>/g, '')
        .replaceAll(/ +/g, ' '),
    );

  it('has them as they are typed, in the language of the reader, 50 at a time', async () => {
    const first = await read('');
    match(first, /<title>Commands · Homer · Botshelf<\/title>/);
    match(first, /<h1 id="commands">Commands<\/h1><p>62 commands<\/p>/);
    strictEqual(rowsOf(first).length, 50);
    match(first, /<a class="button quiet" rel="next" href="\/bots\/7\/commands\?page=2">/);
    const second = await read('?page=2');
    deepStrictEqual(rowsOf(second).slice(-2), [
      '/music do play song [voice] | 18+ Plays | ',
      '&lt;Quote> | | ',
    ]);
    const french = await read('?page=2&locale=fr');
    match(french, /<bdi>Homère<\/bdi>[^]*<h1 id="commands">Commandes</);
    match(french, /<span dir="auto" lang="fr"><span class="tag adult">18\+<\/span> Joue</);
  });

  it('searches all of them without a script', async () => {
    const found = await read('?q=SONG%20play');
    deepStrictEqual(rowsOf(found), ['/music do play song [voice] | 18+ Plays | ']);
    match(found, /<input id="find" type="search" name="q" value="SONG play"/);
    strictEqual(rowsOf(await read('?q=counts&page=2')).length, 10);
    match(await read('?q=counts'), /href="\/bots\/7\/commands\?q=counts&amp;page=2"/);
    const nothing = await read('?q=%3Cb%3E');
    match(nothing, /Nothing matches “<bdi>&lt;b><\/bdi>”/);
    doesNotMatch(nothing, /<table/);
  });

  it('is not there for a bot whose commands are not known, nor after the last page', async () => {
    strictEqual((await get('/bots/8/commands')).status, 404);
    strictEqual((await get('/bots/7/commands?page=3')).status, 404);
    strictEqual((await get('/bots/9/commands')).status, 404);
  });
});
