/** The limits of a response from the provider. */
export interface Bounds {
  /** Milliseconds until the last byte arrives. */
  readonly time: number;
  readonly bytes: number;
}

/** Returns a fetch that rejects when a response exceeds the limits. Its responses have their whole body. */
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
    if (size > most) throw new RangeError(`the response has more than ${most} bytes`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
