import { Agent, request as open } from 'node:http';
import type { StageBot } from './stage.ts';

/** A request of a load. */
export interface LoadRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** Where it says {n}, a number of ten digits is put in that no other request has. */
  readonly body?: string;
}

export function getBot({ id }: StageBot, headers: Readonly<Record<string, string>> = {}): LoadRequest {
  return { method: 'GET', path: `/api/v2/bots/${id}`, headers };
}

/** A post of `keys`, as JSON in which {n} may be. */
export function postBot({ id, token }: StageBot, keys: string): LoadRequest {
  return {
    method: 'POST',
    path: `/api/v2/bots/${id}`,
    headers: { Authorization: token, 'Content-Type': 'application/json' },
    body: `{"bot":${keys}}`,
  };
}

/** A post that sets another count than any before. */
export function postCount(bot: StageBot): LoadRequest {
  return postBot(bot, '{"count":{n}}');
}

/** Takes `many` numbers of ten digits that no request has had; returns the first of them. */
export function takeNumbers(many: number): number {
  const first = nextNumber;
  nextNumber += many;
  return first;
}

let nextNumber = 1_000_000_000;

export interface ReceivedResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/**
 * Sends one request on a connection that is kept.
 * @throws {Error} with the body when the status is above 399.
 */
export async function send(
  address: string,
  { method, path, headers, body }: LoadRequest,
): Promise<ReceivedResponse> {
  const text = body?.replaceAll('{n}', () => String(takeNumbers(1)));
  const received = await new Promise<ReceivedResponse>((resolve, reject) => {
    const request = open(address + path, { method, headers, agent }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('error', reject);
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          headers: response.headers,
          body: Buffer.concat(chunks),
        }),
      );
    });
    request.on('error', reject);
    request.end(text);
  });
  if (received.status < 400) return received;
  throw new Error(`${method} ${path} responds ${received.status}: ${received.body.toString().slice(0, 300)}`);
}

/** Sends one request after the other; returns the milliseconds that each took. */
export async function timesOf(address: string, requests: Iterable<LoadRequest>): Promise<number[]> {
  const times: number[] = [];
  for (const request of requests) {
    const sent = performance.now();
    await send(address, request);
    times.push(performance.now() - sent);
  }
  return times;
}

const agent = new Agent({ keepAlive: true, maxSockets: 1 });
