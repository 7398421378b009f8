import { generateKeyPairSync, type KeyObject, randomBytes, sign, X509Certificate } from 'node:crypto';
import { addressBytes } from '../../base/address.js';
import { bitString, objectIdentifier as oid, sequence, time, tlv, unsignedInteger } from './issue-certificate-der.js';

export { objectIdentifier as oid, sequence, tlv } from './issue-certificate-der.js';

/** Certificates for tests, written octet by octet so that malformed and hostile ones can be made too. */

export type NameValue = string | { readonly tag: number; readonly bytes: Uint8Array };
/** Attribute type and value; a nested list is one multi-valued name. */
export type NameParts = readonly (readonly [type: string, value: NameValue])[];

export interface CertificateRequest {
  readonly cn?: string;
  readonly organizations?: readonly string[];
  /** In place of cn and organizations: relative names in order, each with one or several attributes. */
  readonly subject?: readonly NameParts[];
  readonly isCa?: boolean;
  readonly pathLengthMax?: number;
  /** Octet of the key usage bits (0x04 signs certificates, 0x80 signs data); none for no extension. */
  readonly keyUsage?: number;
  readonly extendedKeyUsages?: readonly string[];
  readonly notBefore?: Date;
  readonly notAfter?: Date;
  readonly dnsNames?: readonly string[];
  readonly ipAddresses?: readonly string[];
  readonly extensions?: readonly Uint8Array[];
  /** Version 1 is written without extensions; version 2 with them, although it may have none. */
  readonly version?: 1 | 2 | 3;
  /** Content octets of the serial number. */
  readonly serial?: Uint8Array;
  readonly weakSignature?: boolean;
  /** In place of a generated P-256 key: RSA or another curve. */
  readonly keys?: { readonly publicKey: KeyObject; readonly privateKey: KeyObject };
  /** SubjectPublicKeyInfo in place of the generated key's. */
  readonly publicKeyDer?: Uint8Array;
  /** In place of a real signature: these octets, as a signature by an RSA key. */
  readonly rsaSignature?: Uint8Array;
}

export interface TestCertificate {
  readonly der: Buffer;
  readonly pem: string;
  readonly keyPem: string;
  readonly key: KeyObject;
  readonly x509: X509Certificate;
  readonly subjectDer: Buffer;
}

export const CLIENT_AUTH = '1.3.6.1.5.5.7.3.2';
export const SERVER_AUTH = '1.3.6.1.5.5.7.3.1';
export const OID = { cn: '2.5.4.3', o: '2.5.4.10', uid: '1.3.6.1.4.1.57683.2' } as const;

let serial = 1;

/** A self-signed authority. */
export function makeCa(cn: string, request: CertificateRequest = {}): TestCertificate {
  return issue(undefined, { cn, isCa: true, keyUsage: 0x04, ...request });
}

export function makeClient(ca: TestCertificate, request: CertificateRequest): TestCertificate {
  return issue(ca, { keyUsage: 0x80, extendedKeyUsages: [CLIENT_AUTH], ...request });
}

/** For `localhost` and 127.0.0.1 unless told otherwise. */
export function makeServer(ca: TestCertificate, request: CertificateRequest = {}): TestCertificate {
  return issue(ca, {
    cn: 'server',
    keyUsage: 0x80,
    extendedKeyUsages: [SERVER_AUTH],
    dnsNames: ['localhost'],
    ipAddresses: ['127.0.0.1'],
    ...request,
  });
}

export function makeIntermediate(ca: TestCertificate, cn: string, request: CertificateRequest = {}): TestCertificate {
  return issue(ca, { cn, isCa: true, keyUsage: 0x04, ...request });
}

