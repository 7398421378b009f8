import { type NameAttributes, readCertificate } from './certificate.js';

/** Whom a certificate names, in Kubernetes' words. */
export interface X509Subject {
  /** Empty without a CN. Of several, the last, as Go has it. */
  readonly commonName: string;
  /** Every O, in order. */
  readonly organizations: readonly string[];
  /** Every value of the uid attribute that Kubernetes defines; more than one is an error of whoever made the certificate. */
  readonly uids: readonly string[];
}

const COMMON_NAME = '2.5.4.3';
const ORGANIZATION = '2.5.4.10';
const KUBERNETES_UID = '1.3.6.1.4.1.57683.2';

/**
 * Read from the encoded subject, never from a printed one: a printed subject joins its parts with characters that the
 * parts themselves may hold, so a CN could spell out another attribute.
 */
export function subjectOf(attributes: NameAttributes): X509Subject {
  let commonName = '';
  const organizations: string[] = [];
  const uids: string[] = [];
  for (const { type, value } of attributes) {
    if (type === COMMON_NAME) commonName = value;
    else if (type === ORGANIZATION) organizations.push(value);
    else if (type === KUBERNETES_UID) uids.push(value);
  }
  return { commonName, organizations, uids };
}

/** Throws DerError when the bytes are not a certificate. */
export function x509Subject(certificateDer: Uint8Array): X509Subject {
  return subjectOf(readCertificate(certificateDer).subject);
}
