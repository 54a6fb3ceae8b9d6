import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import { anyCharacter } from '../support/arbitrary.ts';
import { isSameInvite, listNumbers, parseInvite } from '../../src/bot/invite.ts';

const authorize = 'https://discord.com/oauth2/authorize';
const invite = `${authorize}?client_id=77&scope=bot+applications.commands&permissions=3072`;

describe('an invite link', () => {
  it('names the bot, its permissions and scopes, and the rest in one order', () => {
    deepStrictEqual(parseInvite(`${invite}&prompt=none&guild_id=5`), {
      clients: ['77'],
      permissions: 3072n,
      scopes: ['bot', 'applications.commands'],
      rest: 'guild_id=5&prompt=none',
    });
    deepStrictEqual(parseInvite(authorize), { clients: [], permissions: 'absent', scopes: [], rest: '' });
  });

  it('is read however its host and its path are spelled', () => {
    for (const spelled of [
      'https://discord.com./oauth2/authorize',
      'https://discord.com/%6fauth2/Authorize',
      'https://discord.com//oauth2//authorize//',
    ])
      strictEqual(parseInvite(`${spelled}?permissions=8`)?.permissions, 8n, spelled);
  });

  it('has its client among its numbers, however it is written', () => {
    for (const address of [
      invite,
      `${authorize}?client_id=077`,
      `${authorize}?client%5Fid=%377`,
      'https://discord.com/application-directory/77',
      'https://discord.com/login?redirect_to=%2Foauth2%2Fauthorize%3Fclient_id%3D77',
      'https://discord.com/login?redirect_to=%252Fauthorize%253Fclient_id%253D%2537%2537',
    ])
      deepStrictEqual(listNumbers(address), ['77'], address);
    deepStrictEqual(listNumbers('https://example.org/77'), []);
    deepStrictEqual(listNumbers('https://discord.com.example.org/77'), []);
    deepStrictEqual(listNumbers('no link'), []);
  });

  it('of another platform or page cannot be read', () => {
    for (const other of [
      'https://example.org/oauth2/authorize?client_id=77',
      'https://discord.gg/abc',
      'no link',
      '',
    ])
      strictEqual(parseInvite(other), undefined, other);
  });
});

describe('two invite links are the same', () => {
  it('where only the host, the order of the parameters, or their spelling differs', () => {
    for (const other of [
      invite,
      'https://discordapp.com/api/oauth2/authorize?permissions=3072&scope=applications.commands%20bot&client_id=77',
      'https://canary.discord.com/api/v10/oauth2/authorize/?scope=bot&client_id=77&permissions=003072&scope=applications.commands%20bot#x',
    ])
      ok(isSameInvite(invite, other), other);
  });

  it('but not where they add another bot, ask for more or less, or have another parameter', () => {
    for (const query of [
      'client_id=78&scope=bot+applications.commands&permissions=3072',
      'client_id=077&scope=bot+applications.commands&permissions=3072',
      'client_id=77&client_id=78&scope=bot+applications.commands&permissions=3072',
      'scope=bot+applications.commands&permissions=3072',
      'client_id=77&scope=bot+applications.commands&permissions=8',
      'client_id=77&scope=bot+applications.commands&permissions=0',
      'client_id=77&scope=bot+applications.commands&permissions=all',
      'client_id=77&scope=bot+applications.commands&permissions=3072&permissions=8',
      'client_id=77&scope=bot+applications.commands',
      'client_id=77&scope=bot&permissions=3072',
      'client_id=77&scope=bot+applications.commands+email&permissions=3072',
      'client_id=77&scope=bot+applications.commands&permissions=3072&Permissions=8',
      'client_id=77&scope=bot+applications.commands&permissions=3072&redirect_uri=https://example.org/',
    ])
      ok(!isSameInvite(invite, `${authorize}?${query}`), query);
    for (const other of [invite.replace('discord.com', 'discord.example.org'), '', 'no link'])
      ok(!isSameInvite(invite, other) && !isSameInvite(other, invite), other);
  });

  it('where one cannot be read, only with the same text', () => {
    for (const [a, b] of [
      ['https://example.org/invite?a=1&b=2', 'https://example.org/invite?b=2&a=1'],
      [`${authorize}?client_id=77&permissions=8n`, `${authorize}?client_id=77&permissions=9n`],
      [`${authorize}?permissions=0&permissions=0`, `${authorize}?permissions=8&permissions=8`],
    ] as const) {
      ok(isSameInvite(a, a));
      ok(!isSameInvite(a, b), b);
    }
  });

  it('where their permissions are, for any two sets of them', () => {
    const permissions = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });
    const link = (set: bigint): string => `${authorize}?client_id=77&scope=bot&permissions=${set}`;
    fc.assert(
      fc.property(permissions, permissions, (a, b) => {
        strictEqual(isSameInvite(link(a), link(b)), a === b);
      }),
    );
    fc.assert(
      fc.property(permissions, fc.nat(63), (set, bit) => {
        ok(!isSameInvite(link(set), link(set ^ (1n << BigInt(bit)))));
      }),
    );
  });

  it('as themselves and either way round, whatever the texts @slow', () => {
    const text = fc.oneof(
      fc.webUrl({ withQueryParameters: true }),
      fc.webQueryParameters().map((query) => `${authorize}?${query}`),
      fc.string({ unit: anyCharacter }),
    );
    fc.assert(
      fc.property(text, text, (a, b) => {
        ok(isSameInvite(a, a));
        strictEqual(isSameInvite(a, b), isSameInvite(b, a));
      }),
    );
  });
});
