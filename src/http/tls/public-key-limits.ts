import { DerReader, oidText, TAG } from './der.js';

/** Shortest RSA modulus that verifies a signature, as in crypto/rsa of Go. */
export const RSA_MODULUS_BITS_MIN = 1_024;
/** Longest RSA modulus of a client's certificate; crypto/tls of Go has the same limit. */
export const RSA_MODULUS_BITS_MAX = 8_192;
/** Largest RSA public exponent, as in crypto/rsa of Go. The cost of a signature check grows with the exponent's length. */
export const RSA_EXPONENT_MAX = 2 ** 31 - 1;

const RSA = '1.2.840.113549.1.1.1';
const ELLIPTIC_CURVE = '1.2.840.10045.2.1';
const ED25519 = '1.3.101.112';
/** P-224, P-256, P-384 and P-521: the curves that crypto/x509 of Go knows. */
const CURVES: ReadonlySet<string> = new Set(['1.3.132.0.33', '1.2.840.10045.3.1.7', '1.3.132.0.34', '1.3.132.0.35']);

/** Reasons not to check signatures with a public key; undefined where it may be used. */
export interface KeyRefusals {
  /** For any certificate. */
  readonly keyRefusal: string | undefined;
  /** For a client's certificate: also keys that cost too much. */
  readonly clientKeyRefusal: string | undefined;
}

/** Checks a SubjectPublicKeyInfo by its encoding only. Throws DerError. */
export function keyRefusals(info: Uint8Array): KeyRefusals {
  const parts = new DerReader(info);
  const algorithm = parts.open(TAG.sequence);
  const key = parts.read(TAG.bitString).content;
  parts.end();
  const type = oidText(algorithm.read(TAG.objectIdentifier).content);
  if (type === RSA) return rsaRefusals(key);
  const keyRefusal = otherRefusal(type, algorithm);
  return { keyRefusal, clientKeyRefusal: keyRefusal };
}

function otherRefusal(type: string, algorithm: DerReader): string | undefined {
  if (type === ED25519) return undefined;
  if (type !== ELLIPTIC_CURVE) return `public keys of type ${type} are not supported`;
  // Explicit parameters would be a curve of the client's choice.
  const curve = algorithm.optional(TAG.objectIdentifier);
  return curve && CURVES.has(oidText(curve.content)) ? undefined : 'the elliptic curve of its key is not supported';
}

function rsaRefusals(key: Uint8Array): KeyRefusals {
  // The first octet of a bit string counts its unused bits.
  const outer = new DerReader(key.subarray(1));
  const numbers = outer.open(TAG.sequence);
  const modulusBits = bitLength(numbers.read(TAG.integer).content);
  const exponent = numbers.read(TAG.integer).content;
  let keyRefusal: string | undefined;
  if (modulusBits < RSA_MODULUS_BITS_MIN) keyRefusal = `its RSA key has fewer than ${RSA_MODULUS_BITS_MIN} bits`;
  if (bitLength(exponent) > bitLength(EXPONENT_MAX_OCTETS))
    keyRefusal = 'the public exponent of its RSA key is too large';
  const tooLong =
    modulusBits > RSA_MODULUS_BITS_MAX ? `its RSA key has more than ${RSA_MODULUS_BITS_MAX} bits` : undefined;
  return { keyRefusal, clientKeyRefusal: keyRefusal ?? tooLong };
}

const EXPONENT_MAX_OCTETS = Buffer.from(RSA_EXPONENT_MAX.toString(16), 'hex');

/** Bits of an integer's content octets; a negative one counts with its sign bit. */
function bitLength(content: Uint8Array): number {
  const first = content.findIndex((octet) => octet !== 0);
  return first < 0 ? 0 : (content.length - first) * 8 - Math.clz32(content[first]!) + 24;
}
