import type { Context } from 'koa';
import { ProblemError } from './problem.ts';

/**
 * The parameters of a request's address, parsed in linear time. Koa's own parser and `URLSearchParams` with its
 * look-ups are slow on thousands of them, so they are counted first.
 * @throws {ProblemError} bad-query where there are more than any route has a use for
 */
export function queryOf(ctx: Context): URLSearchParams {
  const text = ctx.querystring;
  if (hasTooMany(text)) throw new ProblemError('bad-query', `${tooMany}: leave out all that is not needed`);
  return new URLSearchParams(text);
}

/**
 * The fields of a form.
 * @throws {ProblemError} bad-request where there are more than any form has
 */
export function fieldsOf(text: string): URLSearchParams {
  if (hasTooMany(text)) throw new ProblemError('bad-request', `${tooMany}: send only the fields of the form`);
  return new URLSearchParams(text);
}

const mostParameters = 100;

const tooMany = `there are more than ${mostParameters} parameters`;

function hasTooMany(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1 && count <= mostParameters; at = text.indexOf('&', at + 1))
    count++;
  return count > mostParameters;
}
