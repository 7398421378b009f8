import { readName } from './certificate.js';
import { DerError, DerReader, TAG } from './der.js';
import { subjectOf, type X509Subject } from './x509-subject.js';

const BLOCK = /-----BEGIN CERTIFICATE REQUEST-----([\s\S]*?)-----END CERTIFICATE REQUEST-----/g;
const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/**
 * Returns the subjects of all certificate requests in a PEM text: signers use the first, but may
 * parse the text differently. Throws DerError without a request, and for one that is malformed.
 */
export function certificateRequestSubjects(pem: string): X509Subject[] {
  const subjects = [...pem.matchAll(BLOCK)].map(([, body]) => {
    const base64 = body!.replace(/\s+/g, '');
    if (!BASE64.test(base64)) throw new DerError('the PEM block is not base64');
    return requestSubject(Buffer.from(base64, 'base64'));
  });
  if (subjects.length === 0) throw new DerError('PEM block type must be CERTIFICATE REQUEST');
  return subjects;
}

/** RFC 2986, section 4. */
function requestSubject(der: Uint8Array): X509Subject {
  const outer = new DerReader(der);
  const parts = outer.open(TAG.sequence);
  outer.end();
  const info = parts.open(TAG.sequence);
  parts.read(TAG.sequence);
  parts.read(TAG.bitString);
  parts.end();
  info.read(TAG.integer);
  return subjectOf(readName(info.read(TAG.sequence).content));
}
