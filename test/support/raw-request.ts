import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type RequestOptions } from 'node:http';
import { connect, type Socket } from 'node:net';

export interface RawResponse {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  /** As it was sent: still compressed. */
  readonly body: Buffer;
}

/** Sends a request as it is: the path untouched, no headers of its own, and no redirect followed. */
export async function sendRaw(
  address: string,
  path: string,
  options: Pick<RequestOptions, 'agent' | 'method' | 'headers' | 'localAddress'> = {},
  sentBody?: Buffer | string,
): Promise<RawResponse> {
  const sent = request(address, { path, ...options }).end(sentBody);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat((await response.toArray()) as Buffer[]);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}

/** Opens a connection to a server, which ignores errors. */
export async function openSocket(address: string): Promise<Socket> {
  const { hostname, port } = new URL(address);
  const socket = connect(Number(port), hostname).on('error', () => {});
  await once(socket, 'connect');
  return socket;
}

/** Writes text to a connection, and returns the status of the response that begins then. */
export async function statusAfter(socket: Socket, text: string): Promise<number> {
  socket.write(text);
  return Number(String((await once(socket, 'data'))[0]).split(' ', 2)[1]);
}
