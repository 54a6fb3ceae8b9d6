import ipaddr from 'ipaddr.js';

/** Whether an address is a machine of the public internet: not this one, not the network around it. */
export function isPublicAddress(address: string): boolean {
  if (!ipaddr.isValid(address)) return false;
  const ip = ipaddr.process(address);
  if (ip.range() !== 'unicast') return false;
  return ip instanceof ipaddr.IPv4 || ip.match(globalUnicast);
}

/** What an address is counted by: an IPv6 network is one customer, so its first 64 bits are. */
export function addressGroup(address: string): string {
  if (!ipaddr.isValid(address)) return address;
  const ip = ipaddr.process(address).toString();
  return ip.includes(':') ? ipaddr.IPv6.networkAddressFromCIDR(`${ip}/64`).toString() : ip;
}

/** The only IPv6 addresses given out; ipaddr.js also calls ::127.0.0.1 unicast. */
const globalUnicast = ipaddr.IPv6.parseCIDR('2000::/3');
