import { match, ok, strictEqual } from 'node:assert/strict';
import { mainPage, pagePath, translation } from '../../support/sample.ts';
import { startTestService, type TestService } from '../../support/service.ts';

const authorize = 'https://discord.com/oauth2/authorize?client_id=1';
const invite = `${authorize}&scope=bot&permissions=`;
const files = {
  [pagePath('1')]: mainPage({ name: 'Powerful', invite: `${invite}8` }),
  [pagePath('2')]: mainPage({ name: 'Modest', invite: `${invite}2050`, codehost: { owner: 'a', repo: 'b' } }),
  [pagePath('2', 'fr')]: translation('Modeste', 'Modeste.', ''),
  [pagePath('3')]: mainPage({ name: 'Reader', invite: `${invite}1024` }),
  [pagePath('4')]: mainPage({ name: 'Silent', invite: authorize }),
  [pagePath('5')]: mainPage({ name: 'Commands', invite: `${authorize}&scope=applications.commands` }),
};

describe('the comparison of bots', function () {
  this.timeout(30_000);
  let service: TestService;
  before(async () => {
    service = await startTestService(files);
  });

  const read = async (query: string): Promise<string> => {
    const response = await fetch(`${service.address}/compare${query}`);
    strictEqual(response.status, 200);
    return await response.text();
  };
  /** Returns the texts of the cells in the row of this name. */
  const row = (html: string, name: string): string => {
    const [, cells = ''] =
      new RegExp(`<th scope="row" role="rowheader">${name}</th>(.*?)</tr>`).exec(html) ?? [];
    return [...cells.matchAll(/<td [^>]*>(.*?)<\/td>/g)]
      .map(([, cell = '']) => cell.replaceAll(/<span [^>]*aria-hidden.*?<\/span>|<.*?>/g, ''))
      .join(' | ');
  };

  it('has them side by side: what differs first, a warning for full control, a way to add each', async () => {
    const html = await read('?bots=1,2,3');
    strictEqual(row(html, 'Administrator'), 'Full control | No | No');
    match(html, /<td role="cell" class="alarm"><span class="warning">Full control/);
    strictEqual(row(html, 'To members'), 'All | Kick members | Nothing');
    strictEqual(row(html, 'To the server'), 'All | Nothing | Nothing');
    strictEqual(row(html, 'Kick members'), 'Yes | Yes | No');
    strictEqual(row(html, 'Language'), 'English | English and French | English');
    strictEqual(row(html, 'Open source'), 'No | Yes | No');
    match(html, /<meta name="robots" content="noindex/);
    match(
      html,
      /<th class="cat cat-\w+" scope="col" role="columnheader">.*?<a href="\/bots\/1"[^>]*>Powerful<\/a>/,
    );
    strictEqual(html.match(/>Add to server</g)?.length, 3);
  });

  it('folds what is the same for all, and leaves out what is known of none', async () => {
    const html = await read('?bots=1,3');
    const [, same = ''] = /<summary>Same for all \(\d\)<\/summary>(.*?)<\/details>/.exec(html) ?? [];
    match(same, /<dt>Category<\/dt><dd>[^<]+<\/dd>/);
    strictEqual(row(html, 'Category'), '');
    ok(!html.includes('>Servers<'));
  });

  it('does not say that a bot asks for nothing where its link does not say it', async () => {
    strictEqual(row(await read('?bots=2,4'), 'Kick members'), 'Yes | Not stated');
    strictEqual(row(await read('?bots=2,4'), 'To members'), 'Kick members | Not stated');
    strictEqual(row(await read('?bots=2,5'), 'Kick members'), 'Yes | No');
  });

  it('takes the bots of a form, names what is not there, and shows four', async () => {
    const html = await read(`?bots=1&bots=2&bots=${'9'.repeat(20)}&bots=%3Cb%3E&locale=fr`);
    match(html, /99999999999999999999, &lt;b>/);
    match(html, />Modeste<\/a>/);
    const named = await read('?bots=1&bots=modes');
    match(named, /name="bots" value="1"[^]*id="another"/);
    ok(!named.includes('Not in this list'));
    match(
      await read(''),
      /Two to four bots can be compared[^]*autofocus[^]*<h3><a href="\/bots\/\d"[^]*form="ticked"/,
    );
    const five = await read('?bots=1,2,3,4,5');
    ok(five.includes('>Silent<') && !five.includes('Not in this list'));
    match(five, /Only the first 4 bots are compared/);
  });

  it('shows a text that is cut within a sign of two halves', async () => {
    match(await read(`?bots=1,${'x'.repeat(59)}😀`), /x{59}�/);
  });

  it('is where the page of a bot leads', async () => {
    const html = await (await fetch(`${service.address}/bots/1`)).text();
    const [, path = ''] = /href="\/compare(\?bots=[^"]*)"/.exec(html) ?? [];
    match(await read(path), /Powerful/);
  });
});
