import { strictEqual } from 'node:assert/strict';
import { toAddressGroup } from '../../src/lib/network.ts';

describe('the group of an address', () => {
  it('is the address itself for IPv4, also where it is written as IPv6', () => {
    strictEqual(toAddressGroup('203.0.113.7'), '203.0.113.7');
    strictEqual(toAddressGroup('::ffff:203.0.113.7'), '203.0.113.7');
  });

  it('is the /64 network for IPv6, or the /48', () => {
    strictEqual(toAddressGroup('2001:db8:1:2:3:4:5:6'), '2001:db8:1:2::');
    strictEqual(toAddressGroup('2001:db8:1:2:3:4:5:6', 48), '2001:db8:1::');
    strictEqual(toAddressGroup('2001:db8:1:2::9'), toAddressGroup('2001:db8:1:2:ffff::1'));
  });

  it('is the input itself where that is no address', () => {
    strictEqual(toAddressGroup(''), '');
  });

  it('is the same for all ports, which some proxies name', () => {
    strictEqual(toAddressGroup('203.0.113.7:50123'), '203.0.113.7');
    strictEqual(toAddressGroup('[2001:db8:1:2::9]:50123'), '2001:db8:1:2::');
  });
});
