import { notStrictEqual, strictEqual } from 'node:assert/strict';
import { toInviteKey, toNameKey } from '../../src/bot/likeness.ts';

describe('two names are alike', () => {
  it('without case, accents, width, blanks and what cannot be seen', () => {
    for (const name of ['Homér Bot', 'HOMER  BOT', 'homerbot', 'Ｈｏｍｅｒ Bot', 'Ho\u200bmer Bot'])
      strictEqual(toNameKey(name), 'homerbot');
    strictEqual(toNameKey('Straße'), toNameKey('STRASSE'));
    notStrictEqual(toNameKey('Homer'), toNameKey('Homer 2'));
  });

  it('with letters and digits of other scripts that look the same', () => {
    for (const name of ['МоdВоt', 'm0dbot', 'ΜODΒΟΤ', 'rnodbot', 'ｍｏｄｂｏｔ'])
      strictEqual(toNameKey(name), toNameKey('ModBot'), name);
    for (const name of ['MaiI', 'Mai1', 'Maı|', 'mall'])
      strictEqual(toNameKey(name), toNameKey('Mail'), name);
    strictEqual(toNameKey('НОВЫЙ'), toNameKey('новый'));
    notStrictEqual(toNameKey('Modbot'), toNameKey('Madbot'));
  });
});

describe('two invites are alike', () => {
  it('when they name the same client of the same host', () => {
    const key = toInviteKey('https://discord.com/oauth2/authorize?client_id=77&scope=bot');
    for (const invite of [
      'https://discordapp.com/oauth2/authorize?permissions=8&client_id=77',
      'https://www.discord.com/api/oauth2/authorize?client_id=77#x',
      'https://ptb.discord.com/oauth2/authorize/?client_id=77',
      'https://discord.com./oauth2/authorize?client_id=077',
    ])
      strictEqual(toInviteKey(invite), key);
    notStrictEqual(toInviteKey('https://discord.com/oauth2/authorize?client_id=78'), key);
    notStrictEqual(toInviteKey('https://chat.example.org/oauth2/authorize?client_id=77'), key);
  });

  it('when they name none and have the same host, path and query', () => {
    strictEqual(
      toInviteKey('https://WWW.example.org/add/?b=1&a=2'),
      toInviteKey('https://example.org/add?a=2&b=1'),
    );
    notStrictEqual(
      toInviteKey('https://example.org/add?bot=1'),
      toInviteKey('https://example.org/add?bot=2'),
    );
    strictEqual(toInviteKey('no address'), undefined);
    // A pattern that looks for the end from each slash would take a minute.
    const slashes = '/'.repeat(400_000);
    strictEqual(toInviteKey(`https://example.org${slashes}x`), `example.org${slashes}x`);
    strictEqual(toInviteKey(`https://example.org/x${slashes}`), 'example.org/x');
  });
});
