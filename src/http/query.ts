import type { Context } from 'koa';
import { InvalidValueError, type ListParameter, refuse } from '../catalogue/lists/parameters.ts';
import { ProblemError, type ProblemDetail } from './problem.ts';
import { readText } from './request-body.ts';

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

/**
 * Reads the fields of a form from a request.
 * @param limit in bytes; a character takes up to nine in a form
 * @param whenTooLarge the fix for a form that is too large, for messages
 * @throws {ProblemError} unsupported-type, too-large, bad-request
 */
export async function readFields(
  ctx: Context,
  limit: number,
  whenTooLarge: string,
): Promise<URLSearchParams> {
  const type = ['application/x-www-form-urlencoded', 'a form'] as const;
  return parseFields(await readText(ctx, { type, limit, whenTooLarge }));
}

const maxParameters = 100;

const tooMany = `there are more than ${maxParameters} parameters`;

function hasTooMany(text: string): boolean {
  return text.split('&', maxParameters + 1).length > maxParameters;
}

/**
 * Reads the parameters of a query that are in a table. Returns the values by their names, and an error for every unknown
 * parameter and every bad value.
 */
export function readParameters<S>(
  params: URLSearchParams,
  table: ReadonlyMap<string, ListParameter<unknown, S>>,
  settings: S,
): { readonly values: Readonly<Record<string, unknown>>; readonly errors: ProblemDetail[] } {
  const values: Record<string, unknown> = {};
  const errors: ProblemDetail[] = [];
  for (const name of new Set(params.keys())) {
    const texts = params.getAll(name);
    const parameter = table.get(name);
    const pointer = `?${name.slice(0, 50)}`;
    if (parameter === undefined) {
      errors.push({ pointer, detail: `there is no such parameter: use ${[...table.keys()].join(', ')}` });
      continue;
    }
    try {
      if (texts.length > 1 && !parameter.repeats) refuse('it is there more than once: send it once');
      const value = parameter.parse(texts as [string], settings);
      if (value !== undefined) values[name] = value;
    } catch (error) {
      if (!(error instanceof InvalidValueError)) throw error;
      errors.push({ pointer, detail: error.message });
    }
  }
  return { values, errors };
}
