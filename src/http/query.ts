import type { Context } from 'koa';
import { ProblemError } from './problem.ts';

/**
 * Parses the query parameters of a request. Counts them first, as Koa's parser and the look-ups of `URLSearchParams` are
 * slow with thousands.
 * @throws {ProblemError} bad-query for more parameters than any route uses
 */
export function parseQuery(ctx: Context): URLSearchParams {
  const text = ctx.querystring;
  if (hasTooMany(text)) throw new ProblemError('bad-query', `${tooMany}: send only those that are needed`);
  return new URLSearchParams(text);
}

/**
 * Parses the fields of a form.
 * @throws {ProblemError} bad-request for more fields than any form has
 */
export function parseFields(text: string): URLSearchParams {
  if (hasTooMany(text)) throw new ProblemError('bad-request', `${tooMany}: send only the fields of the form`);
  return new URLSearchParams(text);
}

const maxParameters = 100;

const tooMany = `there are more than ${maxParameters} parameters`;

function hasTooMany(text: string): boolean {
  let count = 1;
  for (let at = text.indexOf('&'); at !== -1 && count <= maxParameters; at = text.indexOf('&', at + 1))
    count++;
  return count > maxParameters;
}
