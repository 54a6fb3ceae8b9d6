import { deepStrictEqual, doesNotMatch, match, strictEqual } from 'node:assert/strict';
import { ProblemError, createReportError, readRequestId } from '../../../src/http/problem.ts';
import { showErrorPages } from '../../../src/site/front/error-pages.tsx';
import { serveHandler } from '../../support/handler.ts';
import { testSite } from '../../support/languages.ts';
import { recordedLog } from '../../support/recorded-log.ts';

describe('the page of an error', () => {
  const site = { ...testSite, login: true };

  async function pageOf(
    error: Error,
  ): Promise<{ status: number; headers: object; text: string; lines: string[]; id: string }> {
    let id = '';
    const log = recordedLog();
    const viewerOf = async (): Promise<null> => {
      throw new Error('the session cannot be read');
    };
    const isExpected = error instanceof ProblemError;
    const pages = showErrorPages(
      { site, viewerOf: isExpected ? async () => null : viewerOf },
      createReportError(log),
      async () => undefined,
      async () => ({ category: undefined, bots: [] }),
    );
    const server = await serveHandler(async (ctx, next) => {
      await pages(ctx, async () => {
        await next();
        // The access log names the request by it.
        id = readRequestId(ctx.req);
        throw error;
      });
    });
    const { status, headers, body } = await server.get({ accept: 'text/html' });
    return { status, headers, text: body.toString(), lines: log.lines, id };
  }

  it('of the service names the request, and the log has the same ID', async () => {
    const { status, text, lines, id } = await pageOf(new TypeError('a is not a function'));
    strictEqual(status, 500);
    match(id, /^[0-9a-f-]{36}$/);
    match(text, new RegExp(`Request: <code>${id}</code>`));
    match(lines.join('\n'), new RegExp(`^error: request ${id} failed unexpectedly`));
    doesNotMatch(text, /not a function/);
  });

  it('that passes reloads by itself, when the response says', async () => {
    const headers = { 'Retry-After': '2' };
    const page = await pageOf(new ProblemError('starting', 'the catalogue is still being read', { headers }));
    strictEqual(page.status, 503);
    strictEqual(new Map(Object.entries(page.headers)).get('refresh'), '2');
    match(page.text, /Not available right now/);
    const limited = await pageOf(new ProblemError('too-many-requests', 'others wait', { headers }));
    deepStrictEqual([limited.status, new Map(Object.entries(limited.headers)).get('refresh')], [429, '2']);
  });

  it('says what to shorten where a form is too large', async () => {
    const detail = 'the body is larger than 262144 bytes: shorten the page';
    const { status, text } = await pageOf(new ProblemError('too-large', detail));
    strictEqual(status, 413);
    match(text, /The body is larger than 262144 bytes: shorten the page\./);
  });

  it('says what to do, not what the API calls it', async () => {
    const { status, text, headers } = await pageOf(
      new ProblemError('not-found', 'GET /api/v2/bots lists those there are'),
    );
    strictEqual(status, 404);
    doesNotMatch(text, /\/api\/v2/);
    match(text, /<meta name="robots" content="noindex"/);
    match(text, /role="search"/);
    strictEqual(new Map(Object.entries(headers)).get('refresh'), undefined);
    match(
      (await pageOf(new ProblemError('too-large', 'the body is over 64 KiB'))).text,
      /Go back and try again/,
    );
  });
});
