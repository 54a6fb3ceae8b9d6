import {
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as send,
  type ServerResponse,
} from 'node:http';
import { setImmediate } from 'node:timers/promises';
import { listenOnLoopback } from './loopback.ts';

/** The fate of a request: it passes, is cut, or receives no response, half of one, or one of the test. */
export type ProxyFault =
  | 'pass'
  | 'cut'
  | 'hang'
  | 'half'
  | { readonly status: number; readonly headers?: Readonly<Record<string, string>>; readonly body?: string };

/** A proxy that a test puts before a service. It ends when the tests of the file are over. */
export interface FaultyProxy {
  readonly address: string;
  /** The server that requests go to. */
  target: string;
  /** The faults of the next requests, one each; later requests go to the target. */
  readonly faults: ProxyFault[];
  requests: number;
  /** The headers of the last request. */
  headers: IncomingHttpHeaders;
  /** The most requests that were in flight at the same time. */
  mostInFlight: number;
}

export async function startFaultyProxy(target: string): Promise<FaultyProxy> {
  let inFlight = 0;
  /** A connection that was closed before this request came may be noticed some turns after it. */
  const noteInFlight = async (): Promise<void> => {
    for (let turn = 0; turn < 5; turn++) await setImmediate();
    proxy.mostInFlight = Math.max(proxy.mostInFlight, inFlight);
  };
  const server = createServer((request, response) => {
    proxy.requests++;
    proxy.headers = request.headers;
    inFlight++;
    response.on('close', () => inFlight--);
    void noteInFlight();
    const fault = proxy.faults.shift();
    if (fault === undefined || fault === 'pass') forward(proxy.target, request, response);
    else if (fault === 'cut') request.socket.destroy();
    else if (fault === 'half') {
      const type = request.url?.endsWith('.ndjson') ? 'application/x-ndjson' : 'application/json';
      response.writeHead(200, { 'Content-Type': type }).write('{"bot": ');
    } else if (fault !== 'hang') response.writeHead(fault.status, fault.headers).end(fault.body);
  });
  const { port } = await listenOnLoopback(server);
  const proxy: FaultyProxy = {
    address: `http://127.0.0.1:${port}`,
    target,
    faults: [],
    requests: 0,
    headers: {},
    mostInFlight: 0,
  };
  return proxy;
}

function forward(target: string, request: IncomingMessage, response: ServerResponse): void {
  const { method = 'GET', url = '/', headers } = request;
  const onward = send(target + url, { method, headers }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers);
    answer.pipe(response);
    answer.on('error', () => response.destroy());
  });
  onward.on('error', () => response.destroy());
  request.pipe(onward);
}
