import { deepStrictEqual } from 'node:assert/strict';
import { toClient } from '../../src/lib/network.ts';

describe('the client that has an address', () => {
  const cases = [
    ['is the address for IPv4', '203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['is IPv4, also where that is written as IPv6', '::ffff:203.0.113.7', '203.0.113.7', '203.0.113.7'],
    ['is the /64 and the /48 for IPv6', '2001:db8:1:2:3:4:5:6', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    ['has other keys for its /64 and its /48', '2001:db8:1::9', '2001:db8:1::/64', '2001:db8:1::/48'],
    ['is the text where that is no address', '', '', ''],
    ['is the same for all ports, which some proxies name', '203.0.113.7:50123', '203.0.113.7', '203.0.113.7'],
    ['is the same for all ports of IPv6', '[2001:db8:1:2::9]:50123', '2001:db8:1:2::/64', '2001:db8:1::/48'],
    [
      'is the same in the brackets of an address',
      '[2001:db8:1:2::9]',
      '2001:db8:1:2::/64',
      '2001:db8:1::/48',
    ],
  ] as const;

  for (const [title, address, group, network] of cases)
    it(title, () => deepStrictEqual(toClient(address), { group, network }));
});
