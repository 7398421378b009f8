import { X509Certificate } from 'node:crypto';
import { verifyChain } from '../../../http/tls/certificate-chain.js';
import { x509Subject } from '../../../http/tls/x509-subject.js';
import type { AuthenticationFact } from '../cluster-facts.js';
import { processFlags } from '../protection.js';
import {
  CERTIFICATE_DAYS_MIN,
  type CheckInput,
  DAY_MS,
  type Finding,
  fail,
  ok,
  type Protector,
  unknown,
  warn,
} from './check-line.js';

const CHECK = 'front-proxy';
const GIVE_ONE =
  'Start it with --proxy-client-cert-file and --proxy-client-key-file (kubeadm: /etc/kubernetes/pki/front-proxy-client.crt and .key).';

/** Checks the front-proxy certificate of this server, and whether peers accept it. */
export function frontProxyFindings(protector: Protector, input: CheckInput): Finding[] {
  const { authentication } = input.inspection.facts;
  if (authentication && authentication.requestHeaderCa === '') {
    return [
      fail(
        CHECK,
        'the servers accept no front proxies: extension-apiserver-authentication has no CA for them',
        'Start every API server with --requestheader-client-ca-file and --requestheader-allowed-names.',
      ),
    ];
  }
  return [shownCertificate(protector, authentication, input.inspection.nowMs), ...fileFindings(input, authentication)];
}

function shownCertificate(
  { reading, protection }: Protector,
  authentication: AuthenticationFact | undefined,
  nowMs: number,
): Finding {
  const { metrics } = reading;
  const name = 'straddle_front_proxy_certificate_expiry_seconds';
  const [sample] = metrics?.all(name) ?? [];
  if (sample) {
    return certificateFinding(sample.labels.get('common_name') ?? '', sample.value * 1_000, { authentication, nowMs });
  }
  if (metrics?.has(name)) return fail(CHECK, 'it has no front-proxy certificate', GIVE_ONE);
  // An embedded API server makes one itself.
  if (protection.kind === 'straddle apiserver') return ok(CHECK, 'it has one of its own');
  const flags = processFlags(reading, protection.kind !== 'kube-apiserver');
  if (flags && !flags.has('proxy-client-cert-file'))
    return fail(CHECK, '--proxy-client-cert-file is not given', GIVE_ONE);
  if (protection.active || flags) return ok(CHECK, 'it has a certificate, whose name is not seen from here');
  return unknown(CHECK, 'neither its metrics nor its flags show it');
}

function certificateFinding(
  commonName: string,
  notAfterMs: number,
  { authentication, nowMs }: { readonly authentication: AuthenticationFact | undefined; readonly nowMs: number },
): Finding {
  const until = new Date(notAfterMs).toISOString().slice(0, 10);
  const renew = 'Renew it (kubeadm: `kubeadm certs renew front-proxy-client`).';
  if (notAfterMs <= nowMs) return fail(CHECK, `its certificate expired on ${until}`, renew);
  if (!authentication) return unknown(CHECK, `it is ${commonName}; whether that is allowed is not known`);
  const { allowedNames } = authentication;
  if (allowedNames.length > 0 && !allowedNames.includes(commonName)) {
    return fail(
      CHECK,
      `its certificate is for ${commonName}, and only ${allowedNames.join(', ')} may be a front proxy`,
      `Add ${commonName} to --requestheader-allowed-names of every API server, or give it a certificate for ${allowedNames[0]}.`,
    );
  }
  const days = Math.floor((notAfterMs - nowMs) / DAY_MS);
  if (days < CERTIFICATE_DAYS_MIN)
    return warn(CHECK, `its certificate, for ${commonName}, expires in ${days} days, on ${until}`, renew);
  return ok(CHECK, `${commonName}, until ${until}`);
}

/** Checks the certificate file of the operator by the rules of the API servers. */
function fileFindings(
  { frontProxy, inspection }: CheckInput,
  authentication: AuthenticationFact | undefined,
): Finding[] {
  if (!frontProxy || !authentication) return [];
  const found = judgeFile(frontProxy.pem, authentication, inspection.nowMs);
  return found.verdict === 'ok' ? [] : [{ ...found, detail: `${frontProxy.path}: ${found.detail}` }];
}

function judgeFile(pem: string, authentication: AuthenticationFact, nowMs: number): Finding {
  try {
    const chain = certificatesOf(pem).map(({ raw }) => raw);
    const leaf = new X509Certificate(chain[0] ?? '');
    const verdict = verifyChain(chain, certificatesOf(authentication.requestHeaderCa), nowMs);
    const expired = Date.parse(leaf.validTo) <= nowMs;
    if (!verdict.ok && !expired) {
      return fail(
        CHECK,
        `not of the CA in extension-apiserver-authentication (${verdict.reason})`,
        'Give a front-proxy certificate of the CA that API servers have as --requestheader-client-ca-file.',
      );
    }
    return certificateFinding(x509Subject(leaf.raw).commonName, Date.parse(leaf.validTo), { authentication, nowMs });
  } catch {
    return fail(CHECK, 'not a certificate', GIVE_ONE);
  }
}

function certificatesOf(pem: string): X509Certificate[] {
  const blocks = pem.match(/-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----/g) ?? [];
  return blocks.map((block) => new X509Certificate(block));
}
