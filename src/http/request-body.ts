import { isUtf8 } from 'node:buffer';
import type { Context } from 'koa';
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
  const { 'content-encoding': encoding, 'content-type': sentType } = ctx.headers;
  if (encoding) {
    throw new ProblemError('unsupported-type', 'the body is encoded: send it without Content-Encoding');
  }
  const [mediaType, name] = type;
  if (sentType !== mediaType && !isUtf8Text(ctx, mediaType)) {
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
export function readBytes(ctx: Context, limit: number, whenTooLarge: string): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const { req } = ctx;
    const endedEarly = (): void =>
      reject(new ProblemError('bad-request', 'the body ended too early: send it again'));
    const tooLarge = (): void => {
      req.pause();
      const detail = `the body is larger than ${limit} bytes: ${whenTooLarge}`;
      reject(new ProblemError('too-large', detail, { headers: { Connection: 'close' } }));
    };
    if (!req.readable) endedEarly();
    if (Number(req.headers['content-length']) > limit) tooLarge();
    else {
      const chunks: Buffer[] = [];
      let length = 0;
      req.on('data', (chunk: Buffer) => {
        length += chunk.length;
        if (length > limit) tooLarge();
        else chunks.push(chunk);
      });
      req.on('end', () => resolve(Buffer.concat(chunks)));
      req.on('error', endedEarly);
    }
  });
}
