import { deepStrictEqual, doesNotMatch, match, ok, strictEqual } from 'node:assert/strict';
import { commandsPath, mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const lead = 'It plays what the stations send, day and night, and '.repeat(3);
const page = `# Radio\n\n<!-- lyrics -->\n<style>.lyrics { color: red }</style>\n${lead}[shows](https://example.org/lyrics) the **lyrics** of a song, if the station sends them along with its music and news every hour, on the hour.`;
const files = {
  [pagePath('1')]: mainPage({ name: 'Tonarm', description: 'Plays music, with lyrics and a queue.' }),
  [pagePath('2')]: mainPage({ name: 'Batucada', description: 'Radio around the clock.' }, page),
  [pagePath('3')]: mainPage({ name: 'Nota', description: 'Plays songs.' }),
  [commandsPath('3')]: JSON.stringify({ commands: [{ name: 'sing', description: 'Writes the lyrics' }] }),
  [pagePath('4')]: mainPage({ name: 'Klang', description: 'Spielt Lieder.', authors: ['1'] }),
  [pagePath('4', 'de')]: translation('Klang', 'Spielt Lieder.', 'Zeigt die Lyrics 😀 an'),
};

describe('a list of bots', () => {
  let service: TestService;
  before(async () => {
    service = await startTestService(files);
  });
  const read = async (path: string): Promise<string> =>
    await (await fetch(service.address + path, { headers: { Accept: 'text/html' } })).text();
  const namesIn = (html: string): string[] =>
    [...html.matchAll(/<(h[23])><a [^>]*>(.*?)<\/a>/g)].map(([, level, name]) => `${level} ${name}`);

  it('marks the words that matched, and counts bots that only mention them on their pages beside the others', async () => {
    const html = await read('/?q=lyrics');
    match(html, /<h1>1 bot for “lyrics”<\/h1><p>and 3 that mention it on their page<\/p>/);
    match(html, /Plays music, with <mark>lyrics<\/mark> and a queue\./);
    const [strong, mentions = ''] = html.split('<li class="divider"><h2>Mentioned on the page</h2></li>');
    deepStrictEqual(namesIn(strong ?? ''), ['h2 Tonarm']);
    deepStrictEqual(namesIn(mentions).toSorted(), ['h3 Batucada', 'h3 Klang', 'h3 Nota']);
    const found = [...mentions.matchAll(/<p class="found" lang="(..)" dir="ltr">(.*?)<\/p>/g)].map(
      ([, locale, text = '']) => `${locale} ${text.replace(/ +/g, ' ')}`,
    );
    deepStrictEqual(found.toSorted(), [
      'de Zeigt die <mark>Lyrics</mark> 😀 an',
      'en /sing Writes the <mark>lyrics</mark>',
      'en …send, day and night, and shows the <mark>lyrics</mark> of a song, if the station sends them along with its music and news every hour,…',
    ]);
  });

  it('has its own order, and all bots in its heading, where it is not sorted by match or none matches better', async () => {
    const byName = await read('/?q=lyrics&sort=name');
    strictEqual(
      namesIn(byName)
        .map((name) => name.slice(3))
        .join(' '),
      'Batucada Klang Nota Tonarm',
    );
    doesNotMatch(byName, /class="divider"/);
    const all = await read('/?q=stations');
    match(all, /<h1>1 bot for “stations”<\/h1><\/div>/);
    doesNotMatch(all, /class="divider"/);
  });

  it('is shown as rows on request, also by its filters, orders and pages, with one canonical address', async () => {
    const rows = await read('/?sort=popular&view=rows');
    match(rows, /<ul class="cards lines">/);
    match(rows, /<link rel="canonical" href="[^"?]*\/"/);
    match(
      rows,
      /href="\/\?sort=popular">Cards<.*href="\/\?sort=popular&amp;view=rows" aria-current="true">Rows</,
    );
    match(rows, /href="\/\?sort=name&amp;view=rows">Name</);
    match(rows, /href="\/\?verified=true&amp;view=rows">Verified</);
    ok((await read('/?sort=popular')).includes('<ul class="cards">'));
  });
});
