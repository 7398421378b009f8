/**
 * Returns the block of addresses of one client: an IPv4 address, or the /64 network of an IPv6
 * address, in which a host can choose any number of addresses.
 */
export function addressBlock(address: string): string {
  if (!address.includes(':')) return address;
  const [head = '', tail] = address.split('%')[0]!.split('::');
  const first = head === '' ? [] : head.split(':');
  const last = tail === undefined || tail === '' ? [] : tail.split(':');
  const gap = tail === undefined ? 0 : 8 - first.length - last.length;
  const groups = [...first, ...Array<string>(Math.max(0, gap)).fill('0'), ...last];
  return `${groups.slice(0, 4).join(':')}::/64`;
}
