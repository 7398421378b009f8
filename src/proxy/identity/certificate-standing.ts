import { createHash, type X509Certificate } from 'node:crypto';
import type { EstablishedIdentity } from '../../http/identity.js';
import type { ClientChain } from '../../http/tls/certificate-chain.js';
import { x509Subject } from '../../http/tls/x509-subject.js';
import { survivesWire } from './header-text.js';

export interface StandingOptions {
  readonly clientCa: readonly X509Certificate[];
  readonly requestHeaderCa: readonly X509Certificate[];
  readonly allowedNames: readonly string[];
  readonly nowMs: number;
}

/** Roles that a client certificate grants; each CA bundle is checked by itself, for its role. */
export interface CertificateStanding {
  /** Verified by the request-header bundle, with an allowed name. */
  readonly frontProxy: boolean;
  /** Verified by the client bundle. */
  readonly user: EstablishedIdentity | undefined;
  /** Reasons of the bundles that refused the certificate; another may have accepted it. */
  readonly refusal: string | undefined;
  /** Time until which this result is valid. */
  readonly notAfterMs: number;
}

const CREDENTIAL_ID = 'authentication.kubernetes.io/credential-id';

/** Checks a certificate chain. `leafDer` is the first certificate of `chain`. */
export function standingOf(chain: ClientChain, leafDer: Uint8Array, options: StandingOptions): CertificateStanding {
  const proxy = frontProxyStanding(chain, leafDer, options);
  const user = userStanding(chain, leafDer, options);
  const refusals = [user.refusal, proxy.refusal].filter((refusal) => refusal !== undefined);
  return {
    frontProxy: proxy.granted,
    user: user.identity,
    refusal: refusals.length === 0 ? undefined : [...new Set(refusals)].join('; '),
    notAfterMs: Math.min(proxy.notAfterMs, user.notAfterMs),
  };
}

function frontProxyStanding(
  chain: ClientChain,
  leafDer: Uint8Array,
  { requestHeaderCa, allowedNames, nowMs }: StandingOptions,
): { granted: boolean; refusal?: string; notAfterMs: number } {
  const notAfterMs = Number.POSITIVE_INFINITY;
  // Without a bundle there is neither a grant nor a refusal, as in kube-apiserver.
  if (requestHeaderCa.length === 0) return { granted: false, notAfterMs };
  const verdict = chain.verify(requestHeaderCa, nowMs);
  if (!verdict.ok) return { granted: false, refusal: verdict.reason, notAfterMs };
  const { commonName } = x509Subject(leafDer);
  if (allowedNames.length > 0 && !allowedNames.includes(commonName)) {
    return { granted: false, refusal: `${JSON.stringify(commonName)} is not an allowed front proxy`, notAfterMs };
  }
  return { granted: true, notAfterMs: verdict.notAfterMs };
}

function userStanding(
  chain: ClientChain,
  leafDer: Uint8Array,
  { clientCa, nowMs }: StandingOptions,
): { identity?: EstablishedIdentity; refusal?: string; notAfterMs: number } {
  const notAfterMs = Number.POSITIVE_INFINITY;
  if (clientCa.length === 0) return { notAfterMs };
  const verdict = chain.verify(clientCa, nowMs);
  if (!verdict.ok) return { refusal: verdict.reason, notAfterMs };
  const { commonName, organizations, uids } = x509Subject(leafDer);
  // Without a common name the certificate identifies no user, which is not an error.
  if (commonName === '') return { notAfterMs: verdict.notAfterMs };
  const refusal = subjectRefusal(commonName, organizations, uids);
  if (refusal) return { refusal, notAfterMs };
  const credentialId = `X509SHA256=${createHash('sha256').update(leafDer).digest('hex')}`;
  return {
    identity: {
      kind: 'established',
      user: commonName,
      uid: uids[0] ?? '',
      groups: organizations,
      extra: new Map([[CREDENTIAL_ID, [credentialId]]]),
    },
    notAfterMs: verdict.notAfterMs,
  };
}

function subjectRefusal(
  commonName: string,
  organizations: readonly string[],
  uids: readonly string[],
): string | undefined {
  if (uids.length > 1) return 'its subject has more than one uid';
  if (uids[0] === '') return 'its subject has an empty uid';
  if (![commonName, ...organizations, ...uids].every(survivesWire)) {
    return 'its subject has control characters or surrounding space, which no header can carry';
  }
  return undefined;
}
