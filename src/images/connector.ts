import { Resolver } from 'node:dns/promises';
import { isIP, type Socket } from 'node:net';
import { Agent, buildConnector, type Dispatcher, request } from 'undici';
import { messageOf } from '../lib/errors.ts';
import { isPublicAddress, parseUrl } from '../lib/network.ts';
import { ImageError } from './decoder.ts';

/** Options for tests, which fetch from a local server. The service only sets `site`. */
export interface ConnectorOptions {
  /** Whether an address may be connected to; by default `isPublicAddress`. */
  readonly allow?: (address: string) => boolean;
  /** Name servers to ask instead of the system's. */
  readonly nameServers?: readonly string[];
  /** A certificate authority to trust instead of the public ones. */
  readonly ca?: string;
  /** Milliseconds for all of a fetch: look-ups, redirects and body. */
  readonly timeLimit?: number;
  /** The public address of this service, sent in the User-Agent. */
  readonly site?: string;
}

/**
 * Fetches images from untrusted addresses: only over https, and only from the public internet. Host names are resolved
 * here and all their addresses are checked; the connection goes to one of these, so a host name cannot change its
 * address after the check. Unlike the system's resolver, this one does not use the threads that write files.
 */
export class ImageConnector {
  readonly #allow: (address: string) => boolean;
  readonly #dial: buildConnector.connector;
  readonly #resolver = new Resolver({ timeout: 3_000, tries: 2 });
  readonly #agent: Agent;
  readonly #timeLimit: number;
  readonly #userAgent: string;

  constructor({ allow, nameServers, ca, timeLimit, site }: ConnectorOptions = {}) {
    this.#allow = allow ?? isPublicAddress;
    this.#timeLimit = timeLimit ?? 10_000;
    this.#userAgent = site === undefined ? 'Botshelf image cache' : `Botshelf image cache (+${site})`;
    if (nameServers) this.#resolver.setServers(nameServers);
    this.#dial = buildConnector({ timeout: attemptTime, ...(ca === undefined ? {} : { ca }) });
    this.#agent = new Agent({
      connect: (options, callback) => void this.#connect(options, callback),
      headersTimeout: this.#timeLimit,
      bodyTimeout: this.#timeLimit,
    });
  }

  /**
   * Fetches up to 8 MiB within ten seconds. Checks the content type of the response; the decoder checks the bytes.
   * @throws {ImageError} for every failure, and when `signal` is aborted
   */
  async fetch(url: string, signal?: AbortSignal): Promise<Buffer> {
    const abort = new AbortController();
    const end = (): void => abort.abort(new ImageError('was cancelled'));
    if (signal?.aborted) end();
    signal?.addEventListener('abort', end);
    const timer = setTimeout(() => {
      abort.abort(new ImageError(`did not arrive within ${this.#timeLimit / 1000} s`, 'host'));
    }, this.#timeLimit);
    try {
      const response = await this.#follow(url, abort.signal);
      return await readResponseBody(response).finally(() => discard(response));
    } catch (error) {
      throw toImageError(abort.signal.aborted ? abort.signal.reason : error);
    } finally {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
    }
  }

  /** Closes all connections; current fetches fail. */
  async close(): Promise<void> {
    this.#resolver.cancel();
    await this.#agent.destroy();
  }

  async #follow(start: string, signal: AbortSignal): Promise<Dispatcher.ResponseData> {
    let url = checkUrl(start, start);
    for (let hops = 0; hops <= maxRedirects; hops += 1) {
      const response = await request(url, {
        dispatcher: this.#agent,
        signal,
        headers: {
          'user-agent': this.#userAgent,
          accept: 'image/webp,image/png,image/jpeg,image/gif',
          'accept-encoding': 'identity',
        },
      });
      const next = findRedirect(response);
      if (next === undefined) return response;
      discard(response);
      url = checkUrl(next, url);
    }
    throw new ImageError(`redirects more than ${maxRedirects} times`);
  }

  async #connect(options: buildConnector.Options, callback: buildConnector.Callback): Promise<void> {
    let socket: Socket;
    try {
      socket = await this.#dialChecked(options);
    } catch (error) {
      callback(toImageError(error), null);
      return;
    }
    callback(null, socket);
  }

  async #dialChecked(options: buildConnector.Options): Promise<Socket> {
    const addresses = await this.#addressesOf(options.hostname.replace(/^\[|\]$/g, ''));
    // The message does not name the address: failures are public, and a host name may be one of the operator's network.
    if (!addresses.every((address) => this.#allow(address)))
      throw new ImageError('leads to an address that is not public');
    let failure: unknown;
    for (const address of addresses.slice(0, maxAttempts)) {
      try {
        return await this.#dialTo({ ...options, hostname: address });
      } catch (error) {
        failure = error;
      }
    }
    throw failure;
  }

  async #addressesOf(host: string): Promise<string[]> {
    if (isIP(host) !== 0) return [host];
    const [four, six] = await Promise.allSettled([
      this.#resolver.resolve4(host),
      this.#resolver.resolve6(host),
    ]);
    const addresses = [four, six].flatMap((result) => (result.status === 'fulfilled' ? result.value : []));
    if (addresses.length > 0) return addresses;
    const reason = four.status === 'rejected' ? messageOf(four.reason) : 'no answer';
    throw new ImageError(`has a host without an address (${reason})`, 'host');
  }

  async #dialTo(options: buildConnector.Options): Promise<Socket> {
    return await new Promise((resolve, reject) => {
      this.#dial(options, (error, socket) => (error ? reject(error) : resolve(socket)));
    });
  }
}

