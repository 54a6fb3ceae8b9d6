import type { Router } from '@koa/router';
import type { Context, Next } from 'koa';
import type { Health } from '../lib/health.ts';
import type { Log } from '../lib/log.ts';
import { originOf } from '../lib/network.ts';
import { ProblemError } from './problem.ts';

/**
 * Returns a function that removes the path of the public address from the address of a request. Some proxies remove it
 * and some do not; it is removed here only where the rest begins with a name that this site has at its top, so that below
 * `/bots` both `/bots/bots/7` and `/bots/7` are the bot.
 * @param basePath such as `/bots`; not empty
 * @param routers the routes that are below the public address
 */
export function withoutBasePath(basePath: string, routers: readonly Router[]): (url: string) => string {
  const names = new Set(routers.flatMap(({ stack }) => stack.map(({ path }) => readFirstName(String(path)))));
  const isOwnName = names.has(readFirstName(basePath));
  return (url) => {
    if (!url.startsWith(basePath)) return url;
    const rest = url.slice(basePath.length);
    if (rest.startsWith('/')) return names.has(readFirstName(rest)) ? rest : url;
    return !isOwnName && /^(?:\?|$)/.test(rest) ? `/${rest}` : url;
  };
}

/** Returns the first name in a path; empty for that of the front page. */
function readFirstName(path: string): string {
  return /^\/([^/?]*)/.exec(path)?.[1] ?? '';
}

/**
 * Handles requests that no route handled: OPTIONS gets the methods of the path, another method 405, an unknown path
 * 404. Scripts of other sites may read, so a preflight allows GET and HEAD only, with any headers: browsers apply the
 * asterisk to all but Authorization.
 * @param advice the addresses that exist, for an unknown path
 * @param basePath the path of the public address, such as `/bots`
 */
export function handleUnrouted(
  routers: readonly Router[],
  advice: string,
  basePath = '',
): (ctx: Context) => void {
  return (ctx) => {
    const layers = routers.flatMap((router) => router.match(ctx.path, ctx.method).path);
    const allowed = new Set(layers.flatMap(({ methods }) => methods));
    if (allowed.size === 0) {
      const path = ctx.path.startsWith(`${basePath}/`) ? ctx.path : basePath + ctx.path;
      throw new ProblemError(
        'not-found',
        `there is nothing at ${JSON.stringify(path.slice(0, 100))}: ${adviseOnGuess(ctx, basePath) ?? advice}`,
      );
    }
    const allow = [...allowed, 'OPTIONS'].toSorted().join(', ');
    if (ctx.method !== 'OPTIONS') {
      const advised = adviseOnGuess(ctx, basePath);
      const detail = `${ctx.method} is not allowed here: use ${allow}${advised ? `; ${advised}` : ''}`;
      throw new ProblemError('method-not-allowed', detail, { headers: { Allow: allow } });
    }
    ctx.status = 204;
    ctx.set({ Allow: allow, 'Access-Control-Max-Age': '86400' });
    if (allowed.has('GET')) {
      ctx.set({
        'Access-Control-Allow-Origin': '*',
        'Access-Control-Allow-Methods': 'GET, HEAD, OPTIONS',
        'Access-Control-Allow-Headers': '*, Authorization',
      });
    }
  };
}

/** Returns the route that a request may be meant for: programs guess the routes that other lists have. */
function adviseOnGuess({ method, path }: Context, basePath: string): string | undefined {
  const [, advice] = guesses.find(([guess]) => guess.test(`${method} ${path}`)) ?? [];
  const id = /\/(\d{1,20})(?:\/|$)/.exec(path)?.[1] ?? 'ID';
  return advice?.replaceAll('~', `${basePath}/api`).replaceAll('ID', id);
}

