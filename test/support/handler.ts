import Koa, { type Context, type Next } from 'koa';
import { createReportError, handleErrors } from '../../src/http/problem.ts';
import { ResponseCache } from '../../src/http/response-cache.ts';
import { listen } from '../../src/http/server.ts';
import { silentLog } from '../../src/lib/log.ts';
import { type RawResponse, sendRaw } from './raw-request.ts';
import { cleanUp } from './cleanup.ts';

export interface TestServer {
  readonly port: number;
  get(headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
  send(method: string, path: string, headers?: Readonly<Record<string, string>>): Promise<RawResponse>;
}

/** Serves these handlers on a free port, with errors as problem documents. It ends when the tests of the file are over. */
export async function serveHandler(
  ...handlers: readonly ((ctx: Context, next: Next) => unknown)[]
): Promise<TestServer> {
  const app = new Koa();
  app.silent = true;
  const responses = new ResponseCache();
  app.use((ctx, next) => responses.fill(ctx, next));
  app.use(handleErrors(createReportError(silentLog)));
  for (const handler of handlers) app.use(async (ctx, next) => void (await handler(ctx, next)));
  const limits = { host: '127.0.0.1', port: 0, maxConnections: 100, log: silentLog };
  const { port, close } = await listen(app.callback(), limits, responses);
  cleanUp(close);
  const send: TestServer['send'] = async (method, path, headers = {}) =>
    await sendRaw(`http://127.0.0.1:${port}`, path, { method, headers });
  return { port, send, get: async (headers) => await send('GET', '/', headers) };
}
