import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { anyCharacter } from '../support/arbitrary.ts';
import { alignPermissions, type InvitePermissions, readInvite } from '../../src/bot/invite.ts';

const authorize = 'https://discord.com/oauth2/authorize?client_id=7&scope=bot';
type Permissions = InvitePermissions['permissions'];
const stated = (value: string): Permissions | undefined =>
  readInvite(`${authorize}&permissions=${value}`)?.permissions;
const names = (permissions: Permissions | undefined): string[] =>
  typeof permissions === 'object' ? permissions.groups.flatMap((group) => group.permissions) : [];

describe('the permissions in an invite link', () => {
  it('are read from every form of the link', () => {
    for (const start of [
      'https://discord.com/oauth2/authorize',
      'https://discord.com/api/oauth2/authorize',
      'https://discord.com/api/v10/oauth2/authorize',
      'https://discordapp.com/oauth2/authorize',
      'https://discordapp.com/api/oauth2/authorize/',
      'https://www.discord.com/oauth2/authorize',
      'https://ptb.discord.com/oauth2/authorize',
      'https://canary.discord.com/oauth2/authorize',
    ])
      deepStrictEqual(names(readInvite(`${start}?permissions=3072&client_id=1`)?.permissions), [
        'readAndSendMessages',
      ]);
  });

  it('are nothing at all for a link of another platform or another page', () => {
    for (const invite of [
      'https://example.com/oauth2/authorize?permissions=8',
      'https://discord.com.example.org/oauth2/authorize?permissions=8',
      'https://evil-discord.com/oauth2/authorize?permissions=8',
      'https://discord.gg/abc?permissions=8',
      'https://discord.com/invite/abc?permissions=8',
      'https://t.me/homerbot?startgroup=true',
      'javascript://discord.com/oauth2/authorize?permissions=8',
      'not a link',
      '',
    ])
      strictEqual(readInvite(invite), undefined, invite);
  });

  it('are grouped, those that are dangerous if misused first', () => {
    const value = 2n ** 28n + 2n ** 2n + 2n ** 30n + 3072n + 2n ** 13n + 2n ** 14n + 2n ** 20n + 2n ** 21n;
    deepStrictEqual(stated(String(value)), {
      administrator: false,
      groups: [
        { name: 'dangerous', permissions: ['manageRoles', 'banMembers', 'manageMessages'] },
        { name: 'server', permissions: ['manageExpressions'] },
        { name: 'messages', permissions: ['readAndSendMessages', 'embedLinks'] },
        { name: 'voice', permissions: ['connectAndSpeak'] },
      ],
      unknownBits: [],
    });
  });

  it('do not claim both of a pair where the link asks for one', () => {
    deepStrictEqual(names(stated('1024')), ['viewChannels']);
    deepStrictEqual(names(stated('2048')), ['sendMessages']);
    deepStrictEqual(names(stated(String(2 ** 21))), ['speak']);
  });

  it('say whether the link asks for Administrator', () => {
    const all = stated('8');
    ok(typeof all === 'object' && all.administrator);
    deepStrictEqual(names(all), ['administrator']);
    const fullControl = (query: string): boolean | undefined =>
      readInvite(`https://discord.com/oauth2/authorize?${query}`)?.fullControl;
    deepStrictEqual(
      ['permissions=9', 'scope=bot&permissions=16', 'scope=applications.commands&permissions=8'].map(
        fullControl,
      ),
      [true, false, false],
    );
  });

  it('name what is not documented by its bit', () => {
    deepStrictEqual(stated(String(2n ** 47n + 2n ** 53n + 2n ** 63n)), {
      administrator: false,
      groups: [],
      unknownBits: [47, 53, 63],
    });
  });

  it('know every documented bit', () => {
    const undocumented = [47, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63];
    for (let bit = 0; bit < 64; bit++)
      strictEqual(names(stated(String(2n ** BigInt(bit)))).length, undocumented.includes(bit) ? 0 : 1);
  });

  it('are not stated where the link leaves them out', () => {
    for (const invite of [authorize, `${authorize}&permissions=`])
      strictEqual(readInvite(invite)?.permissions, 'absent');
  });

  it('cannot be read where the value is absurd or comes twice', () => {
    for (const value of [
      '-8',
      '1e99',
      '0x8',
      '8.0',
      '８',
      '+8',
      ' 8',
      'all',
      '8n',
      String(2n ** 64n),
      '9'.repeat(400),
      '8&permissions=0',
      '&permissions=8',
      '%00',
    ])
      strictEqual(stated(value), 'unreadable', value);
  });

  it('come with the scopes of the link, each once', () => {
    const scopes = (query: string): readonly string[] | undefined =>
      readInvite(`https://discord.com/oauth2/authorize?${query}`)?.scopes;
    deepStrictEqual(scopes('scope=bot%20applications.commands+bot&scope=email'), [
      'bot',
      'applications.commands',
      'email',
    ]);
    deepStrictEqual(scopes('client_id=1'), []);
  });

  it('have one entry for each bit, or for two, whatever the value', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }), (value) => {
        const read = stated(String(value));
        if (typeof read !== 'object') throw new Error('not read');
        const pairs = ['readAndSendMessages', 'connectAndSpeak'];
        const bits = names(read).reduce((sum, name) => sum + (pairs.includes(name) ? 2 : 1), 0);
        const asked = value.toString(2).replaceAll('0', '').length;
        strictEqual(bits + read.unknownBits.length, asked);
        strictEqual(read.administrator, (value & 8n) !== 0n);
        strictEqual(new Set(names(read)).size, names(read).length);
      }),
    );
  });

  it('are read from any text without an error @slow', () => {
    const hosts = fc.constantFrom('https://discord.com/oauth2/authorize?', 'https://discordapp.com/', '');
    const text = fc.oneof(
      fc.string({ unit: anyCharacter }),
      fc.webQueryParameters(),
      fc.double().map(String),
    );
    fc.assert(
      fc.property(hosts, text, fc.boolean(), (host, value, named) => {
        const { permissions = 'absent' } = readInvite(`${host}${named ? 'permissions=' : ''}${value}`) ?? {};
        ok(typeof permissions === 'object' || ['absent', 'unreadable'].includes(permissions));
      }),
    );
  });
});

describe('the permissions of several invite links', () => {
  const align = (...values: readonly string[]): string[] =>
    alignPermissions(values.map((value) => `${authorize}&permissions=${value}`)).flatMap(
      ({ name: group, permissions }) =>
        permissions.map(({ name, asked }) => `${group} ${name} ${asked.map(Number).join('')}`),
    );

  it('are side by side, two that are known as one thing apart where a link has one of them', () => {
    deepStrictEqual(align('3072', '3074'), ['dangerous kickMembers 01', 'messages readAndSendMessages 11']);
    deepStrictEqual(align('3072', '1024'), ['messages viewChannels 11', 'messages sendMessages 10']);
    deepStrictEqual(align('0', ''), []);
  });

  it('are all had by an administrator', () => {
    deepStrictEqual(align('8', '2', '0'), ['dangerous administrator 100', 'dangerous kickMembers 110']);
  });
});
