import type { Context } from 'koa';
import { ProblemError } from '../../http/problem.ts';
import { parseQuery } from '../../http/query.ts';

/** A part of a list. */
export interface PickedPage<T> {
  readonly page: number;
  readonly pages: number;
  readonly shown: readonly T[];
}

/** Returns the page of a list that `page` of the address names, the first one by default. @throws {ProblemError} not-found */
export function pickPage<T>(ctx: Context, all: readonly T[]): PickedPage<T> {
  const page = Math.trunc(Number(parseQuery(ctx).get('page') ?? 1));
  const pages = Math.max(1, Math.ceil(all.length / pageSize));
  if (!(page >= 1 && page <= pages))
    throw new ProblemError('not-found', `there is no page ${page}: the last one is ${pages}`);
  return { page, pages, shown: all.slice((page - 1) * pageSize, page * pageSize) };
}

const pageSize = 50;
