import { createRequire } from 'node:module';
import type { Load, LoadReport } from './load.ts';
import { takeNumbers } from './request.ts';

/** Sends a load with autocannon, in this process: slower than wrk, but always there. */
export async function autocannonLoad(load: Load): Promise<LoadReport> {
  const result = await autocannon({
    url: load.address,
    connections: load.connections,
    duration: load.seconds,
    ...(load.rate === undefined ? {} : { overallRate: load.rate }),
    requests: load.requests.map(({ method, path, headers, body }) => ({
      method,
      path,
      headers,
      ...(body === undefined
        ? {}
        : {
            setupRequest: (request: object) => ({
              ...request,
              body: body.replaceAll('{n}', () => String(takeNumbers(1))),
            }),
          }),
    })),
  });
  const { errors, timeouts, duration, latency, requests } = result;
  const failures = errors + timeouts + result['4xx'] + result['5xx'];
  return { responses: requests.total, seconds: duration, latency: latency.p50, failures };
}

interface AutocannonResult {
  readonly errors: number;
  readonly timeouts: number;
  readonly '4xx': number;
  readonly '5xx': number;
  readonly duration: number;
  readonly latency: { readonly p50: number };
  readonly requests: { readonly total: number };
}

/** It comes without types. */
const autocannon = createRequire(import.meta.url)('autocannon') as (
  options: object,
) => Promise<AutocannonResult>;
