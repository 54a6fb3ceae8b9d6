import { deepStrictEqual, ok, strictEqual } from 'node:assert/strict';
import * as fc from 'fast-check';
import {
  alignPermissions,
  type InvitePermissions,
  isSameInvite,
  listNumbers,
  parseInvite,
  readInvite,
} from '../../src/bot/invite.ts';
import { anyCharacter } from '../support/arbitrary.ts';
import { readCases } from '../support/fixture-lines.ts';

const authorize = 'https://discord.com/oauth2/authorize?client_id=7&scope=bot';
type Permissions = InvitePermissions['permissions'] | undefined;
const stated = (value: bigint): Permissions => readInvite(`${authorize}&permissions=${value}`)?.permissions;
const names = (permissions: Permissions): string[] =>
  typeof permissions === 'object' ? permissions.groups.flatMap((group) => group.permissions) : [];
const anySet = fc.bigInt({ min: 0n, max: 2n ** 64n - 1n });

/** Returns the content of an invite link in lines; an empty list if it cannot be parsed. */
function describeInvite(link: string): string[] {
  const [invite, read] = [parseInvite(link), readInvite(link)];
  if (invite === undefined || read === undefined) return [];
  const { clients, scopes, rest } = invite;
  return [
    `permissions: ${describePermissions(read.permissions)}`,
    ...(read.fullControl ? ['full control'] : []),
    ...(clients.length > 0 ? [`clients: ${clients.join(' ')}`] : []),
    ...(scopes.length > 0 ? [`scopes: ${scopes.join(' ')}`] : []),
    ...(rest === '' ? [] : [`rest: ${rest}`]),
  ];
}

function describePermissions(permissions: Permissions): string | undefined {
  if (typeof permissions !== 'object') return permissions;
  const groups = permissions.groups.map(
    ({ subject, isHarmful, permissions: names }) => `${subject}${isHarmful ? '!' : ''}: ${names.join(' ')}`,
  );
  return [...groups, ...permissions.unknownBits.map((bit) => `bit ${bit}`)].join(', ') || 'none';
}

describe('an invite link', () => {
  for (const { input, expected } of readCases('invites'))
    it(`${expected.length > 0 ? 'is' : 'cannot be'} read from ${input}`, () =>
      deepStrictEqual(describeInvite(input), expected));

  for (const { input, expected } of readCases('numbers-in-addresses'))
    it(`has ${expected.join() || 'no number'} in ${input}`, () =>
      deepStrictEqual(listNumbers(input), expected));
});

describe('the permissions in an invite link', () => {
  it('are known by every documented bit', () => {
    const undocumented = [47, 53, 54, 55, 56, 57, 58, 59, 60, 61, 62, 63];
    for (let bit = 0; bit < 64; bit++)
      strictEqual(names(stated(2n ** BigInt(bit))).length, undocumented.includes(bit) ? 0 : 1);
  });

  it('have one entry for each bit, or for two, whatever the value', () => {
    fc.assert(
      fc.property(anySet, (value) => {
        const read = stated(value);
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

describe('two invite links', () => {
  for (const { input, expected } of readCases('same-invites'))
    it(`are compared: ${input} with others`, () => {
      for (const line of expected) {
        const [isSame, other] = [line.startsWith('='), line.slice(2)];
        deepStrictEqual([isSameInvite(input, other), isSameInvite(other, input)], [isSame, isSame], other);
      }
    });

  it('are the same where their permissions are, for any two sets of them', () => {
    const link = (set: bigint): string => `${authorize}&permissions=${set}`;
    fc.assert(fc.property(anySet, anySet, (a, b) => isSameInvite(link(a), link(b)) === (a === b)));
    fc.assert(
      fc.property(
        anySet,
        fc.nat(63),
        (set, bit) => !isSameInvite(link(set), link(set ^ (1n << BigInt(bit)))),
      ),
    );
  });

  it('are the same as themselves and either way round, whatever the texts @slow', () => {
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

describe('the permissions of several invite links', () => {
  const align = (...values: readonly string[]): string[] =>
    alignPermissions(values.map((value) => `${authorize}&permissions=${value}`)).map(
      ({ name, asked }) => `${name} ${asked.map(Number).join('')}`,
    );

  it('are side by side, two that are known as one thing apart where a link has one of them', () => {
    deepStrictEqual(align('3072', '3074'), ['kickMembers 01', 'readAndSendMessages 11']);
    deepStrictEqual(align('3072', '1024'), ['viewChannels 11', 'sendMessages 10']);
    deepStrictEqual(align('0', ''), []);
    deepStrictEqual(align('8', '2', '0'), ['administrator 100', 'kickMembers 110']);
  });
});
