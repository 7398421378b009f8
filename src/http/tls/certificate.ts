import { X509Certificate } from 'node:crypto';
import { DerError, DerReader, type DerValue, oidText, stringText, TAG, timeMs } from './der.js';
import { publicKeyRefusal } from './public-key-limits.js';

/** Attributes of a subject, in the order they stand in, multi-valued names included. */
export type NameAttributes = readonly { readonly type: string; readonly value: string }[];

/** The parts of a certificate that decide whether to believe it and whom it names, read from its own bytes. */
export interface Certificate {
  /** As OpenSSL reads it, which costs far more than all the rest. Throws DerError if OpenSSL does not read the same. */
  readonly x509: X509Certificate;
  readonly der: Uint8Array;
  readonly subject: NameAttributes;
  /** The encoded names: issuers are matched octet by octet, as Go does. */
  readonly subjectDer: Uint8Array;
  readonly issuerDer: Uint8Array;
  readonly notBeforeMs: number;
  readonly notAfterMs: number;
  readonly version: number;
  /** Undefined without a basic constraints extension. */
  readonly isCa: boolean | undefined;
  readonly pathLengthMax: number | undefined;
  /** Undefined without a key usage extension, which then limits nothing. */
  readonly maySignCertificates: boolean | undefined;
  /** Empty without the extension, which then limits nothing. */
  readonly extendedKeyUsages: readonly string[];
  readonly hasAlternativeNames: boolean;
  readonly hasNameConstraints: boolean;
  /** First critical extension that nothing here understands; such a certificate must not be used. */
  readonly unknownCritical: string | undefined;
  /** Signed with a hash that is still good. */
  readonly signatureIsStrong: boolean;
  /** Why its public key verifies no signatures of others; see `publicKeyRefusal`. */
  readonly keyRefusal: string | undefined;
  /** Identifiers of its own key and of its issuer's; undefined without the extension. Hints, not proof. */
  readonly subjectKeyId: Uint8Array | undefined;
  readonly authorityKeyId: Uint8Array | undefined;
}

/** More than any handshake brings (OpenSSL stops at 100 kB for a whole chain). */
export const CERTIFICATE_BYTES_MAX = 128 * 1024;

const EXTENSION = {
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAltName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  nameConstraints: '2.5.29.30',
  crlDistributionPoints: '2.5.29.31',
  certificatePolicies: '2.5.29.32',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  authorityInformation: '1.3.6.1.5.5.7.1.1',
} as const;

const KNOWN_EXTENSIONS: ReadonlySet<string> = new Set(Object.values(EXTENSION));

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

/** Throws DerError for anything that is not exactly one well-formed certificate, to OpenSSL too. */
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
  toBeSigned.read(TAG.integer);
  const innerSignature = toBeSigned.read(TAG.sequence);
  if (!sameBytes(innerSignature.whole, signature.whole)) throw new DerError('two different signature algorithms');
  const issuer = toBeSigned.read(TAG.sequence);
  const validity = toBeSigned.open(TAG.sequence);
  const notBeforeMs = timeMs(validity.any());
  const notAfterMs = timeMs(validity.any());
  const subject = toBeSigned.read(TAG.sequence);
  const keyRefusal = publicKeyRefusal(toBeSigned.read(TAG.sequence).content);
  toBeSigned.optional(0x81);
  toBeSigned.optional(0x82);
  const extensions = readExtensions(toBeSigned.optional(0xa3));
  toBeSigned.end();

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
    ...readBasicConstraints(extensions.values.get(EXTENSION.basicConstraints)),
    maySignCertificates: readMaySign(extensions.values.get(EXTENSION.keyUsage)),
    extendedKeyUsages: readExtendedKeyUsages(extensions.values.get(EXTENSION.extendedKeyUsage)),
    hasAlternativeNames: extensions.values.has(EXTENSION.subjectAltName),
    hasNameConstraints: extensions.values.has(EXTENSION.nameConstraints),
    unknownCritical: extensions.unknownCritical,
    signatureIsStrong: isStrong(signature),
    keyRefusal,
    subjectKeyId: readSubjectKeyId(extensions.values.get(EXTENSION.subjectKeyIdentifier)),
    authorityKeyId: readAuthorityKeyId(extensions.values.get(EXTENSION.authorityKeyIdentifier)),
  };
}

