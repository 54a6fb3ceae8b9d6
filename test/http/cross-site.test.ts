import { strictEqual } from 'node:assert/strict';
import { refuseCrossSite } from '../../src/http/request.ts';
import { readCases } from '../support/fixture-lines.ts';
import { serveHandler, type TestServer } from '../support/handler.ts';

describe('a form', () => {
  let server: TestServer;
  before(async () => {
    server = await serveHandler(refuseCrossSite('https://bots.example.org'), (ctx) => (ctx.body = 'done'));
  });

  for (const { title, input, expected } of readCases('cross-site'))
    it(`${title} gets status ${expected[0]}`, async () => {
      const { status } = await server.send('POST', '/', JSON.parse(input) as Record<string, string>);
      strictEqual(String(status), expected[0]);
    });
});
