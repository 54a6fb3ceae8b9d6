/** What an answer of the provider may cost at most. */
export interface Bounds {
  /** Milliseconds until the last byte is there. */
  readonly time: number;
  readonly bytes: number;
}

/** A fetch whose answers arrive whole, in time and small, or not at all. */
export function boundedFetch({ time, bytes }: Bounds): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const response = await fetch(url, { ...init, signal: AbortSignal.timeout(time) });
    const body = response.body === null ? null : await readWhole(response.body, bytes);
    const { status, statusText, headers } = response;
    return new Response(body, { status, statusText, headers });
  };
}

async function readWhole(body: ReadableStream<Uint8Array>, most: number): Promise<Buffer<ArrayBuffer>> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of body) {
    size += chunk.length;
    if (size > most) throw new RangeError(`the answer has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
