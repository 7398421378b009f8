import { createHash, generateKeyPairSync, type KeyObject, randomBytes, sign } from 'node:crypto';
import { bits, boolean, explicit, implicit, integer, octets, oid, sequence, set, utcTime, utf8 } from './der.js';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** A serving certificate for these names and IPv4 addresses; without them it is a client certificate. */
  readonly hosts?: readonly string[];
}

/** A key and a certificate over it, not yet written anywhere. */
export interface Certified {
  readonly certPem: string;
  readonly keyPem: string;
  readonly privateKey: KeyObject;
  readonly publicKey: KeyObject;
  readonly subject: CertificateSubject;
  /** Made by somebody else, whose way to name keys is not ours: what it signs then does not name the key. */
  readonly adopted?: boolean;
}

const VALID_MS = 24 * 3600 * 1000;
const BACKDATED_MS = 60_000;

const OID = {
  commonName: '2.5.4.3',
  organization: '2.5.4.10',
  ecdsaWithSha256: '1.2.840.10045.4.3.2',
  subjectKeyIdentifier: '2.5.29.14',
  keyUsage: '2.5.29.15',
  subjectAlternativeName: '2.5.29.17',
  basicConstraints: '2.5.29.19',
  authorityKeyIdentifier: '2.5.29.35',
  extendedKeyUsage: '2.5.29.37',
  serverAuth: '1.3.6.1.5.5.7.3.1',
  clientAuth: '1.3.6.1.5.5.7.3.2',
} as const;

/** A new EC key with a certificate for it: signed by the issuer, or a CA that signs itself. */
export function certify(subject: CertificateSubject, issuer?: Certified): Certified {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const signer = issuer ?? { privateKey, publicKey, subject };
  const body = sequence(
    explicit(0, integer(Buffer.from([2]))),
    integer(Buffer.concat([Buffer.from([1]), randomBytes(15)])),
    sequence(oid(OID.ecdsaWithSha256)),
    distinguishedName(signer.subject),
    sequence(utcTime(new Date(Date.now() - BACKDATED_MS)), utcTime(new Date(Date.now() + VALID_MS))),
    distinguishedName(subject),
    publicKey.export({ type: 'spki', format: 'der' }),
    explicit(3, sequence(...(issuer === undefined ? authorityExtensions(publicKey) : leafExtensions(subject, issuer)))),
  );
  const signature = sign('sha256', body, signer.privateKey);
  return {
    certPem: pem('CERTIFICATE', sequence(body, sequence(oid(OID.ecdsaWithSha256)), bits(signature))),
    keyPem: privateKey.export({ type: 'pkcs8', format: 'pem' }).toString(),
    privateKey,
    publicKey,
    subject,
  };
}

function distinguishedName({ commonName, organizations = [] }: CertificateSubject): Buffer {
  const attribute = (type: string, value: string): Buffer => set(sequence(oid(type), utf8(value)));
  return sequence(
    ...organizations.map((name) => attribute(OID.organization, name)),
    attribute(OID.commonName, commonName),
  );
}

function authorityExtensions(publicKey: KeyObject): Buffer[] {
  return [
    extension(OID.basicConstraints, sequence(boolean(true)), true),
    // keyCertSign and cRLSign.
    extension(OID.keyUsage, bits(Buffer.from([0x06]), 1), true),
    extension(OID.subjectKeyIdentifier, octets(keyIdentifier(publicKey))),
  ];
}

function leafExtensions({ hosts = [] }: CertificateSubject, issuer: Certified): Buffer[] {
  const usage = hosts.length > 0 ? OID.serverAuth : OID.clientAuth;
  const extensions = [
    // digitalSignature.
    extension(OID.keyUsage, bits(Buffer.from([0x80]), 7), true),
    extension(OID.extendedKeyUsage, sequence(oid(usage))),
  ];
  if (!issuer.adopted) {
    extensions.push(extension(OID.authorityKeyIdentifier, sequence(implicit(0, keyIdentifier(issuer.publicKey)))));
  }
  if (hosts.length > 0) extensions.push(extension(OID.subjectAlternativeName, sequence(...hosts.map(alternativeName))));
  return extensions;
}

function alternativeName(host: string): Buffer {
  const isAddress = /^[\d.]+$/.test(host);
  return isAddress ? implicit(7, Buffer.from(host.split('.').map(Number))) : implicit(2, Buffer.from(host, 'ascii'));
}

function keyIdentifier(publicKey: KeyObject): Buffer {
  return createHash('sha1')
    .update(publicKey.export({ type: 'spki', format: 'der' }))
    .digest();
}

function extension(id: string, value: Buffer, critical = false): Buffer {
  return sequence(oid(id), ...(critical ? [boolean(true)] : []), octets(value));
}

function pem(label: string, der: Buffer): string {
  const body = der.toString('base64').replace(/.{64}(?=.)/g, '$&\n');
  return `-----BEGIN ${label}-----\n${body}\n-----END ${label}-----\n`;
}
