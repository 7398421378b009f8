import { createHash } from 'node:crypto';

const COMPONENT = 'kube-apiserver';
const HASH_BYTES = 16;

/** Returns the id of a kube-apiserver on a host of that name, which is also the name of its identity lease. */
export function apiServerId(serverName: string): string {
  const hash = createHash('sha256').update(lengthPrefixed(serverName)).update(lengthPrefixed(COMPONENT)).digest();
  return `apiserver-${base32(hash.subarray(0, HASH_BYTES))}`;
}

function lengthPrefixed(text: string): Buffer {
  const bytes = Buffer.from(text);
  const length = Buffer.alloc(2);
  length.writeUInt16BE(bytes.byteLength);
  return Buffer.concat([length, bytes]);
}

const ALPHABET = 'abcdefghijklmnopqrstuvwxyz234567';

/** RFC 4648 in lower case, without padding. */
function base32(bytes: Uint8Array): string {
  let text = '';
  let buffer = 0;
  let bits = 0;
  for (const byte of bytes) {
    buffer = (buffer << 8) | byte;
    for (bits += 8; bits >= 5; bits -= 5) text += ALPHABET[(buffer >>> (bits - 5)) & 31];
    buffer &= (1 << bits) - 1;
  }
  return bits === 0 ? text : text + ALPHABET[(buffer << (5 - bits)) & 31];
}
