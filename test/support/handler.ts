import { request, type IncomingHttpHeaders } from 'node:http';
import Koa, { type Context, type Next } from 'koa';
import { createReportError, handleErrors } from '../../src/http/problem-response.ts';
import { ResponseCache, storeResponses } from '../../src/http/response-cache.ts';
import { listen } from '../../src/http/server.ts';
import { silentLog } from '../../src/log.ts';

export interface HandlerResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent: still compressed. */
  readonly body: Buffer;
}

export interface TestServer {
  get(headers?: Readonly<Record<string, string>>): Promise<HandlerResponse>;
  send(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<HandlerResponse>;
  close(): Promise<void>;
}

/** Serves these handlers on a free port of this machine, with errors as problem documents. */
export async function serveHandler(
  ...handlers: readonly ((ctx: Context, next: Next) => unknown)[]
): Promise<TestServer> {
  const app = new Koa();
  const responses = new ResponseCache();
  app.use(storeResponses(responses));
  app.use(handleErrors(createReportError(silentLog)));
  for (const handler of handlers) app.use(async (ctx, next) => void (await handler(ctx, next)));
  const limits = { host: '127.0.0.1', port: 0, maxConnections: 100, log: silentLog };
  const { port, close } = await listen(app, limits, responses);
  const send: TestServer['send'] = async (method, path, headers = {}) =>
    await new Promise((resolve, reject) => {
      const sent = request({ port, host: '127.0.0.1', method, path, headers }, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('end', () =>
          resolve({
            status: response.statusCode ?? 0,
            headers: response.headers,
            body: Buffer.concat(chunks),
          }),
        );
      });
      sent.on('error', reject).end();
    });
  return { send, get: async (headers) => await send('GET', '/', headers), close };
}
