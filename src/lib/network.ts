import ipaddr from 'ipaddr.js';

/**
 * Parses an address; undefined if it is not one. URL.canParse of Node 20 and 22 returns false for each international host after
 * some thousand calls.
 */
export function parseUrl(text: string, base?: string): URL | undefined {
  try {
    return new URL(text, base);
  } catch {
    return undefined;
  }
}

/** Returns the path of a public address, such as `/bots`; empty if it has none. */
export function basePathOf(baseUrl: string): string {
  return new URL(baseUrl).pathname.replace(/\/$/, '');
}

/** Returns the address of a server on a host and port, without a slash at its end. */
export function formatAddress(host: string, port: number): string {
  return `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
}

/** Returns scheme, host and port of a public address, as browsers send them in Origin. */
export function originOf(baseUrl: string): string {
  return new URL(baseUrl).origin;
}

/** Returns whether an address is on the public internet, not on this machine or its network. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv4 || ip.match(globalUnicast);
}

/** Returns a host with an IP address in its usual notation: `192.0.2.1` for `[::ffff:c000:201]`. */
export function normaliseHost(host: string): string {
  const address = host.replace(/^\[(.*)\]$/, '$1');
  return ipaddr.isValid(address) ? ipaddr.process(address).toString() : host;
}

/** The keys that a client is counted by, because it may have many addresses. Both are the same for IPv4. */
export interface Client {
  /** The IPv4 address, or the /64 of an IPv6 address, which every customer has. */
  readonly group: string;
  /** The IPv4 address, or the /48 of an IPv6 address, which is the most that one site of a customer has. */
  readonly network: string;
}

/** Returns the client that has an address. */
export function toClient(address: string): Client {
  // Some proxies put the port behind it in X-Forwarded-For, or brackets around it.
  const host = address.replace(/^(?:\[([^\]]*)\](?::\d+)?|([\d.]+):\d+)$/, '$1$2');
  if (!ipaddr.isValid(host)) return { group: address, network: address };
  const ip = ipaddr.process(host).toString();
  if (!ip.includes(':')) return { group: ip, network: ip };
  const toPrefix = (bits: 64 | 48): string =>
    `${ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${bits}`).toString()}/${bits}`;
  return { group: toPrefix(64), network: toPrefix(48) };
}

/**
 * Returns the number of a client's places if it may have no more: a quarter of all for its network, or `maxPerGroup`
 * for its group.
 * @param taken the client of each taken place
 */
export function findFullShare(
  { group, network }: Client,
  taken: readonly Client[],
  max: number,
  maxPerGroup = max / 4,
): number | undefined {
  const ofNetwork = taken.filter((other) => other.network === network);
  const own = ofNetwork.filter((other) => other.group === group);
  if (own.length >= maxPerGroup) return own.length;
  return ofNetwork.length >= max / 4 ? ofNetwork.length : undefined;
}

/** The allocated IPv6 addresses; ipaddr.js also calls ::127.0.0.1 unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');

/** The limits of a response. */
export interface Bounds {
  /** Milliseconds until the last byte arrives. */
  readonly time: number;
  readonly bytes: number;
}

/** Returns a fetch that rejects, or whose body does, when a response exceeds the limits. */
export function createBoundedFetch(bounds: Bounds): (url: string, init: RequestInit) => Promise<Response> {
  return async (url, init) => {
    const signals = [AbortSignal.timeout(bounds.time), ...(init.signal ? [init.signal] : [])];
    const response = await fetch(url, { ...init, signal: AbortSignal.any(signals) });
    let left = bounds.bytes;
    const limit = new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        left -= chunk.length;
        if (left < 0) controller.error(new RangeError(`the response has more than ${bounds.bytes} bytes`));
        else controller.enqueue(chunk);
      },
    });
    return new Response(response.body?.pipeThrough(limit) ?? null, response);
  };
}

/** Returns the address that a contact links to; undefined for plain text. */
export function toContactAddress(contact: string): string | undefined {
  if (/^https:\/\//i.test(contact) && parseUrl(contact)) return contact;
  return /^[^\s@/]+@[^\s@/]+\.[^\s@/.]+$/.test(contact) ? `mailto:${contact}` : undefined;
}
