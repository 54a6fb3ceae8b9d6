import { hash } from 'node:crypto';
import { Readable } from 'node:stream';
import type { Context } from 'koa';
import { type Body, type Coding, CompressedBodies } from './compression.ts';
import { ProblemError } from './problem.ts';

/** Content with its type. */
export interface Document {
  /** The media type, with its parameters. */
  readonly type: string;
  /** Identifies this content; the ETag is made from it. */
  readonly digest: string;
  readonly body: Body;
}

/** A document in one piece. */
export interface WholeDocument extends Document {
  readonly body: Buffer;
}

/** Returns the document that has these bytes. */
export function createDocument(type: string, body: Buffer): WholeDocument {
  return { type, body, digest: hash('sha1', body, 'base64url') };
}

/** A resource at one moment, ready to be sent. */
export interface Representation extends Document {
  /** All but the ones that `send` adds; `readHeaders` unless given. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Whether the resource is unchanged, so that the same response may be sent again; where left out it never is. */
  readonly current?: () => boolean;
}

/**
 * Responds to a read with a representation: content negotiation, strong ETag, 304, HEAD, compression, CORS.
 * @throws {ProblemError} not-acceptable
 * @throws {QueueFullError} when too many large bodies are being compressed
 */
export async function send(
  ctx: Context,
  { type, digest, body, headers = readHeaders, current }: Representation,
): Promise<void> {
  const coding = negotiate(ctx, type, body);
  ctx.status = 200;
  ctx.set({ ...headers, ETag: formatEtag(digest, coding) });
  if (current) (ctx.state as RepeatableState).repeatableWhile = current;
  if (isKnown(ctx)) {
    ctx.status = 304;
    return;
  }
  ctx.type = type;
  const bytes = coding === 'identity' ? body : await compressedBodies.get(digest, coding, body);
  if (coding !== 'identity') ctx.set('Content-Encoding', coding);
  ctx.body = Buffer.isBuffer(bytes) ? bytes : Readable.from(bytes.read(), { objectMode: false });
}

/**
 * Whether the client has this response already, by If-None-Match. Ignores the request's Cache-Control: it is for caches
 * in between, and `fetch` in Node sends `no-cache` with every condition.
 */
export function isKnown(ctx: Context): boolean {
  const known = ctx
    .get('If-None-Match')
    .split(',')
    .map((etag) => etag.trim().replace(/^W\//, ''));
  return known.includes('*') || known.includes(ctx.response.get('ETag'));
}

export const readHeaders = {
  'Cache-Control': 'no-cache',
  'Access-Control-Allow-Origin': '*',
  'Access-Control-Expose-Headers': 'Date, ETag, Link, X-Total-Count, X-Searched-For, X-Cursor',
  Vary: 'Accept-Encoding',
};

/** Returns the ETags of a representation, one for each coding. */
export function listEtags(digest: string): string[] {
  return (['identity', 'gzip', 'br'] as const).map((coding) => formatEtag(digest, coding));
}

/** Returns the `current` that `send` noted for this response; undefined when it must not be stored. */
export function readRepeatCheck(state: Context['state']): (() => boolean) | undefined {
  return (state as RepeatableState).repeatableWhile;
}

interface RepeatableState {
  repeatableWhile?: () => boolean;
}

export const compressedBodies = new CompressedBodies();

/** A smaller body gains nothing from compression. */
const minCompressibleBytes = 512;

/** Media types whose bytes are compressed already. */
const compressedTypes = /^(?:application\/(?:gzip|zip)|image\/(?:png|x-icon))$/;

/** Returns the media type that the client prefers. @throws {ProblemError} not-acceptable */
export function chooseType<T extends string>(ctx: Context, types: readonly [T, T]): T {
  const type = types.find((each) => each === ctx.accepts([...types]));
  if (type !== undefined) return type;
  const detail = `this resource is available as ${types.join(' and ')}: accept one of them, or */*`;
  throw new ProblemError('not-acceptable', detail);
}

function negotiate(ctx: Context, type: string, body: Body): Coding | 'identity' {
  if (ctx.accepts(type) === false) {
    throw new ProblemError('not-acceptable', `this resource is ${type}: accept that type, or */*`);
  }
  const isIncompressible =
    compressedTypes.test(type) || (Buffer.isBuffer(body) && body.length < minCompressibleBytes);
  const codings = isIncompressible ? ['identity'] : ['br', 'gzip', 'identity'];
  const coding = ctx.acceptsEncodings(codings);
  if (coding === 'br' || coding === 'gzip' || coding === 'identity') return coding;
  throw new ProblemError(
    'not-acceptable',
    `this resource is available as ${codings.join(', ')}: accept one of them`,
  );
}

function formatEtag(digest: string, coding: Coding | 'identity'): string {
  return coding === 'identity' ? `"${digest}"` : `"${digest}-${coding}"`;
}
