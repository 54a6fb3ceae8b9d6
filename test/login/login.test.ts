import { strictEqual } from 'node:assert/strict';
import { parseReturnPath } from '../../src/login/login.ts';

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
