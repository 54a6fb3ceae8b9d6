import { deepStrictEqual, strictEqual } from 'node:assert/strict';
import { silentLog } from '../../src/lib/log.ts';
import { KeyRing, LogOuts, Sessions } from '../../src/login/login.ts';
import { noLogOuts } from '../support/no-log-outs.ts';
import { accountId } from '../support/sample.ts';
import { tempFolder } from '../support/temp-folder.ts';
import type { Target } from './fuzzer.ts';
import { jsonWords, split } from './words.ts';

/**
 * Cookies put together from those of sessions: `$a0` to `$a4` are the parts of a valid one, `$b…` of one of another purpose,
 * `$c…` of another secret, `$d…` of a session that a log-out ended, `$a3^9` has its ninth bit flipped, and `<…>` is Base64. None opens but the valid one, however it is spelt.
 */
export async function openSession(): Promise<Target> {
  const [keys, issuer] = [new KeyRing(['a-secret-of-the-tests-which-is-long-enough']), 'https://example.org'];
  const logOuts = new LogOuts({ folder: tempFolder(), log: silentLog });
  const sessions = new Sessions(keys, issuer, logOuts);
  const account = { id: accountId('42'), name: 'Marge', authenticatedAt: Date.now() };
  const others = new Sessions(
    new KeyRing(['another-secret-of-the-tests-which-is-long']),
    issuer,
    noLogOuts(),
  );
  const ended = (await sessions.begin(account)).text;
  await sessions.end(ended);
  const cookies: Readonly<Record<string, string[]>> = {
    a: (await sessions.begin(account)).text.split('.'),
    b: (await keys.seal('login', { ...account, loggedInAt: Date.now() }, 600)).split('.'),
    c: (await others.begin(account)).text.split('.'),
    d: ended.split('.'),
  };
  const valid = (cookies['a'] ?? []).map((part) => Buffer.from(part, 'base64url').toString('hex'));
  return {
    words: [
      ...jsonWords,
      ...['a', 'b', 'c', 'd'].flatMap((name) => [0, 1, 2, 3, 4].map((i) => `$${name}${i}`)),
      ...split(
        '. ^ ^1 <{"alg":"dir","enc":"A256GCM"}> <{"alg":"none"}> "zip":"DEF" "kid": "kid":{"toString":0} "crit":["exp"] "alg":"A256KW" "alg":"PBES2-HS256+A128KW","p2c":1 "enc":"A128CBC-HS256" $a0.$a1.$a2.$a3.$a4 $d0.$d1.$d2.$d3.$d4',
      ),
    ],
    libraries: ['jose'],
    maxLength: 400,
    test: async (input) => {
      const text = input
        .toString('latin1')
        .replaceAll(/<([^<>]*)>/g, (_, json: string) => Buffer.from(json, 'latin1').toString('base64url'))
        .replaceAll(/\$([abcd])([0-4])(?:\^(\d{1,4}))?/g, (_, name: string, i: string, bit?: string) => {
          const bytes = Buffer.from(cookies[name]?.[Number(i)] ?? '', 'base64url');
          if (bit !== undefined && bytes.length > 0) {
            const at = Number(bit) % (bytes.length * 8);
            bytes.writeUInt8((bytes[at >> 3] ?? 0) ^ (1 << (at & 7)), at >> 3);
          }
          return bytes.toString('base64url');
        });
      const opened = await sessions.open(text);
      if (opened === undefined) return;
      deepStrictEqual(
        text.split('.').map((part) => Buffer.from(part, 'base64url').toString('hex')),
        valid,
      );
      strictEqual(opened.session.id, account.id);
    },
  };
}
