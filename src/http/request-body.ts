import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
import getRawBody from 'raw-body';
import { ProblemError } from './problem.ts';

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
  if (ctx.get('Content-Encoding') !== '') {
    throw new ProblemError('unsupported-type', 'the body is encoded: send it without Content-Encoding');
  }
  const [mediaType, name] = type;
  if (ctx.get('Content-Type') !== mediaType && !isUtf8Text(ctx, mediaType)) {
    throw new ProblemError(
      'unsupported-type',
      `the body must be ${name} in UTF-8: send it with Content-Type: ${mediaType}`,
    );
  }
  const bytes = await readBytes(ctx, limit, whenTooLarge);
  if (!isUtf8(bytes)) throw new ProblemError('bad-json', 'the body is not UTF-8: send it as UTF-8');
  return bytes.toString();
}

/** Whether the Content-Type is the media type, in UTF-8, in any spelling. */
function isUtf8Text(ctx: Context, mediaType: string): boolean {
  return ctx.is(mediaType) !== false && ['', 'utf-8', 'utf8'].includes(ctx.request.charset.toLowerCase());
}

/**
 * Reads the body of a request, of any type.
 * @param limit in bytes
 * @param whenTooLarge the fix for a body that is too large, for messages
 * @throws {ProblemError} too-large or bad-request
 */
export async function readBytes(ctx: Context, limit: number, whenTooLarge: string): Promise<Buffer> {
  const length = ctx.get('Content-Length') || null;
  return await getRawBody(ctx.req, { limit, length }).catch((error: unknown) => {
    throw bodyProblem(error, `the body is larger than ${limit} bytes: ${whenTooLarge}`);
  });
}

function bodyProblem(error: unknown, tooLarge: string): unknown {
  const type = error instanceof Error && 'type' in error ? error.type : undefined;
  if (type === 'entity.too.large')
    return new ProblemError('too-large', tooLarge, { headers: { Connection: 'close' } });
  return typeof type === 'string'
    ? new ProblemError('bad-request', 'the body ended too early: send it again')
    : error;
}
