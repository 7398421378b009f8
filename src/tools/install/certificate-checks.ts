import { X509Certificate } from 'node:crypto';
import { x509Subject } from '../../http/tls/x509-subject.js';
import type { ApiServerManifest } from './api-server-manifest.js';
import { type Finding, findingsOf } from './finding.js';
import type { HostFiles } from './host-files.js';
import type { Sidecar } from './sidecar.js';

/** The name by which Straddles and kube-apiservers verify each other. */
const PEER_NAME = 'kubernetes.default.svc';
const EXPIRY_WARNING_MS = 30 * 24 * 3_600_000;

export interface CertificateChecks {
  readonly files: HostFiles;
  readonly manifest: ApiServerManifest;
  readonly sidecar: Sidecar;
  readonly nowMs: number;
}

/** Checks the files that Straddle will serve and identify itself with. */
export function checkCertificates(checks: CertificateChecks): readonly Finding[] {
  const findings: Finding[] = [];
  const missing = checks.sidecar.files.filter(({ hostPath }) => checks.files.readLinked(hostPath) === undefined);
  const { fail } = findingsOf('files', findings);
  for (const { flag, hostPath } of missing) fail(`${hostPath} is missing (--${flag} of the kube-apiserver).`);
  if (missing.length > 0) return findings;
  checkServing(checks, findings);
  checkFrontProxy(checks, findings);
  return findings;
}

function checkServing(checks: CertificateChecks, findings: Finding[]): void {
  const { ok, warn, fail } = findingsOf('serving certificate', findings);
  const path = fileOf(checks, 'tls-cert-file');
  const chain = certificatesIn(checks, 'tls-cert-file', fail);
  const certificate = chain?.[0];
  const authorities = certificatesIn(checks, 'peer-ca-file', fail);
  if (!chain || !certificate || !authorities) return;
  const { host } = checks.manifest.node;
  if (certificate.checkHost(PEER_NAME) === undefined) {
    fail(`${path} lacks the name ${PEER_NAME}, by which peers verify it: issue it anew (kubeadm: apiServer.certSANs).`);
  } else if (!isBelow(chain, authorities)) {
    fail(
      `${path} was not issued by ${flagValue(checks, 'peer-ca-file')}: give the kube-apiserver --peer-ca-file with its authority.`,
    );
  } else if (certificate.checkIP(host) === undefined) {
    warn(`${path} lacks the address ${host}: clients that use the address cannot verify it, as before.`);
  } else ok(`${path} has ${PEER_NAME} and ${host}, and is issued by ${flagValue(checks, 'peer-ca-file')}.`);
  checkDates(path, certificate, checks.nowMs, { warn, fail });
}

function checkFrontProxy(checks: CertificateChecks, findings: Finding[]): void {
  const { ok, warn, fail } = findingsOf('front-proxy certificate', findings);
  const path = fileOf(checks, 'proxy-client-cert-file');
  const chain = certificatesIn(checks, 'proxy-client-cert-file', fail);
  const certificate = chain?.[0];
  const authorities = certificatesIn(checks, 'requestheader-client-ca-file', fail);
  if (!chain || !certificate || !authorities) return;
  const { commonName } = x509Subject(certificate.raw);
  const allowed = (flagValue(checks, 'requestheader-allowed-names') ?? '').split(',').filter((name) => name !== '');
  if (!isBelow(chain, authorities)) {
    fail(`${path} was not issued by ${flagValue(checks, 'requestheader-client-ca-file')}: no server would believe it.`);
  } else if (allowed.length > 0 && !allowed.includes(commonName)) {
    fail(`${path} has the common name ${commonName}, which --requestheader-allowed-names does not have.`);
  } else ok(`${path} has the common name ${commonName}, which kube-apiservers accept.`);
  checkDates(path, certificate, checks.nowMs, { warn, fail });
}

function checkDates(
  path: string,
  { validTo }: X509Certificate,
  nowMs: number,
  { warn, fail }: { warn: (sentence: string) => void; fail: (sentence: string) => void },
): void {
  const leftMs = Date.parse(validTo) - nowMs;
  if (leftMs <= 0) fail(`${path} has expired (${validTo}): kubeadm certs renew all.`);
  else if (leftMs < EXPIRY_WARNING_MS) warn(`${path} expires soon (${validTo}): kubeadm certs renew all.`);
}

/** All certificates of a PEM file. */
function certificatesIn(checks: CertificateChecks, flag: string, fail: (sentence: string) => void) {
  const path = fileOf(checks, flag);
  const blocks =
    (checks.files.readLinked(path) ?? '').match(/-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g) ?? [];
  try {
    if (blocks.length > 0) return blocks.map((pem) => new X509Certificate(pem));
  } catch {
    // Reported like a file without a certificate.
  }
  fail(`${path} holds no certificate (--${flag}).`);
  return undefined;
}

/** Whether the first certificate of a file is issued by an authority, also through the others of the file. */
function isBelow(
  [certificate, ...others]: readonly X509Certificate[],
  authorities: readonly X509Certificate[],
): boolean {
  let current = certificate;
  // Each certificate is used once at most, so that a circle has an end.
  const left = new Set(others);
  while (current) {
    const below = current;
    if (authorities.some((authority) => isIssuedBy(below, authority))) return true;
    current = [...left].find((each) => isIssuedBy(below, each));
    if (current) left.delete(current);
  }
  return false;
}

function isIssuedBy(certificate: X509Certificate, authority: X509Certificate): boolean {
  return certificate.checkIssued(authority) && certificate.verify(authority.publicKey);
}

function flagValue({ sidecar }: CertificateChecks, flag: string): string | undefined {
  return sidecar.flags.find(([name]) => name === flag)?.[1];
}

/** The path on the host of the file that a flag names. */
export function fileOf(checks: Pick<CertificateChecks, 'sidecar'>, flag: string): string {
  const path = checks.sidecar.flags.find(([name]) => name === flag)?.[1];
  return checks.sidecar.files.find((file) => file.path === path)?.hostPath ?? '';
}
