/** The limits of a response. */
export interface Bounds {
  /** Milliseconds until the last byte arrives. */
  readonly time: number;
  readonly bytes: number;
}

/** Returns a fetch that rejects, or whose body does, when a response exceeds the limits. */
export function createBoundedFetch({
  time,
  bytes,
}: Bounds): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const signals = [AbortSignal.timeout(time), ...(init.signal ? [init.signal] : [])];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    let left = bytes;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length;
        if (left < 0) controller.error(new RangeError(`the response has more than ${bytes} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(limit) ?? null, response);
  };
}