/** Guesses, by the method and the path, and the routes to use instead: `~` is the address of the API, `ID` the id in the path. */
const guesses: readonly (readonly [guess: RegExp, advice: string])[] = [
  [/^\w+ \/api\/.*\/commands\/?$/, 'put commands to PUT ~/v2/bots/ID/commands, read them there'],
  [/^\w+ \/api\/.*\/pages?(?:\/|$)/, 'put pages to PUT ~/v2/bots/ID/pages/en'],
  [
    /^(?:POST|PUT|PATCH) \/(?:api|bots?)\/|\/(?:stats|guilds|servers)\/?$/,
    'post counts to POST ~/v2/bots/ID/stats, read them there and at ~/v2/bots/ID/counts',
  ],
  [/^GET \/(?:api\/.*)?(?:openapi|swagger)/, 'the OpenAPI document is at ~/openapi.json'],
  [/^GET \/api\/.*search/, 'search with ~/v2/bots?q=WORDS'],
  [
    /^GET \/api\/.*(?:user|author|owner)/,
    'authors are at ~/v2/authors/ID, their bots at ~/v2/bots?author=ID',
  ],
  [/^GET \/api\/.*(?:tag|categor)/, 'categories are at ~/v2/categories, their bots at ~/v2/bots?category=ID'],
  [/^GET \/api\/.*(?:export|dump|\/all\b)/, 'all bots are at ~/v2/export.ndjson'],
  [/^GET \/api\/.*\/\d{1,20}(?:\/|$)/, 'the bot is at ~/v2/bots/ID'],
];

/** A read-only copy of a list: it follows the repository, and refuses posts, forms and logins. */
export interface ReadOnly {
  /** The public address of the original, without a slash at its end; null if it is not known. */
  readonly original: string | null;
}

/** The paths of forms, and of pages for people who have logged in, with or without a query. */
export const formPaths =
  /^\/(?:(?:add|login|logout|my-bots|proposals|review)|(?:bots|collections)\/[^/?]+\/(?:edit|report|token|translate))(?:[/?]|$)/i;

/** @throws {ProblemError} read-only, for every form and every post, except the call of the webhook */
export function refuseWrites(ctx: Context, { original }: ReadOnly): void {
  const isWrite = ['POST', 'PUT'].includes(ctx.method)
    ? ctx.path !== '/hooks/push'
    : formPaths.test(ctx.path);
  if (!isWrite || ctx.method === 'OPTIONS') return;
  const where =
    original === null
      ? 'the original, whose address its operator has not set (BOTSHELF_CANONICAL_URL)'
      : original + ctx.path;
  throw new ProblemError('read-only', `this is a read-only copy of the list: send it to ${where}`);
}

/**
 * Refuses a form that a page of another site submits, because the browser would send the visitor's cookies with it. Browsers
 * state the origin in Sec-Fetch-Site, older ones in Origin; a request with neither is refused too.
 * @param baseUrl the public address, without a slash at its end
 * @throws {ProblemError} cross-site
 */
export function refuseCrossSite(baseUrl: string): (ctx: Context, next: Next) => Promise<void> {
  const origin = originOf(baseUrl);
  return async (ctx, next) => {
    const site = ctx.get('Sec-Fetch-Site');
    const own = site === '' ? ctx.get('Origin') === origin : site === 'same-origin';
    if (!own) {
      throw new ProblemError(
        'cross-site',
        `the request does not come from a page of ${baseUrl}: open the page there and press the button again`,
      );
    }
    await next();
  };
}

/** Detects requests with headers of a proxy that the service is not configured for. */
export class ProxyNotice {
  readonly #log: Log;
  readonly #faults: string[] = [];
  /** The headers to look for, by the function that describes the first one that is found. */
  readonly #due = new Map<(header: string) => string, readonly string[]>();

