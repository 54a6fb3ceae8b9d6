import { deepStrictEqual, match, strictEqual } from 'node:assert';
import { toProblem } from '../../src/http/problem.ts';
import { ImageError } from '../../src/images/decoder.ts';
import { BotshelfError, type ErrorCode, UserError } from '../../src/lib/errors.ts';

describe('the problem of an error', () => {
  const message = 'why';
  const responses: [code: ErrorCode, kind: string, wait: string | undefined, detail: string | RegExp][] = [
    ['unavailable', 'writes-unavailable', '30', message],
    ['locked', 'writes-unavailable', '5', message],
    ['overloaded', 'writes-unavailable', '10', message],
    ['faulty-page', 'writes-unavailable', '3600', message],
    ['unusable-page', 'writes-unavailable', '30', /^the bot's page cannot be changed now/],
    ['disk-full', 'writes-unavailable', '30', /^the disk is full: try again later/],
    ['no-repository', 'writes-unavailable', '30', /^changes cannot be saved: the catalogue is in no Git/],
    ['no-git', 'writes-unavailable', '30', /^changes cannot be saved: the catalogue is in no Git/],
    ['wrong-user', 'writes-unavailable', '30', /^changes cannot be saved: the catalogue is in no Git/],
    ['write-failed', 'writes-unavailable', '30', /^changes cannot be saved now: try again later/],
    ['edit-conflict', 'edit-conflict', '60', message],
    ['queue-full', 'busy', '2', message],
    ['share-full', 'too-many-requests', '2', message],
    ['precondition-failed', 'precondition-failed', undefined, message],
    ['unknown-bot', 'unknown-bot', undefined, 'why: GET /base/api/v2/bots lists all bots'],
    ['malformed-id', 'unknown-bot', undefined, 'why, or search with /base/api/v2/bots?q=WORDS'],
    ['unknown-author', 'not-found', undefined, message],
    ['unread-history', 'starting', '60', message],
    ['unknown-cursor', 'unknown-cursor', undefined, /^why: read \/base\/api\/v2\/export\.ndjson again/],
    ['ref-conflict', 'unexpected', undefined, /^this is an error of the service/],
  ];

  for (const [code, kind, retryAfter, detail] of responses) {
    it(`is ${kind} for ${code}`, () => {
      const problem = toProblem(new BotshelfError(code, message), '/base');
      deepStrictEqual([problem.kind, problem.headers['Retry-After']], [kind, retryAfter]);
      if (typeof detail === 'string') strictEqual(problem.message, detail);
      else match(problem.message, detail);
    });
  }

  it('has the current ETag of a bot that has changed', () => {
    const { headers } = toProblem(new BotshelfError('precondition-failed', message, { digest: 'abc' }));
    deepStrictEqual(headers, { ETag: '"abc"' });
  });

  it('names the picture that cannot be fetched', () => {
    const { kind, message: detail } = toProblem(new ImageError('has status 404'));
    deepStrictEqual([kind, detail], ['busy', 'the picture has status 404: try again later']);
  });

  it('has nothing of the message of an unexpected error', () => {
    for (const error of [new Error('/secret'), new UserError('/secret')]) {
      const problem = toProblem(error);
      deepStrictEqual([problem.kind, problem.message.includes('/secret')], ['unexpected', false]);
    }
  });
});
