import { isIP } from 'node:net';
import { TAG } from './der.js';

/** Writes the DER values that a certificate is made of; the counterpart of DerReader. */

export function tlv(tag: number, ...contents: readonly Uint8Array[]): Buffer {
  const content = Buffer.concat(contents);
  const octets: number[] = [];
  if (content.length >= 0x80) {
    for (let left = content.length; left > 0; left >>= 8) octets.unshift(left & 0xff);
    octets.unshift(0x80 | octets.length);
  } else {
    octets.push(content.length);
  }
  return Buffer.concat([Buffer.from([tag, ...octets]), content]);
}

export const sequence = (...contents: readonly Uint8Array[]): Buffer => tlv(TAG.sequence, ...contents);

export const octetString = (content: Uint8Array): Buffer => tlv(TAG.octetString, content);

export const trueValue = (): Buffer => tlv(TAG.boolean, Buffer.from([0xff]));

export const nullValue = (): Buffer => tlv(0x05);

/** `unusedBits` at the end of the last octet. */
export function bitString(bytes: Uint8Array, unusedBits = 0): Buffer {
  return tlv(TAG.bitString, Buffer.from([unusedBits]), bytes);
}

/** An unsigned number, most significant octet first, in its shortest form. */
export function unsignedInteger(magnitude: Uint8Array): Buffer {
  let start = 0;
  while (start < magnitude.length - 1 && magnitude[start] === 0) start++;
  const digits = magnitude.subarray(start);
  const isNegative = digits.length === 0 || (digits[0]! & 0x80) !== 0;
  return tlv(TAG.integer, Buffer.from(isNegative ? [0] : []), digits);
}

export function objectIdentifier(dotted: string): Buffer {
  const [first, second, ...rest] = dotted.split('.').map(Number);
  const octets: number[] = [];
  for (const arc of [first! * 40 + second!, ...rest]) {
    const groups = [arc % 128];
    for (let left = Math.floor(arc / 128); left > 0; left = Math.floor(left / 128)) groups.unshift((left % 128) | 0x80);
    octets.push(...groups);
  }
  return tlv(TAG.objectIdentifier, Buffer.from(octets));
}

export function utf8(text: string): Buffer {
  return tlv(TAG.utf8String, Buffer.from(text, 'utf8'));
}

/** RFC 5280, 4.1.2.5: years until 2049 with two digits, later ones with four. */
export function time(atMs: number): Buffer {
  const date = new Date(atMs);
  const digits = date.toISOString().replace(/[-:T]|\.\d+/g, '');
  return date.getUTCFullYear() < 2050
    ? tlv(TAG.utcTime, Buffer.from(digits.slice(2)))
    : tlv(TAG.generalizedTime, Buffer.from(digits));
}

/** Returns the 4 or 16 octets of an IP address, or undefined. */
export function addressOctets(address: string): Buffer | undefined {
  const kind = isIP(address);
  if (kind === 4) return Buffer.from(address.split('.').map(Number));
  if (kind !== 6 || address.includes('%')) return undefined;
  // The URL parser accepts every notation and writes groups, the longest run of zeros as "::".
  const [head = '', tail] = new URL(`http://[${address}]/`).hostname.slice(1, -1).split('::');
  const groupsOf = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const front = groupsOf(head);
  const back = groupsOf(tail ?? '');
  const groups = [...front, ...Array<number>(8 - front.length - back.length).fill(0), ...back];
  const octets = Buffer.alloc(16);
  groups.forEach((group, index) => {
    octets.writeUInt16BE(group, index * 2);
  });
  return octets;
}
