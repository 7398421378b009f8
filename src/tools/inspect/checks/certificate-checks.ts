import { BlockList, isIP } from 'node:net';
import { parseHostPort } from '../../../base/address.js';
import { PEER_SERVER_NAME } from '../ask.js';
import type { EndpointReading } from '../endpoint-reading.js';
import type { ServingCertificate } from '../handshake.js';
import { CERTIFICATE_DAYS_MIN, DAY_MS, type Finding, fail, ok, unknown } from './check-line.js';

/** Checks chain, names and dates of the serving certificate of one address. */
export function certificateFindings(
  { certificate, certificateRefusal, endpoint }: EndpointReading,
  nowMs: number,
): Finding[] {
  if (!certificate) return [unknown('certificate', `no TLS connection: ${certificateRefusal ?? 'no reason given'}`)];
  return [chain(certificate), names(certificate, endpoint.address), expiry(certificate, nowMs)];
}

function chain({ chainProblem, issuer, isChainJudged }: ServingCertificate): Finding {
  if (!isChainJudged) {
    return unknown(
      'certificate-chain',
      `issued by ${issuer}; the kubeconfig has no CA to judge it by: give that of the servers with --peer-ca-file`,
    );
  }
  if (chainProblem === undefined) return ok('certificate-chain', `issued by ${issuer}`);
  return fail(
    'certificate-chain',
    `${chainProblem}; it was issued by ${issuer}`,
    'Give it a serving certificate (--tls-cert-file) of the CA that the others have as --peer-ca-file, or add its CA to that bundle; if they verify with another CA than this kubeconfig, name it with --peer-ca-file here.',
  );
}

function names({ dnsNames, ipAddresses }: ServingCertificate, address: string): Finding {
  const { host } = parseHostPort(address);
  const hasHost = isIP(host) === 0 ? dnsNames.includes(host) : ipAddresses.some((each) => sameIp(each, host));
  const missing = [...(dnsNames.includes(PEER_SERVER_NAME) ? [] : [PEER_SERVER_NAME]), ...(hasHost ? [] : [host])];
  if (missing.length === 0) return ok('certificate-names', `has ${PEER_SERVER_NAME} and ${host}`);
  return fail(
    'certificate-names',
    `lacks ${missing.join(' and ')}`,
    `Issue its serving certificate anew with ${missing.join(' and ')} among the subject alternative names (kubeadm: apiServer.certSANs).`,
  );
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
    const detail = `not valid before ${new Date(notBeforeMs).toISOString()}`;
    return fail(check, detail, 'Set the clocks right, of the machine that issued it or of this one.');
  }
  const leftMs = notAfterMs - nowMs;
  const days = Math.floor(leftMs / DAY_MS);
  if (notAfterMs <= nowMs) return fail(check, `expired on ${until}`, mend);
  // Certificates that are issued for a day are renewed every day: a third of their lifetime is enough.
  const leftMsMin = Math.min(CERTIFICATE_DAYS_MIN * DAY_MS, (notAfterMs - notBeforeMs) / 3);
  if (leftMs < leftMsMin) return fail(check, `expires in ${days} days, on ${until}`, mend);
  return ok(check, `until ${until}`);
}
