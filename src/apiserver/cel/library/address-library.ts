import { isIP as ipVersionOf } from 'node:net';
import { addressBytes } from '../../../base/address.js';
import { CHARACTER_COST } from '../budget.js';
import { fail, noSuchOverload } from '../failure.js';
import { type CallCost, declare, traversal } from '../overload.js';
import { CelCidr, CelIp, sizeOf } from '../values.js';

const within: CallCost = ([cidr]) => Math.ceil(2 * sizeOf(cidr!) * CHARACTER_COST);
const withinText: CallCost = (args, result) => within(args, result) + Math.ceil(sizeOf(args[1]!) * CHARACTER_COST);

export const ADDRESSES = [
  declare('ip(string) -> ip', parseIp, traversal()),
  declare('isIP(string) -> bool', (text: string) => ipProblem(text) === undefined, traversal()),
  declare('ip.isCanonical(string) -> bool', (text: string) => formatIp(parseIp(text)) === text, traversal(2)),
  declare('string(ip) -> string', formatIp),
  declare('ip::family() -> int', ({ bytes }: CelIp) => (bytes.length === 4 ? 4 : 6)),
  declare('ip::isUnspecified() -> bool', ({ bytes }: CelIp) => bytes.every((each) => each === 0)),
  declare('ip::isLoopback() -> bool', isLoopback),
  declare('ip::isLinkLocalMulticast() -> bool', isLinkLocalMulticast),
  declare('ip::isLinkLocalUnicast() -> bool', isLinkLocalUnicast),
  declare('ip::isGlobalUnicast() -> bool', isGlobalUnicast),

  declare('cidr(string) -> cidr', parseCidr, traversal()),
  declare('isCIDR(string) -> bool', isCidr, traversal()),
  declare('string(cidr) -> string', (cidr: CelCidr) => `${formatIp(cidr.address)}/${cidr.prefixBits}`),
  declare(
    'cidr::containsIP(string) -> bool',
    (cidr: CelCidr, text: string) => covers(cidr, ipProblem(text) === undefined ? parseIp(text) : noSuchOverload()),
    withinText,
  ),
  declare('cidr::containsIP(ip) -> bool', covers, within),
  declare(
    'cidr::containsCIDR(string) -> bool',
    (cidr: CelCidr, text: string) => contains(cidr, parseCidr(text)),
    withinText,
  ),
  declare('cidr::containsCIDR(cidr) -> bool', contains, within),
  declare('cidr::ip() -> ip', ({ address }: CelCidr) => address),
  declare('cidr::prefixLength() -> int', ({ prefixBits }: CelCidr) => prefixBits),
  declare(
    'cidr::masked() -> cidr',
    ({ address, prefixBits }: CelCidr) => new CelCidr(masked(address, prefixBits), prefixBits),
  ),
];

function ipProblem(text: string): string | undefined {
  if (text.includes('%') && ipVersionOf(text) === 6)
    return `IP address ${JSON.stringify(text)} with zone value is not allowed`;
  if (ipVersionOf(text) === 0) {
    const why = `ParseAddr(${JSON.stringify(text)}): ${unreadable(text)}`;
    return `IP Address ${JSON.stringify(text)} parse error during conversion from string: ${why}`;
  }
  const bytes = addressBytes(text)!;
  const isMapped =
    bytes.length === 16 && bytes.subarray(0, 10).every((each) => each === 0) && bytes[10] === 255 && bytes[11] === 255;
  return isMapped ? `IPv4-mapped IPv6 address ${JSON.stringify(text)} is not allowed` : undefined;
}

/** The problem of a text that is no address, in Go's words. */
function unreadable(text: string): string {
  const isFour = /^[^.:]*\./.test(text);
  if (!isFour) return 'unable to parse IP';
  const fields = text.split('.');
  if (fields.some((each) => /^0\d/.test(each))) return 'IPv4 field has octet with leading zero';
  if (fields.some((each) => /^\d+$/.test(each) && Number(each) > 255)) return 'IPv4 field has value >255';
  if (fields.some((each) => !/^\d+$/.test(each))) return 'unable to parse IP';
  return fields.length < 4 ? 'IPv4 address too short' : 'IPv4 address too long';
}

