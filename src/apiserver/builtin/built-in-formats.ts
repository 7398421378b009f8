/** Formats of values inside objects. Each function returns the problems of a value, in kube-apiserver's words. */
import { isIP } from 'node:net';
import { addressBytes } from '../../base/address.js';
import {
  DNS_SUBDOMAIN_LENGTH_MAX,
  dns1035LabelProblems as dns1035Label,
  dnsLabelProblems as dnsLabel,
  dnsSubdomainProblems as dnsSubdomain,
} from '../values/object-meta.js';

export { labelKeyProblems, labelValueProblems, pathSegmentProblems } from '../values/object-meta.js';

export const INT32_MAX = 2_147_483_647;
export const PROTOCOLS = ['SCTP', 'TCP', 'UDP'];

/** kube-apiserver counts the lengths of names in bytes, but calls them characters in these messages. */
const inCharacters = (problems: readonly string[]): string[] =>
  problems.map((each) => each.replace(/^must be no more than (\d+) bytes$/, 'must be no more than $1 characters'));

const SUBDOMAIN = '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*';

export const dnsLabelProblems = (value: string): string[] => inCharacters(dnsLabel(value));
export const dnsSubdomainProblems = (value: string): string[] => inCharacters(dnsSubdomain(value));
export const dns1035LabelProblems = (value: string): string[] => inCharacters(dns1035Label(value));

/** Search domains of DNS may have underscores. */
export function searchProblems(value: string): string[] {
  const label = '_?[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
  const pattern = `${label}(\\.${label})*`;
  if (new RegExp(`^${pattern}$`).test(value)) return [];
  return [
    `a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '_', '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '${pattern}')`,
  ];
}

export function wildcardSubdomainProblems(value: string): string[] {
  if (new RegExp(`^\\*\\.${SUBDOMAIN}$`).test(value)) {
    return value.length > DNS_SUBDOMAIN_LENGTH_MAX
      ? [`must be no more than ${DNS_SUBDOMAIN_LENGTH_MAX} characters`]
      : [];
  }
  return [
    `a wildcard DNS-1123 subdomain must start with '*.', followed by a valid DNS subdomain, which must consist of lower case alphanumeric characters, '-' or '.' and end with an alphanumeric character (e.g. '*.example.com', regex used for validation is '\\*\\.${SUBDOMAIN}')`,
  ];
}

export function configKeyProblems(key: string): string[] {
  const problems: string[] = [];
  if (Buffer.byteLength(key) > DNS_SUBDOMAIN_LENGTH_MAX) {
    problems.push(`must be no more than ${DNS_SUBDOMAIN_LENGTH_MAX} characters`);
  }
  if (!/^[-._a-zA-Z0-9]+$/.test(key)) {
    problems.push(
      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' (e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation is '[-._a-zA-Z0-9]+')",
    );
  }
  if (key === '.' || key === '..') problems.push(`must not be '${key}'`);
  else if (key.startsWith('..')) problems.push("must not start with '..'");
  return problems;
}

export function envNameProblems(name: string): string[] {
  return /^[\x20-\x3c\x3e-\x7e]*$/.test(name)
    ? []
    : ["a valid environment variable name must consist only of printable ASCII characters other than '='"];
}

export function portNumberProblems(port: number): string[] {
  return port >= 1 && port <= 65_535 ? [] : ['must be between 1 and 65535, inclusive'];
}

export function portNameProblems(name: string): string[] {
  const problems: string[] = [];
  if (name.length > 15) problems.push('must be no more than 15 characters');
  if (!/^[-a-z0-9]+$/.test(name)) {
    problems.push('must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)');
  }
  if (!/[a-z]/.test(name)) problems.push('must contain at least one letter (a-z)');
  if (name.includes('--')) problems.push('must not contain consecutive hyphens');
  if (name.startsWith('-') || name.endsWith('-')) problems.push('must not begin or end with a hyphen');
  return problems;
}

export function idProblems(id: number): string[] {
  return id >= 0 && id <= INT32_MAX ? [] : [`must be between 0 and ${INT32_MAX}, inclusive`];
}

export function percentProblems(text: string): string[] {
  return /^[0-9]+%$/.test(text)
    ? []
    : [
        "a valid percent string must be a numeric string followed by an ending '%' (e.g. '1%',  or '93%', regex used for validation is '[0-9]+%')",
      ];
}

const ADDRESS_RULE = 'must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)';
const RANGE_RULE = 'must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)';

export function addressProblems(text: string): string[] {
  return isIP(text) === 0 ? [ADDRESS_RULE] : [];
}

export function rangeProblems(text: string): string[] {
  return parseRange(text) === undefined ? [RANGE_RULE] : [];
}

export interface AddressRange {
  readonly family: 4 | 6;
  readonly first: bigint;
  readonly prefixBits: number;
}

export function parseRange(text: string): AddressRange | undefined {
  const [address = '', bits = '', ...rest] = text.split('/');
  const family = isIP(address);
  const width = family === 4 ? 32 : 128;
  if (family === 0 || rest.length > 0 || !/^\d{1,3}$/.test(bits) || Number(bits) > width) return undefined;
  const prefixBits = Number(bits);
  const hostBits = BigInt(width - prefixBits);
  return { family: family as 4 | 6, first: (addressNumber(address) >> hostBits) << hostBits, prefixBits };
}

/** An address as a number. */
function addressNumber(text: string): bigint {
  return addressBytes(text)!.reduce((sum, byte) => sum * 256n + BigInt(byte), 0n);
}

export function isInRange(address: string, { family, first, prefixBits }: AddressRange): boolean {
  if (isIP(address) !== family) return false;
  const hostBits = BigInt((family === 4 ? 32 : 128) - prefixBits);
  return addressNumber(address) >> hostBits === first >> hostBits;
}

/** Ranges that addresses of endpoints may not be in. */
export function endpointAddressProblems(address: string): string[] {
  const problems: string[] = [];
  const isV4 = isIP(address) === 4;
  const lower = address.toLowerCase();
  if (address === '0.0.0.0' || address === '::') problems.push(`may not be unspecified (${address})`);
  if ((isV4 && address.startsWith('127.')) || address === '::1') {
    problems.push('may not be in the loopback range (127.0.0.0/8, ::1/128)');
  }
  if ((isV4 && address.startsWith('169.254.')) || /^fe[89ab]/.test(lower)) {
    problems.push('may not be in the link-local range (169.254.0.0/16, fe80::/10)');
  }
  if ((isV4 && address.startsWith('224.0.0.')) || /^ff02:/.test(lower)) {
    problems.push('may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)');
  }
  return problems;
}
