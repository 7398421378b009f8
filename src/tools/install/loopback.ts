import { isIP } from 'node:net';

export type IpFamily = 4 | 6;

export function ipFamily(address: string): IpFamily | undefined {
  const family = isIP(address);
  return family === 4 || family === 6 ? family : undefined;
}

/** Returns the loopback address of the family of an address. */
export function loopbackOf(address: string): string {
  return ipFamily(address) === 6 ? '::1' : '127.0.0.1';
}
