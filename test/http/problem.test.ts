import { deepStrictEqual } from 'node:assert';
import { toProblem } from '../../src/http/problem.ts';
import { ImageError } from '../../src/images/decoder.ts';
import { BotshelfError, type ErrorCode, UserError } from '../../src/lib/errors.ts';
import { readCases } from '../support/fixture-lines.ts';

describe('the problem of an error', () => {
  const message = 'why';
  for (const { input, expected } of readCases('error-responses'))
    it(`is ${expected[0]} for ${input}`, () => {
      const problem = toProblem(new BotshelfError(input as ErrorCode, message), '/base');
      deepStrictEqual([problem.kind, problem.headers['Retry-After'] ?? '-', problem.message], expected);
    });

  it('has the current ETag of a bot that has changed', () => {
    const { headers } = toProblem(new BotshelfError('precondition-failed', message, { digest: 'abc' }));
    deepStrictEqual(headers, { ETag: '"abc"' });
  });

  it('names the picture that cannot be fetched', () => {
    const { kind, message: detail } = toProblem(new ImageError('has status 404'));
    deepStrictEqual([kind, detail], ['busy', 'the image has status 404: try again later']);
  });

  it('has nothing of the message of an unexpected error', () => {
    for (const error of [new Error('/secret'), new UserError('/secret')]) {
      const problem = toProblem(error);
      deepStrictEqual([problem.kind, problem.message.includes('/secret')], ['unexpected', false]);
    }
  });
});
