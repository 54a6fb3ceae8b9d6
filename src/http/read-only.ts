import type { Context } from 'koa';
import { ProblemError } from './problem.ts';

/** A copy of a list that takes nothing: it follows the repository, and refuses posts, forms and logins. */
export interface ReadOnly {
  /** The public address of the original, without a slash at its end; null where it is not known. */
  readonly original: string | null;
}

/** The paths of forms, and of pages for people who have logged in, with or without a query. */
export const formPaths =
  /^\/(?:(?:add|login|logout|my-bots|proposals|review)|(?:bots|collections)\/[^/?]+\/(?:edit|report|token|translate))(?:[/?]|$)/i;

/** @throws {ProblemError} read-only, for every form and every post, except the call of the webhook */
export function refuseWrites(ctx: Context, { original }: ReadOnly): void {
  const isWrite = ctx.method === 'POST' ? ctx.path !== '/hooks/push' : formPaths.test(ctx.path);
  if (!isWrite || ctx.method === 'OPTIONS') return;
  const where =
    original === null
      ? 'the original, whose address its operator has not set (BOTSHELF_CANONICAL_URL)'
      : original + ctx.path;
  throw new ProblemError('read-only', `this is a read-only copy of the list: send it to ${where}`);
}
