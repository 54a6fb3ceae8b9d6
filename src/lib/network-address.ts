import ipaddr from 'ipaddr.js';

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
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address).toString();
  return ip.includes(':') ? ipaddr.IPv6.networkAddressFromCIDR(`${ip}/${bits}`).toString() : ip;
}

/** The allocated IPv6 addresses; ipaddr.js also calls ::127.0.0.1 unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