/** Signed by `ca`, or by its own key without one. */
export function issue(ca: TestCertificate | undefined, request: CertificateRequest): TestCertificate {
  const { publicKey, privateKey } = request.keys ?? generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const subjectDer = encodeName(request.subject ?? plainSubject(request));
  const algorithm = signatureAlgorithm(request, ca?.key ?? privateKey);
  const version = request.version ?? 3;
  const extensions = version > 1 ? [tlv(0xa3, sequence(...encodeExtensions(request)))] : [];
  const toBeSigned = sequence(
    ...(version > 1 ? [tlv(0xa0, integer(version - 1))] : []),
    request.serial ? tlv(0x02, request.serial) : integer(serial++),
    algorithm,
    ca?.subjectDer ?? subjectDer,
    sequence(time(Number(request.notBefore ?? yearsFromNow(-1))), time(Number(request.notAfter ?? yearsFromNow(10)))),
    subjectDer,
    request.publicKeyDer ?? publicKey.export({ type: 'spki', format: 'der' }),
    ...extensions,
  );
  const signature =
    request.rsaSignature ?? sign(request.weakSignature ? 'sha1' : 'sha256', toBeSigned, ca?.key ?? privateKey);
  const der = sequence(toBeSigned, algorithm, bitString(signature));
  const keyPem = privateKey.export({ type: 'pkcs8', format: 'pem' }) as string;
  const pem = `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/(.{64})(?=.)/g, '$1\n')}\n-----END CERTIFICATE-----\n`;
  return {
    der,
    pem,
    keyPem,
    key: privateKey,
    subjectDer,
    // OpenSSL can't read every certificate that a test wants to send.
    get x509() {
      return new X509Certificate(der);
    },
  };
}

function signatureAlgorithm({ rsaSignature, weakSignature }: CertificateRequest, key: KeyObject): Buffer {
  if (rsaSignature || key.asymmetricKeyType === 'rsa') return sequence(oid('1.2.840.113549.1.1.11'), tlv(0x05));
  return sequence(oid(weakSignature ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
}

/** A SubjectPublicKeyInfo; the modulus and exponent are of the given lengths and otherwise random. */
export function rsaPublicKey({ modulusBits, exponentBits }: { modulusBits: number; exponentBits: number }): Buffer {
  const key = sequence(oddInteger(modulusBits, 0xff), oddInteger(exponentBits, 0x80));
  return sequence(sequence(oid('1.2.840.113549.1.1.1'), tlv(0x05)), bitString(key));
}

/** `lead` has its top bit set; bits beyond a multiple of eight are shifted out of it. */
function oddInteger(bits: number, lead: number): Buffer {
  const octets = randomBytes(Math.ceil(bits / 8));
  octets[0] = lead >> (octets.length * 8 - bits);
  octets[octets.length - 1]! |= 1;
  return tlv(0x02, Buffer.from([0]), octets);
}

export function extension(type: string, critical: boolean, value: Uint8Array): Buffer {
  return sequence(oid(type), ...(critical ? [tlv(0x01, Buffer.from([0xff]))] : []), tlv(0x04, value));
}

function plainSubject({ cn, organizations }: CertificateRequest): NameParts[] {
  const groups = (organizations ?? []).map((name): NameParts => [[OID.o, name]]);
  return cn === undefined ? groups : [...groups, [[OID.cn, cn]]];
}

function encodeName(names: readonly NameParts[]): Buffer {
  return sequence(
    ...names.map((parts) =>
      tlv(
        0x31,
        ...parts.map(([type, value]) =>
          sequence(
            oid(type),
            typeof value === 'string' ? tlv(0x0c, Buffer.from(value, 'utf8')) : tlv(value.tag, value.bytes),
          ),
        ),
      ),
    ),
  );
}

function encodeExtensions(request: CertificateRequest): Buffer[] {
  const encoded: Buffer[] = [];
  if (request.isCa !== undefined) {
    const ca = request.isCa ? [tlv(0x01, Buffer.from([0xff]))] : [];
    const length = request.pathLengthMax === undefined ? [] : [integer(request.pathLengthMax)];
    encoded.push(extension('2.5.29.19', true, sequence(...ca, ...length)));
  }
  if (request.keyUsage !== undefined) {
    const unused = 31 - Math.clz32(request.keyUsage & -request.keyUsage);
    encoded.push(extension('2.5.29.15', true, tlv(0x03, Buffer.from([unused, request.keyUsage]))));
  }
  if (request.extendedKeyUsages) {
    encoded.push(extension('2.5.29.37', false, sequence(...request.extendedKeyUsages.map(oid))));
  }
  const names = [
    ...(request.dnsNames ?? []).map((name) => tlv(0x82, Buffer.from(name))),
    ...(request.ipAddresses ?? []).map((address) => tlv(0x87, addressBytes(address)!)),
  ];
  if (names.length > 0) encoded.push(extension('2.5.29.17', false, sequence(...names)));
  return [...encoded, ...((request.extensions ?? []) as Buffer[])];
}

function integer(value: number): Buffer {
  return unsignedInteger(Buffer.from(value.toString(16).padStart(8, '0'), 'hex'));
}

function yearsFromNow(years: number): Date {
  return new Date(Math.floor(Date.now() / 1000) * 1000 + years * 365 * 86_400_000);
}
