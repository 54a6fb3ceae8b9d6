import { isUtf8 } from 'node:buffer';
import type { Context, Next } from 'koa';
import { isError } from '../lib/errors.ts';
import type { BotId } from '../bot/id.ts';
import { idsParameter, type QueryTable, refuse } from '../catalogue/lists/parameters.ts';
import { originOf } from '../lib/network.ts';
import { TimeSlice } from '../lib/time-slice.ts';
import { ProblemError, type ProblemDetail } from './problem.ts';

/**
 * Removes the parameters of Accept except q: no type here has others. Refuses an Accept or Accept-Encoding of more than
 * `maxAcceptLength` characters, because the time to parse it grows with the square of its length. Refuses two Host headers
 * (RFC 9112, 3.2): Node keeps the first, and a proxy may have used the other.
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
    if (!own)
      throw new ProblemError(
        'cross-site',
        `the request does not come from a page of ${baseUrl}: open the page there and press the button again`,
      );
    await next();
  };
}

/**
 * Parses the query parameters of a request. Counts them first, because Koa's parser and `URLSearchParams` are slow with
 * thousands.
 * @throws {ProblemError} bad-query for more parameters than any route uses
 */
export function parseQuery(ctx: Context): URLSearchParams {
  const text = ctx.querystring;
  if (hasTooMany(text)) throw new ProblemError('bad-query', `${tooMany}: send only those that are needed`);
  return new URLSearchParams(text);
}

/**
 * Parses the fields of a form. Browsers send a line end as two characters, and count one: here it is a line feed.
 * @throws {ProblemError} bad-request for more fields than any form has
 */
export function parseFields(text: string): URLSearchParams {
  if (hasTooMany(text)) throw new ProblemError('bad-request', `${tooMany}: send only the fields of the form`);
  return new URLSearchParams(text.replaceAll(/%0D%0A/gi, '%0A'));
}

/**
 * Reads the fields of a form from a request.
 * @param whenTooLarge the fix for a form that is too large, for messages
 * @param limit in bytes; a character takes up to nine in a form
 * @throws {ProblemError} unsupported-type, too-large, bad-request
 */
export async function readFields(
  ctx: Context,
  whenTooLarge: string,
  limit = maxFormBytes,
): Promise<URLSearchParams> {
  const type = ['application/x-www-form-urlencoded', 'a form'] as const;
  return parseFields(await readText(ctx, { type, limit, whenTooLarge }));
}

/** Of a form with a short text. */
const maxFormBytes = 16 * 1024;

const maxParameters = 100;

const tooMany = `there are more than ${maxParameters} parameters`;

function hasTooMany(text: string): boolean {
  return text.split('&', maxParameters + 1).length > maxParameters;
}

/**
 * Reads the parameters of a query that are in a table. Returns the values by their names, and an error for every unknown
 * parameter and every bad value.
 */
export function readParameters<S, T extends QueryTable<S>>(
  params: URLSearchParams,
  table: T,
  settings: S,
): { readonly values: QueryValues<T>; readonly errors: ProblemDetail[] } {
  const values: Record<string, unknown> = {};
  const errors: ProblemDetail[] = [];
  for (const name of new Set(params.keys())) {
    const texts = params.getAll(name);
    const parameter = Object.hasOwn(table, name) ? table[name] : undefined;
    const pointer = `?${name.slice(0, 50)}`;
    if (parameter === undefined) {
      errors.push({ pointer, detail: `there is no such parameter: use ${Object.keys(table).join(', ')}` });
      continue;
    }
    try {
      if (texts.length > 1 && !parameter.repeats) refuse('it is there more than once: send it once');
      const value = parameter.parse(texts as [string], settings);
      if (value !== undefined) values[name] = value;
    } catch (error) {
      if (!isError(error, 'invalid-value')) throw error;
      errors.push({ pointer, detail: error.message });
    }
  }
  return { values: values as QueryValues<T>, errors };
}

/** Reads a query as readParameters does. @throws {ProblemError} bad-query, with every error at once */
export function readQuery<T extends QueryTable>(params: URLSearchParams, table: T): QueryValues<T> {
  const { values, errors } = readParameters(params, table, null);
  if (errors.length > 0) throw ProblemError.ofErrors('bad-query', errors);
  return values;
}

/** The values of a table of parameters; those that were not sent are left out. */
type QueryValues<T extends QueryTable<never>> = {
  readonly [Name in keyof T]?: Exclude<ReturnType<T[Name]['parse']>, undefined>;
};

/**
 * Reads the bots that the parameter `ids` selects, each once, in the order in which they are named: it may be repeated,
 * and each may have several, with commas. Undefined without the parameter.
 * @throws {ProblemError} bad-query for an empty value, another text than an id, or more than 100 ids
 */