function parseIp(text: string): CelIp {
  const problem = ipProblem(text);
  return problem === undefined ? new CelIp(addressBytes(text)!) : fail(problem);
}

function parseCidr(text: string): CelCidr {
  const what = 'network address parse error during conversion from string: ';
  const bad = (why: string): never => fail(`${what}${what}${why}`);
  const slash = text.lastIndexOf('/');
  const quoted = JSON.stringify(text);
  if (slash === -1) return bad(`netip.ParsePrefix(${quoted}): no '/'`);
  const host = text.slice(0, slash);
  const bits = text.slice(slash + 1);
  if (ipVersionOf(host) === 0 || host.includes('%'))
    return bad(`netip.ParsePrefix(${quoted}): ParseAddr(${JSON.stringify(host)}): unable to parse IP`);
  if (ipProblem(host) !== undefined) return fail(`${what}IPv4-mapped IPv6 address ${quoted} is not allowed`);
  const address = new CelIp(addressBytes(host)!);
  if (!/^(?:0|[1-9]\d{0,2})$/.test(bits))
    return bad(`netip.ParsePrefix(${quoted}): bad bits after slash: ${JSON.stringify(bits)}`);
  if (Number(bits) > address.bytes.length * 8) return bad(`netip.ParsePrefix(${quoted}): prefix length out of range`);
  return new CelCidr(address, Number(bits));
}

function isCidr(text: string): boolean {
  try {
    parseCidr(text);
    return true;
  } catch {
    return false;
  }
}

/** The text of an address by RFC 5952: the longest run of two or more zero groups becomes `::`. */
function formatIp({ bytes }: CelIp): string {
  if (bytes.length === 4) return [...bytes].join('.');
  const groups = Array.from({ length: 8 }, (_, index) => bytes[2 * index]! * 256 + bytes[2 * index + 1]!);
  let best = { start: -1, length: 1 };
  for (let start = 0; start < 8; start++) {
    let length = 0;
    while (start + length < 8 && groups[start + length] === 0) length++;
    if (length > best.length) best = { start, length };
  }
  const text = (part: readonly number[]): string => part.map((each) => each.toString(16)).join(':');
  if (best.start === -1) return text(groups);
  return `${text(groups.slice(0, best.start))}::${text(groups.slice(best.start + best.length))}`;
}

function isLoopback({ bytes }: CelIp): boolean {
  return bytes.length === 4 ? bytes[0] === 127 : bytes.subarray(0, 15).every((each) => each === 0) && bytes[15] === 1;
}

function isLinkLocalMulticast({ bytes }: CelIp): boolean {
  if (bytes.length === 4) return bytes[0] === 224 && bytes[1] === 0 && bytes[2] === 0;
  return bytes[0] === 255 && (bytes[1]! & 15) === 2;
}

function isLinkLocalUnicast({ bytes }: CelIp): boolean {
  if (bytes.length === 4) return bytes[0] === 169 && bytes[1] === 254;
  return bytes[0] === 254 && (bytes[1]! & 0xc0) === 0x80;
}

function isGlobalUnicast(ip: CelIp): boolean {
  const { bytes } = ip;
  const isMulticast = bytes.length === 4 ? (bytes[0]! & 0xf0) === 224 : bytes[0] === 255;
  const isBroadcast = bytes.length === 4 && bytes.every((each) => each === 255);
  const isNothing = bytes.every((each) => each === 0);
  return !isNothing && !isBroadcast && !isMulticast && !isLoopback(ip) && !isLinkLocalUnicast(ip);
}

function masked({ bytes }: CelIp, prefixBits: number): CelIp {
  return new CelIp(
    bytes.map((each, index) => {
      const bits = Math.max(0, Math.min(8, prefixBits - index * 8));
      return each & (255 << (8 - bits)) & 255;
    }),
  );
}

function covers({ address, prefixBits }: CelCidr, ip: CelIp): boolean {
  if (ip.bytes.length !== address.bytes.length) return false;
  return Buffer.compare(masked(ip, prefixBits).bytes, masked(address, prefixBits).bytes) === 0;
}

function contains(cidr: CelCidr, other: CelCidr): boolean {
  return cidr.prefixBits <= other.prefixBits && covers(cidr, other.address);
}
