import { X509Certificate } from 'node:crypto';
import { type CertificateExtensions, readExtensions } from './certificate-extensions.js';
import { DerError, DerReader, type DerValue, oidText, stringText, TAG, timeMs } from './der.js';
import { type KeyRefusals, keyRefusals } from './public-key-limits.js';

/** Attributes of a subject in order, multi-valued names included. */
export type NameAttributes = readonly { readonly type: string; readonly value: string }[];

/** The parts of a certificate for path validation and for the identity, read from its bytes. */
export interface Certificate extends CertificateExtensions, KeyRefusals {
  /** Parsed by OpenSSL, which is expensive. Throws DerError if OpenSSL reads something else. */
  readonly x509: X509Certificate;
  readonly der: Uint8Array;
  readonly subject: NameAttributes;
  /** Encoded names: issuers are matched octet by octet, as in Go. */
  readonly subjectDer: Uint8Array;
  readonly issuerDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly version: number;
  /** Signed with a hash that is still secure. */
  readonly signatureIsStrong: boolean;
}

/** Above the 100 kB that OpenSSL accepts for the whole chain of a handshake. */
export const CERTIFICATE_BYTES_MAX = 128 * 1024;

/** RSA, ECDSA with SHA-2, and Ed25519. SHA-1 and MD5 are left out, as in Go. */
const STRONG_SIGNATURES: ReadonlySet<string> = new Set([
  '1.2.840.113549.1.1.11',
  '1.2.840.113549.1.1.12',
  '1.2.840.113549.1.1.13',
  '1.2.840.10045.4.3.2',
  '1.2.840.10045.4.3.3',
  '1.2.840.10045.4.3.4',
  '1.3.101.112',
]);
const RSA_PSS = '1.2.840.113549.1.1.10';
const STRONG_HASHES: ReadonlySet<string> = new Set([
  '2.16.840.1.101.3.4.2.1',
  '2.16.840.1.101.3.4.2.2',
  '2.16.840.1.101.3.4.2.3',
]);

/** Throws DerError for anything but one certificate, well-formed also for OpenSSL. */
export function readCertificate(der: Uint8Array): Certificate {
  const certificate = decodeCertificate(der);
  void certificate.x509;
  return certificate;
}

/** Reads a certificate without OpenSSL, until `x509` is asked for. Throws DerError. */
export function decodeCertificate(der: Uint8Array): Certificate {
  if (der.byteLength > CERTIFICATE_BYTES_MAX) throw new DerError('the certificate is too large');
  const outer = new DerReader(der);
  const parts = outer.open(TAG.sequence);
  outer.end();
  const toBeSigned = parts.open(TAG.sequence);
  const signature = parts.read(TAG.sequence);
  parts.read(TAG.bitString);
  parts.end();

  const version = readVersion(toBeSigned.optional(0xa0));
  checkSerialNumber(toBeSigned.read(TAG.integer).content);
  const innerSignature = toBeSigned.read(TAG.sequence);
  if (!sameBytes(innerSignature.whole, signature.whole)) throw new DerError('two different signature algorithms');
  const issuer = toBeSigned.read(TAG.sequence);
  const validity = toBeSigned.open(TAG.sequence);
  const notBeforeMs = timeMs(validity.any());
  const notAfterMs = timeMs(validity.any());
  const subject = toBeSigned.read(TAG.sequence);
  const refusals = keyRefusals(toBeSigned.read(TAG.sequence).content);
  toBeSigned.optional(0x81);
  toBeSigned.optional(0x82);
  const extensions = toBeSigned.optional(0xa3);
  toBeSigned.end();
  // RFC 5280, 4.1.2.1. Go ignores them there, and OpenSSL does not.
  if (extensions && version < 3) throw new DerError(`extensions in a certificate of version ${version}`);

  let x509: X509Certificate | undefined;
  return {
    get x509() {
      x509 ??= parseX509(der);
      return x509;
    },
    der,
    subject: readName(subject.content),
    subjectDer: subject.whole,
    issuerDer: issuer.whole,
    notBeforeMs,
    notAfterMs,
    version,
    signatureIsStrong: isStrong(signature),
    ...refusals,
    ...readExtensions(extensions),
  };
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/**
 * Parses with OpenSSL. Node searches for PEM text in the bytes before it tries DER: a forged
 * certificate with a genuine one as text inside would be verified by the inner one and read by the
 * outer, so the bytes that Node has read are compared.
 */
function parseX509(der: Uint8Array): X509Certificate {
  let x509: X509Certificate;
  try {
    x509 = new X509Certificate(der);
  } catch {
    throw new DerError('not a certificate that OpenSSL can read');
  }
  if (!sameBytes(x509.raw, der)) throw new DerError('a certificate inside a certificate');
  return x509;
}

function readVersion(tagged: DerValue | undefined): number {
  if (!tagged) return 1;
  const inner = new DerReader(tagged.content);
  const { content } = inner.read(TAG.integer);
  inner.end();
  if (content.length !== 1 || content[0]! > 2) throw new DerError('an unknown certificate version');
  return content[0]! + 1;
}

/** Refuses negative numbers only, as Go does: authorities write zero, and too many octets. */
function checkSerialNumber(content: Uint8Array): void {
  const padded = content.length > 1 && content[0] === 0 && content[1]! < 0x80;
  if (content.length === 0 || content[0]! >= 0x80 || padded) throw new DerError('a malformed serial number');
}

/** Returns the attributes of an encoded X.501 name. Throws DerError. */
export function readName(content: Uint8Array): NameAttributes {
  const attributes: { type: string; value: string }[] = [];
  const names = new DerReader(content);
  while (!names.done) {
    const set = names.open(TAG.set);
    while (!set.done) {
      const attribute = set.open(TAG.sequence);
      const type = oidText(attribute.read(TAG.objectIdentifier).content);
      attributes.push({ type, value: stringText(attribute.any()) });
      attribute.end();
    }
  }
  return attributes;
}

function isStrong(algorithm: DerValue): boolean {
  const reader = new DerReader(algorithm.content);
  const type = oidText(reader.read(TAG.objectIdentifier).content);
  if (type !== RSA_PSS) return STRONG_SIGNATURES.has(type);
  // RSA-PSS names its hash in a parameter; left out, it means SHA-1.
  const parameters = reader.optional(TAG.sequence);
  const hash = parameters && new DerReader(parameters.content).optional(0xa0);
  if (!hash) return false;
  const hashType = new DerReader(hash.content).open(TAG.sequence).read(TAG.objectIdentifier);
  return STRONG_HASHES.has(oidText(hashType.content));
}
