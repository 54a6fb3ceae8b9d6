import { strictEqual } from 'node:assert/strict';
import { silentLog } from '../../src/lib/log.ts';
import { Login } from '../../src/login/login.ts';
import { parseReturnPath } from '../../src/login/return-path.ts';
import { Provider } from '../../src/login/provider.ts';
import { accountId } from '../support/sample.ts';

describe('the age of an account', () => {
  const findCreation = (kind: 'discord' | 'oidc'): number | undefined => {
    const login = { kind, issuer: 'https://discord.com', clientId: 'a', clientSecret: 'b', idClaim: 'sub' };
    const options = {
      provider: new Provider(login, 'https://a.example/login/callback'),
      secrets: ['x'.repeat(32)],
      baseUrl: 'https://a.example',
      log: silentLog,
    };
    return new Login(options).findCreation(accountId('175928847299117063'));
  };

  it('is in the id of an account of Discord, and of no other', () => {
    strictEqual(new Date(findCreation('discord') ?? 0).toISOString(), '2016-04-30T11:18:25.796Z');
    strictEqual(findCreation('oidc'), undefined);
  });
});

describe('returnPath', () => {
  it('is a page of the site, as it was requested', () => {
    for (const path of [
      '/',
      '/add',
      '/docs',
      '/bots/42',
      '/bots/190519304972663312/token',
      '/?q=a%2Fb+c&sort=name&page=2',
      '/categories/music?locale=fr',
      '/proposals/42',
      '/add?draft=0123456789abcdef0123456789abcdef',
      '/bots/42/edit?language=pt-BR&draft=0123456789abcdef0123456789abcdef&locale=fr',
    ])
      strictEqual(parseReturnPath(path), path);
  });

  it('is below the path of the public address', () => {
    strictEqual(parseReturnPath('/shelf/bots/42/token', '/shelf'), '/shelf/bots/42/token');
    for (const text of [
      undefined,
      '/',
      '/bots/42',
      '/shelf/shelf/docs',
      '/shelfs/docs',
      '/shelf//evil.example',
    ])
      strictEqual(parseReturnPath(text, '/shelf'), '/shelf/');
  });

  it('is the front page for anything else', () => {
    for (const text of [
      undefined,
      '',
      'https://evil.example',
      '//evil.example',
      '/\\evil.example',
      '/\t/evil.example',
      '/bots/42/token/',
      '/bots/42@evil.example',
      '/bots/42/token?next=//evil.example',
      '/bots/42\n',
      '/bots/../..//evil.example',
      '/login',
      '/logout',
      'javascript:alert(1)',
    ]) {
      strictEqual(parseReturnPath(text), '/', JSON.stringify(text));
    }
  });
});
