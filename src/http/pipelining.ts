import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import type { RequestHandler } from './access-log.ts';
import { ProblemError } from './problem.ts';
import { sendProblem } from './problem-response.ts';

/**
 * Handles a request, a pipelined one once the response to the one before it is sent. Otherwise a client that sends and never
 * reads would make the service prepare any number of responses. Too many waiting requests end the connection.
 */
export function handleInOrder(
  request: IncomingMessage,
  response: ServerResponse,
  handle: RequestHandler,
): void {
  const { socket } = request;
  if (response.socket !== null) {
    latest.set(socket, response);
    handle(request, response);
    return;
  }
  const count = (waiting.get(socket) ?? 0) + 1;
  waiting.set(socket, count);
  if (count > maxWaitingRequests) {
    if (count === maxWaitingRequests + 1) destroySoon(socket);
    return;
  }
  response.once('socket', () => {
    latest.set(socket, response);
    const left = (waiting.get(socket) ?? 0) - 1;
    if (left >= maxWaitingRequests) refuseAll(response);
    else {
      if (left > 0) waiting.set(socket, left);
      else waiting.delete(socket);
      handle(request, response);
    }
  });
}

/**
 * Whether bytes written to the connection now are read as the response to the client's last request: no other response is
 * in progress.
 */
export function hasNoResponseInProgress(socket: Socket): boolean {
  const response = latest.get(socket);
  if (!response) return true;
  if (response.writableEnded) return !waiting.has(socket);
  return !response.headersSent && !response.req.complete;
}

/** Ends the connection once the response in progress is sent, or at once where it has begun to be sent. */
export function endAfterResponse(socket: Socket): void {
  const response = latest.get(socket);
  if (!response || response.headersSent) socket.destroy();
  else {
    socket.pause();
    response.shouldKeepAlive = false;
  }
}

/** The latest response of each connection that has begun. */
const latest = new WeakMap<Socket, ServerResponse>();

/** How many requests of a connection wait. */
const waiting = new WeakMap<Socket, number>();

/** 32 with the one that is handled. */
const maxWaitingRequests = 31;

/** Stops reading, and ends the connection after a second at most. */
function destroySoon(socket: Socket): void {
  socket.pause();
  setTimeout(() => socket.destroy(), 1000).unref();
}

/** Responds with the reason why this request and all behind it are refused. */
function refuseAll(response: ServerResponse): void {
  const problem = new ProblemError(
    'too-many-requests',
    `more than ${maxWaitingRequests + 1} requests at once on one connection: wait for responses before sending more`,
    { headers: { 'Retry-After': '1', Connection: 'close' } },
  );
  sendProblem(response, problem);
}
