import {
  createHash,
  createPrivateKey,
  generateKeyPairSync,
  type KeyObject,
  randomBytes,
  sign,
  X509Certificate,
} from 'node:crypto';
import { readCertificate } from './certificate.js';
import { PURPOSE } from './certificate-chain.js';
import { EXTENSION } from './certificate-extensions.js';
import { DerReader, TAG } from './der.js';
import {
  addressOctets,
  bitString,
  nullValue,
  objectIdentifier,
  octetString,
  sequence,
  time,
  tlv,
  trueValue,
  unsignedInteger,
  utf8,
} from './issue-certificate-der.js';

/** A certificate and its private key, as PEM. */
export interface IssuedCertificate {
  readonly certPem: string;
  /** PKCS #8. */
  readonly keyPem: string;
}

export interface AuthorityRequest {
  readonly commonName: string;
  readonly days: number;
  /** Now, for tests. */
  readonly nowMs?: number;
}

export interface LeafRequest extends AuthorityRequest {
  /** Groups of a client, in Kubernetes. */
  readonly organizations?: readonly string[];
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly usage: 'server' | 'client' | 'both';
}

/** A name that is not valid in a certificate, or an authority that cannot sign. */
export class IssueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'IssueError';
  }
}

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  rsaWithSha256: '1.2.840.113549.1.1.11',
} as const;

const DAY_MS = 86_400_000;
/** Other clocks may be behind, and a certificate must be valid there at once. */
const CLOCK_SKEW_MS = 3_600_000;
const SERIAL_BYTES = 16;
const KEY_IDENTIFIER_BYTES = 20;

/** Bits of the key usage extension, from the most significant one. */
const DIGITAL_SIGNATURE = 0x80;
const KEY_CERT_SIGN = 0x04;
const CRL_SIGN = 0x02;

interface Issuer {
  readonly key: KeyObject;
  readonly nameDer: Uint8Array;
  readonly keyIdentifier: Uint8Array | undefined;
}

/** Issues a self-signed authority. */
export function issueAuthority(request: AuthorityRequest): IssuedCertificate {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const nameDer = encodeName(request.commonName, []);
  const keyIdentifier = keyIdentifierOf(publicKey);
  const extensions = [
    // No path length of 0: an operator may issue an intermediate.
    extension(EXTENSION.basicConstraints, true, sequence(trueValue())),
    extension(EXTENSION.keyUsage, true, keyUsage(DIGITAL_SIGNATURE | KEY_CERT_SIGN | CRL_SIGN)),
  ];
  const issuer = { key: privateKey, nameDer, keyIdentifier };
  return finish({ issuer, nameDer, publicKey, privateKey, extensions, ...request });
}

/** Issues a certificate; `authority` may be any with an EC or RSA key. */
export function issueCertificate(authority: IssuedCertificate, request: LeafRequest): IssuedCertificate {
  const issuer = readIssuer(authority);
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const usages = request.usage === 'both' ? [PURPOSE.server, PURPOSE.client] : [PURPOSE[request.usage]];
  const names = alternativeNames(request);
  const extensions = [
    extension(EXTENSION.basicConstraints, true, sequence()),
    extension(EXTENSION.keyUsage, true, keyUsage(DIGITAL_SIGNATURE)),
    extension(EXTENSION.extendedKeyUsage, false, sequence(...usages.map(objectIdentifier))),
    ...(names.length > 0 ? [extension(EXTENSION.subjectAltName, false, sequence(...names))] : []),
  ];
  const nameDer = encodeName(request.commonName, request.organizations ?? []);
  return finish({ issuer, nameDer, publicKey, privateKey, extensions, ...request });
}

interface Unfinished {
  readonly issuer: Issuer;
  readonly nameDer: Uint8Array;
  readonly publicKey: KeyObject;
  readonly privateKey: KeyObject;
  readonly extensions: readonly Uint8Array[];
  readonly days: number;
  readonly nowMs?: number;
}

