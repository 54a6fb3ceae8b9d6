import type { Context } from 'koa';
import type { Log } from '../lib/log.ts';

/** Notices the first request that came through a proxy, where the public address is not set. */
export class ProxyNotice {
  readonly #log: Log;
  readonly #baseUrl: string;
  #fault: string | null = null;

  /** @param baseUrl what is taken for the public address */
  constructor(baseUrl: string, log: Log) {
    this.#baseUrl = baseUrl;
    this.#log = log;
  }

  /** What to set, and why, a sentence; null until a request has come through a proxy. */
  get fault(): string | null {
    return this.#fault;
  }

  /** Checks the headers of each request until one is found that a proxy adds. */
  check({ headers }: Pick<Context, 'headers'>): void {
    const [header] = (this.#fault === null && proxyHeaders.find(([, key]) => headers[key])) || [];
    if (header !== undefined) {
      this.#fault = `requests come through a proxy (${header}), but BOTSHELF_BASE_URL is not set: links and the login lead to ${this.#baseUrl}; set it to the public address`;
      this.#log.warn({ header }, this.#fault);
    }
  }
}

/** Names, and as Node has them. */
const proxyHeaders = ['X-Forwarded-Host', 'X-Forwarded-Proto', 'X-Forwarded-For', 'Forwarded', 'Via'].map(
  (name) => [name, name.toLowerCase()] as const,
);
