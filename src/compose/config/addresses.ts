import { BlockList, isIP, isIPv4, isIPv6 } from 'node:net';

const LOOPBACK = new BlockList();
LOOPBACK.addSubnet('127.0.0.0', 8, 'ipv4');
LOOPBACK.addAddress('::1', 'ipv6');

const LINK_LOCAL = new BlockList();
LINK_LOCAL.addSubnet('169.254.0.0', 16, 'ipv4');
LINK_LOCAL.addSubnet('fe80::', 10, 'ipv6');

const UNSPECIFIED = new BlockList();
UNSPECIFIED.addAddress('0.0.0.0', 'ipv4');
UNSPECIFIED.addAddress('::', 'ipv6');

export function isLoopback(host: string): boolean {
  return host === 'localhost' || within(LOOPBACK, host);
}

/** Returns whether an address is 0.0.0.0 or ::, which can be listened on but not dialled. */
export function isUnspecified(host: string): boolean {
  return within(UNSPECIFIED, host);
}

/** Returns the first address that other machines can reach; IPv4 first. */
export function firstRoutable(addresses: readonly string[], bindAddress: string): string | undefined {
  const routable = addresses.filter(
    (address) => isIP(address) !== 0 && !isLoopback(address) && !isUnspecified(address) && !within(LINK_LOCAL, address),
  );
  const ipv4 = routable.find((address) => isIPv4(address));
  // 0.0.0.0 accepts no IPv6 connections, while :: accepts both.
  return ipv4 ?? (isIPv6(bindAddress) ? routable[0] : undefined);
}

function within(list: BlockList, host: string): boolean {
  const family = isIP(host);
  return family !== 0 && list.check(host, family === 6 ? 'ipv6' : 'ipv4');
}
