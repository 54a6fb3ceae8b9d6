import type { Context } from 'koa';
import { type Cookie, createCookie, readCookie, setCookie } from '../../http/cookies.ts';
import { basePathOf } from '../../lib/base-url.ts';
import { withParameter } from '../page/addresses.ts';
import { redirectTo } from '../page/html-response.ts';
import type { Site } from '../page/layout.tsx';
import { formatFrontPath, type FrontQuery } from './front-query.ts';

/**
 * The parameters of the filters that a visitor's browser keeps for the next visit, in a cookie with nothing else. They are
 * part of the address of a list: one that lacks them is redirected, so that everyone gets the same from one address.
 */
const names = new Set(['administrator', 'language']);

/** Returns the path of a list that has these filters remembered from then on, or forgotten where it lacks them. */
export function toRememberingPath(query: FrontQuery): string {
  return withParameter(formatFrontPath(query), parameter, 'yes');
}

/** Whether the visitor's browser remembers filters. */
export function hasRemembered(ctx: Context, site: Site): boolean {
  return readCookie(ctx, createFiltersCookie(site)) !== undefined;
}

/**
 * Redirects a list whose address lacks filters that are remembered, and one whose filters are to be remembered. Returns
 * whether it did.
 */
export function redirectToRemembered(
  ctx: Context,
  site: Site,
  params: URLSearchParams,
  query: FrontQuery,
): boolean {
  const cookie = createFiltersCookie(site);
  const missing = pick(readCookie(ctx, cookie)).filter(([name]) => !params.has(name));
  const isNew = params.has(parameter);
  if (!isNew && missing.length === 0) return false;
  const path = basePathOf(site.baseUrl) + formatFrontPath(isNew ? query : { ...query, page: 1 });
  if (isNew) {
    const text = new URLSearchParams(pick(path.split('?')[1])).toString();
    setCookie(ctx, cookie, text === '' ? null : { text, seconds: secondsPerYear });
    redirectTo(ctx, path);
  } else
    redirectTo(
      ctx,
      missing.reduce((to, [name, value]) => withParameter(to, name, value), path),
    );
  return true;
}

const parameter = 'remember';
const secondsPerYear = 365 * 24 * 60 * 60;

function createFiltersCookie({ baseUrl }: Site): Cookie {
  return createCookie('botshelf-filters', basePathOf(baseUrl));
}

function pick(parameters = ''): [name: string, value: string][] {
  return [...new URLSearchParams(parameters)].filter(([name]) => names.has(name));
}
