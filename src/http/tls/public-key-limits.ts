import { DerReader, oidText, TAG } from './der.js';

/** Longest RSA modulus of a client's certificate; crypto/tls of Go has the same limit. */
export const RSA_MODULUS_BITS_MAX = 8_192;
/** Largest RSA public exponent, as in crypto/rsa of Go. The cost of a signature check grows with the exponent's length. */
export const RSA_EXPONENT_MAX = 2 ** 31 - 1;

const RSA: ReadonlySet<string> = new Set(['1.2.840.113549.1.1.1', '1.2.840.113549.1.1.10']);
const ELLIPTIC_CURVE = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
/** P-224, P-256, P-384 and P-521: the curves that crypto/x509 of Go knows. */
const CURVES: ReadonlySet<string> = new Set(['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']);

/**
 * Returns why a public key (the content of a SubjectPublicKeyInfo) is not used for a signature check, undefined if it
 * may be. Reads the encoding only. Throws DerError.
 */
export function publicKeyRefusal(info: Uint8Array): string | undefined {
  const parts = new DerReader(info);
  const algorithm = parts.open(TAG.sequence);
  const key = parts.read(TAG.bitString).content;
  parts.end();
  const type = oidText(algorithm.read(TAG.objectIdentifier).content);
  if (RSA.has(type)) return rsaRefusal(key);
  if (type === ED25519) return undefined;
  if (type !== ELLIPTIC_CURVE) return `public keys of type ${type} are not supported`;
  // Anything but a name would be a curve of the client's own making.
  const curve = algorithm.optional(TAG.objectIdentifier);
  return curve && CURVES.has(oidText(curve.content)) ? undefined : 'the elliptic curve of its key is not supported';
}

function rsaRefusal(key: Uint8Array): string | undefined {
  // The first octet of a bit string counts its unused bits.
  const outer = new DerReader(key.subarray(1));
  const numbers = outer.open(TAG.sequence);
  const modulusBits = bitLength(numbers.read(TAG.integer).content);
  const exponent = numbers.read(TAG.integer).content;
  if (modulusBits > RSA_MODULUS_BITS_MAX) return `its RSA key has more than ${RSA_MODULUS_BITS_MAX} bits`;
  if (bitLength(exponent) > bitLength(EXPONENT_MAX_OCTETS)) return 'the public exponent of its RSA key is too large';
  return undefined;
}

const EXPONENT_MAX_OCTETS = Buffer.from(RSA_EXPONENT_MAX.toString(16), 'hex');

/** Bits of an integer's content octets; a negative one counts with its sign bit. */
function bitLength(content: Uint8Array): number {
  const first = content.findIndex((octet) => octet !== 0);
  return first < 0 ? 0 : (content.length - first) * 8 - Math.clz32(content[first]!) + 24;
}