function finish(what: Unfinished): IssuedCertificate {
  const { issuer, publicKey } = what;
  const nowMs = what.nowMs ?? Date.now();
  const algorithm = signatureAlgorithm(issuer.key);
  const toBeSigned = sequence(
    tlv(0xa0, unsignedInteger(Buffer.from([2]))),
    unsignedInteger(serialNumber()),
    algorithm,
    issuer.nameDer,
    sequence(time(nowMs - CLOCK_SKEW_MS), time(nowMs + what.days * DAY_MS)),
    what.nameDer,
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa3, sequence(...what.extensions, ...keyIdentifiers(publicKey, issuer))),
  );
  const signature = sign('sha256', toBeSigned, issuer.key);
  const der = sequence(toBeSigned, algorithm, bitString(signature));
  return {
    certPem: pem('CERTIFICATE', der),
    keyPem: what.privateKey.export({ type: 'pkcs8', format: 'pem' }) as string,
  };
}

function readIssuer({ certPem, keyPem }: IssuedCertificate): Issuer {
  const key = createPrivateKey(keyPem);
  const x509 = new X509Certificate(certPem);
  if (!x509.checkPrivateKey(key)) throw new IssueError('the key of the authority is not that of its certificate');
  const certificate = readCertificate(x509.raw);
  if (certificate.isCa !== true) throw new IssueError('the certificate of the authority may not sign others');
  return { key, nameDer: certificate.subjectDer, keyIdentifier: certificate.subjectKeyId };
}

function signatureAlgorithm(key: KeyObject): Buffer {
  if (key.asymmetricKeyType === 'ec') return sequence(objectIdentifier(OID.ecdsaWithSha256));
  if (key.asymmetricKeyType === 'rsa') return sequence(objectIdentifier(OID.rsaWithSha256), nullValue());
  throw new IssueError(`an authority with a key of type ${key.asymmetricKeyType} cannot sign`);
}

function serialNumber(): Buffer {
  const serial = randomBytes(SERIAL_BYTES);
  // RFC 5280, 4.1.2.2: never zero.
  serial[0] = serial[0]! | 0x01;
  return serial;
}

function keyIdentifiers(publicKey: KeyObject, issuer: Issuer): Buffer[] {
  const subjectKeyId = extension(EXTENSION.subjectKeyIdentifier, false, octetString(keyIdentifierOf(publicKey)));
  if (!issuer.keyIdentifier) return [subjectKeyId];
  return [subjectKeyId, extension(EXTENSION.authorityKeyIdentifier, false, sequence(tlv(0x80, issuer.keyIdentifier)))];
}

/** RFC 7093, 2 (1): the leftmost 160 bits of the SHA-256 of the key's bit string. */
function keyIdentifierOf(key: KeyObject): Buffer {
  const spki = new DerReader(key.export({ type: 'spki', format: 'der' })).open(TAG.sequence);
  spki.read(TAG.sequence);
  const { content } = spki.read(TAG.bitString);
  return createHash('sha256').update(content.subarray(1)).digest().subarray(0, KEY_IDENTIFIER_BYTES);
}

function encodeName(commonName: string, organizations: readonly string[]): Buffer {
  const attribute = (type: string, value: string) => tlv(TAG.set, sequence(objectIdentifier(type), utf8(value)));
  return sequence(
    ...organizations.map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, commonName),
  );
}

function alternativeNames({ dnsNames = [], ipAddresses = [] }: LeafRequest): Buffer[] {
  const hosts = dnsNames.map((name) => {
    if (!/^[\x21-\x7e]+$/.test(name)) throw new IssueError(`${JSON.stringify(name)} is not a host name`);
    return tlv(0x82, Buffer.from(name, 'latin1'));
  });
  const addresses = ipAddresses.map((address) => {
    const octets = addressOctets(address);
    if (!octets) throw new IssueError(`${JSON.stringify(address)} is not an IP address`);
    return tlv(0x87, octets);
  });
  return [...hosts, ...addresses];
}

function keyUsage(bits: number): Buffer {
  return bitString(Buffer.from([bits]), 31 - Math.clz32(bits & -bits));
}

function extension(type: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(objectIdentifier(type), ...(critical ? [trueValue()] : []), octetString(value));
}

function pem(label: string, der: Buffer): string {
  const lines = der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n');
  return `-----BEGIN ${label}-----\n${lines}\n-----END ${label}-----\n`;
}
