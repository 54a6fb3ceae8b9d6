import { once } from 'node:events';
import { type IncomingHttpHeaders, type IncomingMessage, request, type RequestOptions } from 'node:http';

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
  sentBody?: Buffer,
): Promise<RawResponse> {
  const sent = request(address, { path, ...options }).end(sentBody);
  const [response] = (await once(sent, 'response')) as [IncomingMessage];
  const body = Buffer.concat((await response.toArray()) as Buffer[]);
  return { status: response.statusCode ?? 0, headers: response.headers, body };
}
