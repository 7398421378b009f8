import { generateKeyPairSync, sign } from 'node:crypto';
import { TAG } from './der.js';
import { bitString, objectIdentifier, sequence, tlv, unsignedInteger, utf8 } from './issue-certificate-der.js';

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const ECDSA_WITH_SHA256 = '1.2.840.10045.4.3.2';

/** A signed PKCS #10 certificate request with a key of its own, as PEM. */
export function makeCertificateRequest(commonName: string, organizations: readonly string[] = []): string {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const attribute = (type: string, value: string): Buffer =>
    tlv(TAG.set, sequence(objectIdentifier(type), utf8(value)));
  const info = sequence(
    unsignedInteger(Buffer.from([0])),
    sequence(...organizations.map((each) => attribute(ORGANIZATION, each)), attribute(COMMON_NAME, commonName)),
    publicKey.export({ type: 'spki', format: 'der' }),
    tlv(0xa0),
  );
  const signature = sign('sha256', info, privateKey);
  const der = sequence(info, sequence(objectIdentifier(ECDSA_WITH_SHA256)), bitString(signature));
  const lines = der.toString('base64').match(/.{1,64}/g)!;
  return `-----BEGIN CERTIFICATE REQUEST-----\n${lines.join('\n')}\n-----END CERTIFICATE REQUEST-----\n`;
}
