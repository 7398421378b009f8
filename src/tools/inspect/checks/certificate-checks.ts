import { BlockList, isIP } from 'node:net';
import { parseHostPort } from '../../../base/address.js';
import { PEER_SERVER_NAME } from '../ask.js';
import type { EndpointReading } from '../endpoint-reading.js';
import type { ServingCertificate } from '../handshake.js';
import { CERTIFICATE_DAYS_MIN, DAY_MS, type Finding } from './check-line.js';

/** Chain, names and dates of what a server shows to those who dial it. */
export function certificateFindings(
  { certificate, certificateRefusal, endpoint }: EndpointReading,
  nowMs: number,
): Finding[] {
  if (!certificate) {
    const detail = `no TLS connection: ${certificateRefusal ?? 'no reason given'}`;
    return [{ check: 'certificate', verdict: 'unknown', detail }];
  }
  return [chain(certificate), names(certificate, endpoint.address), expiry(certificate, nowMs)];
}

function chain({ chainProblem, issuer }: ServingCertificate): Finding {
  if (chainProblem === undefined) return { check: 'certificate-chain', verdict: 'ok', detail: `issued by ${issuer}` };
  return {
    check: 'certificate-chain',
    verdict: 'FAIL',
    detail: `${chainProblem}; it was issued by ${issuer}`,
    mend: 'Give it a serving certificate (--tls-cert-file) of the CA that the others have as --peer-ca-file, or add its CA to that bundle; if they verify with another CA than this kubeconfig, name it with --peer-ca-file here.',
  };
}

function names({ dnsNames, ipAddresses }: ServingCertificate, address: string): Finding {
  const { host } = parseHostPort(address);
  const hasHost = isIP(host) === 0 ? dnsNames.includes(host) : ipAddresses.some((each) => sameIp(each, host));
  const missing = [...(dnsNames.includes(PEER_SERVER_NAME) ? [] : [PEER_SERVER_NAME]), ...(hasHost ? [] : [host])];
  if (missing.length === 0) {
    return { check: 'certificate-names', verdict: 'ok', detail: `has ${PEER_SERVER_NAME} and ${host}` };
  }
  return {
    check: 'certificate-names',
    verdict: 'FAIL',
    detail: `lacks ${missing.join(' and ')}`,
    mend: `Issue its serving certificate anew with ${missing.join(' and ')} among the subject alternative names (kubeadm: apiServer.certSANs).`,
  };
}

function sameIp(left: string, right: string): boolean {
  if (isIP(left) !== isIP(right)) return false;
  const one = new BlockList();
  const family = isIP(left) === 6 ? 'ipv6' : 'ipv4';
  one.addAddress(left, family);
  return one.check(right, family);
}

function expiry({ notBeforeMs, notAfterMs }: ServingCertificate, nowMs: number): Finding {
  const check = 'certificate-expiry';
  const mend =
    'Renew its serving certificate (kubeadm: `kubeadm certs renew apiserver`), then restart it if it does not reload.';
  const until = new Date(notAfterMs).toISOString().slice(0, 10);
  if (notBeforeMs > nowMs) {
    const from = new Date(notBeforeMs).toISOString();
    return {
      check,
      verdict: 'FAIL',
      detail: `not valid before ${from}`,
      mend: 'Set the clocks right, of the machine that issued it or of this one.',
    };
  }
  const leftMs = notAfterMs - nowMs;
  const days = Math.floor(leftMs / DAY_MS);
  if (notAfterMs <= nowMs) return { check, verdict: 'FAIL', detail: `expired on ${until}`, mend };
  // What is made for a day is renewed every day: for such, a third of its time is as good as a month.
  const leftMsMin = Math.min(CERTIFICATE_DAYS_MIN * DAY_MS, (notAfterMs - notBeforeMs) / 3);
  if (leftMs < leftMsMin) return { check, verdict: 'FAIL', detail: `expires in ${days} days, on ${until}`, mend };
  return { check, verdict: 'ok', detail: `until ${until}` };
}
