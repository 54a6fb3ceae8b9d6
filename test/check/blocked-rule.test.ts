import { deepStrictEqual, match } from 'node:assert/strict';
import { parsePageFile, type PageFile } from '../../src/catalogue/page/page-file.ts';
import { type Blocked, nothingBlocked } from '../../src/catalogue/settings/blocked.ts';
import { checkBlocked } from '../../src/check/check.ts';
import type { Locale } from '../../src/bot/locale.ts';
import { botId, mainPage, translation } from '../support/sample.ts';

const id = botId('77');
const blocked: Blocked = {
  accounts: { 5: { reason: 'Sells accounts' }, 6: {} },
  bots: { 77: {} },
  hosts: { 'bad.example': {} },
};

function files(...texts: string[]): PageFile[] {
  return texts.map((text, i) =>
    parsePageFile({ id, locale: (['en', 'fr'] as Locale[])[i] as Locale }, Buffer.from(text)),
  );
}

function check(pages: readonly PageFile[], who = blocked): string[] {
  return checkBlocked(pages, who, true).map(({ message, line }) => `${line} ${message.split(':')[0]}`);
}

describe('what is blocked', () => {
  it('is found in the id of a bot, its authors, and its addresses, however deep, each at its line', () => {
    const page = mainPage({
      authors: ['4', '5', '6'],
      support: 'https://www.bad.example./x',
      images: { avatar: null, preview: ['https://good.example/', 'https://bad.example/a.png'] },
    });
    const lineOf = (text: string): number => page.slice(0, page.indexOf(text)).split('\n').length;
    deepStrictEqual(check(files(page)), [
      '2 the bot 77 is blocked',
      `${lineOf('"5"')} the account 5 is blocked (Sells accounts)`,
      `${lineOf('"6"')} the account 6 is blocked`,
      `${lineOf('https://www.bad')} the host bad.example is blocked`,
      `${lineOf('https://bad.example/a')} the host bad.example is blocked`,
    ]);
  });

  it('is found under another id of the page, by the OAuth client of the invite link or of the bot itself', () => {
    const bots = { ...blocked, bots: { 78: {} } };
    const invite = 'https://discord.com/oauth2/authorize?scope=bot&client_id=78';
    const spelled = 'https://discord.com./login?redirect_to=%2Foauth2%2Fauthorize%3Fclient_id%3D078';
    const keys = [{ invite }, { invite: spelled }, { oauth: '78' }, { website: invite }];
    const isBlocked = ['the bot 78 is blocked'];
    deepStrictEqual(
      keys.map((values) => check(files(mainPage(values)), bots).map((text) => text.replace(/^\d+ /, ''))),
      [isBlocked, isBlocked, isBlocked, []],
    );
  });

  it('is no account of which only the name or another key has the id', () => {
    deepStrictEqual(check(files(mainPage({ name: '5', oauth: '5' })), { ...blocked, bots: {} }), []);
  });

  it('is looked for on the main page, where there is one, and says no reason where that is not public', () => {
    const french = translation('Homère', 'Répond.');
    deepStrictEqual(check(files(mainPage(), french)), ['2 the bot 77 is blocked']);
    deepStrictEqual(check(files('no page', mainPage())), ['2 the bot 77 is blocked']);
    deepStrictEqual(check(files('no page', french)), []);
    deepStrictEqual(check(files(mainPage({ authors: ['5'] })), nothingBlocked), []);
    const [fault] = checkBlocked(files(mainPage()), blocked, false);
    match(fault?.message ?? '', /^this list takes nothing with the bot 77/);
  });
});