const maxRedirects = 3;

/** Maximum number of a host's addresses that are tried, and the milliseconds for each. */
const maxAttempts = 3;
const attemptTime = 4_000;

const maxBytes = 8 * 1024 * 1024;

/** The content types of images that can be decoded. Storage services send octet-stream for every file. */
const types = new Set([
  'image/apng',
  'image/gif',
  'image/jpeg',
  'image/jpg',
  'image/png',
  'image/webp',
  'application/octet-stream',
  'binary/octet-stream',
]);

function checkUrl(text: string, base: string): string {
  const url = parseUrl(text, base);
  if (url === undefined) throw new ImageError('redirects to an invalid address');
  if (url.protocol !== 'https:') throw new ImageError(`leads to ${url.protocol} instead of https:`);
  if (url.username || url.password) throw new ImageError('leads to an address with a user name or password');
  url.hash = '';
  return url.href;
}

function findRedirect({ statusCode, headers }: Dispatcher.ResponseData): string | undefined {
  if (![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  return typeof headers.location === 'string' ? headers.location : undefined;
}

async function readResponseBody(response: Dispatcher.ResponseData): Promise<Buffer> {
  checkHead(response);
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of response.body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new ImageError(tooBig);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks, size);
}

const tooBig = `is larger than ${maxBytes / 1024 / 1024} MiB`;

function checkHead({ statusCode, headers }: Dispatcher.ResponseData): void {
  if (statusCode !== 200) {
    const isHostFailing = statusCode === 429 || statusCode >= 500;
    throw new ImageError(`has status ${statusCode}`, isHostFailing ? 'host' : 'image');
  }
  const type =
    String(headers['content-type'] ?? '')
      .split(';', 1)[0]
      ?.trim()
      .toLowerCase() ?? '';
  if (type === 'image/svg+xml')
    throw new ImageError('is an SVG, of which no copies are made for safety', 'never');
  if (!types.has(type))
    throw new ImageError(
      `has ${type === '' ? 'no content type' : `the content type ${type}`}, not that of an image`,
    );
  const encoding = String(headers['content-encoding'] ?? 'identity').toLowerCase();
  if (encoding !== 'identity')
    throw new ImageError(`comes with Content-Encoding ${encoding}, which was not requested`);
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw new ImageError(tooBig);
}

/** Closes the response without reading the rest, which may be endless. */
function discard({ body }: Dispatcher.ResponseData): void {
  body.on('error', () => {}).destroy();
}

function toImageError(error: unknown): ImageError {
  return error instanceof ImageError
    ? error
    : new ImageError(`cannot be fetched: ${messageOf(error)}`, 'host');
}