export function readIds(params: URLSearchParams): readonly BotId[] | undefined {
  const texts = params.getAll('ids').map((text) => ['ids', text]);
  return readQuery(new URLSearchParams(texts), { ids: idsParameter }).ids;
}

/** @throws {ProblemError} bad-query, about the parameter `ids` */
export function refuseIds(detail: string): never {
  throw ProblemError.ofErrors('bad-query', [{ pointer: '?ids', detail }]);
}

export interface BodyRules {
  /** The media type, and its name in messages. */
  readonly type: readonly [type: string, name: string];
  /** Bytes. */
  readonly limit: number;
  /** The fix for a body that is too large, for messages. */
  readonly whenTooLarge: string;
}

/**
 * Reads the body of a request as text.
 * @throws {ProblemError} unsupported-type, too-large or bad-json
 */
export async function readText(ctx: Context, { type, limit, whenTooLarge }: BodyRules): Promise<string> {
  const { 'content-encoding': encoding, 'content-type': sentType } = ctx.headers;
  if (encoding && encoding.toLowerCase() !== 'identity')
    throw new ProblemError('unsupported-type', 'the body is encoded: send it without Content-Encoding');
  const [mediaType, name] = type;
  if (sentType !== mediaType && !isUtf8Text(ctx, mediaType))
    throw new ProblemError(
      'unsupported-type',
      `the body must be ${name} in UTF-8: send it with Content-Type: ${mediaType}`,
    );
  const bytes = await readBytes(ctx, limit, whenTooLarge);
  // It takes milliseconds to parse: a crowd of them delays no other request.
  if (bytes.length > longBody) await new TimeSlice().next();
  if (!isUtf8(bytes)) throw new ProblemError('bad-json', 'the body is not UTF-8: send it as UTF-8');
  return bytes.toString();
}

/** Bytes. */
const longBody = 16 * 1024;

/** Whether the Content-Type is the media type, in UTF-8, in any spelling. */
function isUtf8Text(ctx: Context, mediaType: string): boolean {
  return ctx.is(mediaType) !== false && ['', 'utf-8', 'utf8'].includes(ctx.request.charset.toLowerCase());
}

/** Bytes of all bodies that are being read at a time (docs/decisions/024-the-oldest-request-body-is-refused-first.md). */
export const maxBodyBytesInTotal = 64 * 1024 * 1024;

/**
 * Reads the body of a request, of any type. If all bodies that are being read exceed `maxBodyBytesInTotal`, the one
 * that began first is refused.
 * @param limit in bytes
 * @param whenTooLarge the fix for a body that is too large, for messages
 * @throws {ProblemError} too-large, bad-request or busy
 */
export function readBytes(ctx: Context, limit: number, whenTooLarge: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { req } = ctx;
    const chunks: Buffer[] = [];
    let length = 0;
    const release = (): void => {
      bodies.delete(refuse);
      bytesInTotal -= length + chunks.length * bytesOfChunk;
      chunks.length = length = 0;
    };
    const refuse = (problem: ProblemError): void => {
      release();
      req.pause();
      reject(problem);
    };
    const endedEarly = (): void =>
      refuse(new ProblemError('bad-request', 'the body ended too early: send it again'));
    const tooLarge = (): void => {
      const detail = `the body is larger than ${limit} bytes: ${whenTooLarge}`;
      refuse(new ProblemError('too-large', detail, { headers: { Connection: 'close' } }));
    };
    if (!req.readable) endedEarly();
    else if (Number(req.headers['content-length']) > limit) tooLarge();
    else {
      bodies.add(refuse);
      req.on('data', (chunk: Buffer) => {
        chunks.push(chunk);
        length += chunk.length;
        bytesInTotal += chunk.length + bytesOfChunk;
        if (length > limit) tooLarge();
        else if (bytesInTotal > maxBodyBytesInTotal) refuseOldest();
      });
      req.on('end', () => {
        resolve(Buffer.concat(chunks));
        release();
      });
      req.on('error', endedEarly);
    }
  });
}

/** A function that refuses each body that is being read, in the order in which they began. */
const bodies = new Set<(problem: ProblemError) => void>();

let bytesInTotal = 0;

/** Bytes of memory for each chunk of a body next to its content: a client may send each byte as a chunk. */
const bytesOfChunk = 512;

function refuseOldest(): void {
  const [refuse] = bodies;
  const detail = 'the service reads too many bodies now, and this one arrived too slowly: send it again';
  refuse?.(new ProblemError('busy', detail, { headers: { 'Retry-After': '2', Connection: 'close' } }));
}
