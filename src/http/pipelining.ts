import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { ProblemError } from './problem.ts';

/**
 * Handles a request that came before the response to an earlier one on its connection was sent, once it is its turn: a
 * client that sends and never reads would have us prepare responses without end. Too many at once end the connection.
 */
export function inTurn(
  request: IncomingMessage,
  response: ServerResponse,
  handle: (request: IncomingMessage, response: ServerResponse) => void,
): void {
  const { socket } = request;
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count > mostWaiting) {
    if (count === mostWaiting + 1) endSoon(socket);
    return;
  }
  response.once('socket', () => {
    const left = (waiting.get(socket) ?? 0) - 1;
    if (left >= mostWaiting) refuseAll(response);
    else {
      if (left > 0) waiting.set(socket, left);
      else waiting.delete(socket);
      handle(request, response);
    }
  });
}

/**
 * Whether what is written to the connection now is what its client reads next, and the response to what it sent last: no
 * response is under way there, unless to the very request that is still arriving.
 */
export function isFree(socket: Socket): boolean {
  const { _httpMessage: response } = socket as Socket & WithResponse;
  if (!response) return true;
  if (response.writableEnded) return !waiting.has(socket);
  return !response.headersSent && !response.req.complete;
}

/** How many requests of a connection wait for their turn. */
const waiting = new WeakMap<Socket, number>();

/** With the one that is handled it makes 32. */
const mostWaiting = 31;

/** How Node keeps the response that a connection is at. It is not documented; test/http/pipelining.test.ts holds every supported Node to it. */
interface WithResponse {
  readonly _httpMessage?: ServerResponse | null;
}

/** Reads no more, and does not wait for long until the response under way is sent. */
function endSoon(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Says, where a response is due, why there is none to this request and all behind it. */
function refuseAll(response: ServerResponse): void {
  const problem = new ProblemError(
    'too-many-requests',
    `more than ${mostWaiting + 1} requests came at once on one connection: wait for responses before sending more`,
  );
  response.writeHead(problem.status, {
    'Content-Type': 'application/problem+json',
    'Retry-After': '1',
    Connection: 'close',
  });
  response.end(JSON.stringify(problem));
}
