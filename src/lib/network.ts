import ipaddr from 'ipaddr.js';

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

/**
 * Returns the key to count an address by: the first 64 bits of an IPv6 address, because a customer has them all.
 * @param bits 48 for what one site of a customer can have at most
 */
export function toAddressGroup(address: string, bits: 64 | 48 = 64): string {
  // Some proxies put the port behind it in X-Forwarded-For.
  const host = address.replace(/^(?:\[([^\]]*)\]|([\d.]+)):\d+$/, '$1$2');
  if (!ipaddr.isValid(host)) return address;
  const ip = ipaddr.process(host).toString();
  return ip.includes(':') ? ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${bits}`).toString() : ip;
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