export function sameBytes(a: Uint8Array, b: Uint8Array): boolean {
  return Buffer.compare(a, b) === 0;
}

/**
 * Node looks for PEM text before it tries DER, anywhere in the bytes. A forged certificate with a genuine one as text
 * inside would be verified by the inner one and read by the outer, so what Node has read must be what was given.
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

/** The attributes of an encoded X.501 name. Throws DerError. */
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

interface Extensions {
  readonly values: ReadonlyMap<string, Uint8Array>;
  readonly unknownCritical: string | undefined;
}

function readExtensions(tagged: DerValue | undefined): Extensions {
  const values = new Map<string, Uint8Array>();
  let unknownCritical: string | undefined;
  if (!tagged) return { values, unknownCritical };
  const wrapper = new DerReader(tagged.content);
  const list = wrapper.open(TAG.sequence);
  wrapper.end();
  while (!list.done) {
    const extension = list.open(TAG.sequence);
    const type = oidText(extension.read(TAG.objectIdentifier).content);
    const critical = readBoolean(extension.optional(TAG.boolean));
    // A second one could be read instead of the first by someone else.
    if (values.has(type)) throw new DerError(`extension ${type} twice`);
    values.set(type, extension.read(TAG.octetString).content);
    extension.end();
    if (critical && !KNOWN_EXTENSIONS.has(type)) unknownCritical ??= type;
  }
  return { values, unknownCritical };
}

function readBoolean(value: DerValue | undefined): boolean {
  if (!value) return false;
  if (value.content.length !== 1 || (value.content[0] !== 0xff && value.content[0] !== 0)) {
    throw new DerError('a malformed boolean');
  }
  return value.content[0] === 0xff;
}

function readBasicConstraints(value: Uint8Array | undefined): Pick<Certificate, 'isCa' | 'pathLengthMax'> {
  if (!value) return { isCa: undefined, pathLengthMax: undefined };
  const outer = new DerReader(value);
  const constraints = outer.open(TAG.sequence);
  outer.end();
  const isCa = readBoolean(constraints.optional(TAG.boolean));
  const length = constraints.optional(TAG.integer);
  constraints.end();
  return { isCa, pathLengthMax: length ? smallInteger(length.content) : undefined };
}

function smallInteger(content: Uint8Array): number {
  if (content.length === 0 || content.length > 4 || content[0]! >= 0x80) throw new DerError('an integer out of range');
  let value = 0;
  for (const octet of content) value = value * 256 + octet;
  return value;
}

function readMaySign(value: Uint8Array | undefined): boolean | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const bits = outer.read(TAG.bitString).content;
  outer.end();
  if (bits.length === 0 || bits[0]! > 7) throw new DerError('a malformed key usage');
  // Bit 5 from the left, after the octet that counts the unused bits.
  return ((bits[1] ?? 0) & 0x04) !== 0;
}

function readExtendedKeyUsages(value: Uint8Array | undefined): string[] {
  if (!value) return [];
  const outer = new DerReader(value);
  const list = outer.open(TAG.sequence);
  outer.end();
  const usages: string[] = [];
  while (!list.done) usages.push(oidText(list.read(TAG.objectIdentifier).content));
  return usages;
}

function readSubjectKeyId(value: Uint8Array | undefined): Uint8Array | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const { content } = outer.read(TAG.octetString);
  outer.end();
  return content;
}

function readAuthorityKeyId(value: Uint8Array | undefined): Uint8Array | undefined {
  if (!value) return undefined;
  const outer = new DerReader(value);
  const parts = outer.open(TAG.sequence);
  outer.end();
  return parts.optional(0x80)?.content;
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
