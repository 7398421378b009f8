import { isIP } from 'node:net';

/**
 * `10.0.0.2:6443` or `[fd00::2]:6443` in one canonical spelling, or undefined for anything that cannot be dialled.
 * Only IP addresses: a name in a lease could lead anywhere.
 */
export function canonicalAddress(text: string): string | undefined {
  const match = /^(?:\[([0-9a-fA-F:.]{2,45})\]|([0-9.]{7,15})):(\d{1,5})$/.exec(text);
  return match ? joinAddress((match[1] ?? match[2])!, Number(match[3])) : undefined;
}

/** The canonical spelling of an IP address and a port. */
export function joinAddress(ip: string, port: number): string | undefined {
  if (!Number.isInteger(port) || port < 1 || port > 65_535) return undefined;
  const family = isIP(ip);
  if (family === 0) return undefined;
  if (family === 4) return ip === '0.0.0.0' ? undefined : `${ip}:${port}`;
  if (ip.includes('%')) return undefined;
  const host = new URL(`https://[${ip}]`).hostname;
  return host === '[::]' ? undefined : `${host}:${port}`;
}

/** Address of a URL from a flag, where names are allowed because an operator wrote them. */
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
  const port = parsed.port === '' ? '443' : parsed.port;
  return canonicalAddress(`${parsed.hostname}:${port}`) ?? `${parsed.hostname}:${port}`;
}
