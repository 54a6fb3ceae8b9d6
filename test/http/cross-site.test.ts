import { strictEqual } from 'node:assert/strict';
import { refuseCrossSite } from '../../src/http/request.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('a form', () => {
  let server: TestServer;
  before(async () => {
    server = await serveHandler(refuseCrossSite('https://bots.example.org'), (ctx) => (ctx.body = 'done'));
  });

  const cases: readonly (readonly [status: number, name: string, headers: Record<string, string>])[] = [
    [200, 'from a page of this site', { 'Sec-Fetch-Site': 'same-origin' }],
    [200, 'from a page of this site in an older browser', { Origin: 'https://bots.example.org' }],
    [403, 'from another site', { 'Sec-Fetch-Site': 'cross-site' }],
    [403, 'from another host of the same site', { 'Sec-Fetch-Site': 'same-site' }],
    [403, 'that a person opened from elsewhere', { 'Sec-Fetch-Site': 'none' }],
    [403, 'from another site in an older browser', { Origin: 'https://evil.example' }],
    [403, 'headers that disagree', { 'Sec-Fetch-Site': 'cross-site', Origin: 'https://bots.example.org' }],
    [403, 'from a page without an address', { Origin: 'null' }],
    [403, 'without an origin', {}],
  ];
  for (const [status, name, headers] of cases) {
    it(`${name} gets status ${status}`, async () =>
      strictEqual((await server.send('POST', '/', headers)).status, status));
  }
});
