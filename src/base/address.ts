import { isIP } from 'node:net';

/** A host is a name or an IP address; an IPv6 address has no brackets here. */
export interface HostPort {
  readonly host: string;
  readonly port: number;
}

/** Host and port of a URL, by default the port of its scheme. */
export function hostPortOf(url: URL): HostPort {
  const defaultPort = url.protocol === 'http:' ? 80 : 443;
  return { host: url.hostname.replace(/^\[|\]$/g, ''), port: url.port === '' ? defaultPort : Number(url.port) };
}

/** Takes `10.0.0.1:6443`, `[fd00::1]:6443` or a name apart; without a port it is 443. Throws for anything else. */
export function parseHostPort(address: string): HostPort {
  return hostPortOf(new URL(`https://${address}`));
}

/** `10.0.0.1:6443`, `[fd00::1]:6443`. */
export function formatHostPort({ host, port }: HostPort): string {
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`;
}

/**
 * Returns the canonical form of `10.0.0.2:6443` or `[fd00::2]:6443`, or undefined for text that
 * cannot be dialled. Only IP addresses are accepted: a DNS name in a lease could resolve to anything.
 */
export function canonicalAddress(text: string): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15})):(\d{1,5})$/.exec(text);
  return match ? joinAddress((match[1] ?? match[2])!, Number(match[3])) : undefined;
}

/** Returns the canonical form of an IP address and a port, or undefined if either is invalid. */
export function joinAddress(ip: string, port: number): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const family = isIP(ip);
  if (family === 0) return undefined;
  if (family === 4) return ip === '0.0.0.0' ? undefined : `${ip}:${port}`;
  if (ip.includes('%')) return undefined;
  const host = new URL(`https://[${ip}]`).hostname;
  return host === '[::]' ? undefined : `${host}:${port}`;
}

/**
 * Returns the address of a URL from a flag, or undefined for other URLs. Host names are allowed here
 * because an operator wrote them.
 */
export function addressOfUrl(url: string): string | undefined {
  let parsed: URL;
  try {
    parsed = new URL(url);
  } catch {
    return undefined;
  }
  if (parsed.protocol !== 'https:' || parsed.hostname === '' || parsed.username !== '') return undefined;
  if ((parsed.pathname !== '/' && parsed.pathname !== '') || parsed.search !== '' || parsed.hash !== '')
    return undefined;
  const address = formatHostPort(hostPortOf(parsed));
  return canonicalAddress(address) ?? address;
}

/** The 4 or 16 bytes of an IP address, without its zone; undefined for text that is no address. */
export function addressBytes(text: string): Uint8Array | undefined {
  const family = isIP(text);
  if (family === 0) return undefined;
  if (family === 4) return Uint8Array.from(text.split('.').map(Number));
  const [head = '', tail = ''] = text.split('%')[0]!.split('::');
  const first = head.split(':').flatMap(groupBytes);
  const last = tail.split(':').flatMap(groupBytes);
  return Uint8Array.from([...first, ...Array<number>(16 - first.length - last.length).fill(0), ...last]);
}

/** The bytes of one group of an IPv6 address; the last one may be an IPv4 address. */
function groupBytes(group: string): number[] {
  if (group === '') return [];
  if (group.includes('.')) return group.split('.').map(Number);
  return [Number.parseInt(group, 16) >> 8, Number.parseInt(group, 16) & 255];
}

/** Whether two texts are the same IP address, however it is written. Texts that are no addresses must be equal. */
export function isSameAddress(a: string, b: string): boolean {
  const [first, second] = [addressBytes(a), addressBytes(b)];
  return first && second ? Buffer.compare(first, second) === 0 : a === b;
}