  /** @param config with the assumed public address */
  constructor(
    { baseUrl, isBaseUrlSet, trustProxy }: { baseUrl: string; isBaseUrlSet: boolean; trustProxy: boolean },
    log: Log,
  ) {
    this.#log = log;
    if (!isBaseUrlSet)
      this.#due.set(
        (header) =>
          `requests come through a proxy (${header}), but BOTSHELF_BASE_URL is not set: links and the login lead to ${baseUrl}; set it to the public address`,
        ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'Via'],
      );
    // A client can send it too.
    if (!trustProxy)
      this.#due.set(
        () =>
          'a request has X-Forwarded-For, but BOTSHELF_TRUST_PROXY is off: if your proxy sent it, all visitors share the limits of one client; set it to on if so, ignore this if clients connect directly',
        ['X-Forwarded-For'],
      );
  }

  /** Notices, each with the setting to change and the reason, once a request has had such a header. */
  health(): Health {
    return { address: { ready: true, faults: [...this.#faults] } };
  }

  /** Checks the headers of each request until each notice is given. */
  check({ headers }: Pick<Context, 'headers'>): void {
    for (const [describe, names] of this.#due) {
      const header = names.find((name) => headers[name.toLowerCase()]);
      if (header === undefined) continue;
      const fault = describe(header);
      this.#due.delete(describe);
      this.#faults.push(fault);
      this.#log.warn({ header }, fault);
    }
  }
}

/** A cookie of the service: over https only, not readable by scripts, not sent by other sites' forms. */
export interface Cookie {
  readonly name: string;
  readonly path: string;
}

/**
 * Returns the cookie of a name: for this host only or, where the site has a part of the host, for that part.
 * @param basePath the path of the public address; empty if it has none
 */
export function createCookie(
  name: 'botshelf' | 'botshelf-login' | 'botshelf-language',
  basePath: string,
): Cookie {
  // Browsers refuse __Host- with another path than /.
  return basePath === ''
    ? { name: `__Host-${name}`, path: '/' }
    : { name: `__Secure-${name}`, path: basePath };
}

export function readCookie(ctx: Context, { name }: Cookie): string | undefined {
  return ctx.cookies.get(name, { signed: false });
}

/** Sets a cookie; null deletes it. */
export function setCookie(
  ctx: Context,
  { name, path }: Cookie,
  value: { readonly text: string; readonly seconds: number } | null,
): void {
  const { text, seconds } = value ?? { text: '', seconds: 0 };
  ctx.append(
    'Set-Cookie',
    `${name}=${text}; Path=${path}; Max-Age=${seconds}; Secure; HttpOnly; SameSite=Lax`,
  );
}

/**
 * Removes the parameters of Accept except q: no type here has others. Refuses headers that take too long to parse, because
 * the time grows with the square of their length, and two Host headers (RFC 9112, 3.2), of which a proxy may have read the
 * other one.
 * @throws {ProblemError} bad-request
 */
export function normaliseHeaders(ctx: Context): void {
  const { rawHeaders } = ctx.req;
  if (hasTwoHosts(rawHeaders))
    throw new ProblemError('bad-request', 'the request has two Host headers: send one');
  const { accept = '', 'accept-encoding': encoding = '' } = ctx.headers;
  const name = accept.length > maxAcceptLength ? 'Accept' : 'Accept-Encoding';
  if (Math.max(accept.length, encoding.length) > maxAcceptLength)
    throw new ProblemError('bad-request', `${name} is longer than ${maxAcceptLength} characters: shorten it`);
  if (accept.includes(';')) ctx.req.headers.accept = accept.replace(/;(?!\s*q\s*=)[^;,"]*(?:"[^"]*")?/gi, '');
}

/** Characters. */
const maxAcceptLength = 2000;

/** Whether there are two Host headers, of which Node's object of all headers has the first. @param rawHeaders names and values in turn */
export function hasTwoHosts(rawHeaders: readonly string[]): boolean {
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2)
    if (rawHeaders[i]?.length === 4 && rawHeaders[i]?.toLowerCase() === 'host') hosts++;
  return hosts > 1;
}
