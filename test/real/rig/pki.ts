import { generateKeyPairSync } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { isIP } from 'node:net';
import { join } from 'node:path';
import { type IssuedCertificate, issueAuthority, issueCertificate } from '../../../src/http/tls/issue-certificate.js';

export interface CertificateSubject {
  readonly commonName: string;
  readonly organizations?: readonly string[];
  /** A serving certificate for these names and addresses; without them it is a client certificate. */
  readonly hosts?: readonly string[];
}

/** A certificate with its key, as files and as text. */
export interface KeyPair {
  readonly certFile: string;
  readonly keyFile: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface Authority extends KeyPair {
  issue(fileName: string, subject: CertificateSubject): KeyPair;
}

const VALID_DAYS = 1;

/** All certificates of one control plane, as kubeadm lays them out: one CA for serving and users, one for front proxies. */
export interface Pki {
  readonly dir: string;
  readonly ca: Authority;
  readonly frontProxyCa: Authority;
  readonly frontProxyClient: KeyPair;
  readonly kubeletClient: KeyPair;
  readonly serviceAccountKey: { readonly privateFile: string; readonly publicFile: string };
  readonly users: { readonly admin: KeyPair; readonly alice: KeyPair };
}

export function createPki(dir: string): Pki {
  mkdirSync(dir, { recursive: true });
  const ca = createAuthority(dir, 'ca', 'kubernetes');
  const frontProxyCa = createAuthority(dir, 'front-proxy-ca', 'front-proxy-ca');
  return {
    dir,
    ca,
    frontProxyCa,
    frontProxyClient: frontProxyCa.issue('front-proxy-client', { commonName: 'front-proxy-client' }),
    kubeletClient: ca.issue('apiserver-kubelet-client', {
      commonName: 'kube-apiserver-kubelet-client',
      organizations: ['system:masters'],
    }),
    serviceAccountKey: createServiceAccountKey(dir),
    users: {
      admin: ca.issue('admin', { commonName: 'rig-admin', organizations: ['system:masters'] }),
      alice: ca.issue('alice', { commonName: 'alice', organizations: ['developers'] }),
    },
  };
}

export function createAuthority(dir: string, fileName: string, commonName: string): Authority {
  return adoptAuthority(dir, fileName, issueAuthority({ commonName, days: VALID_DAYS }));
}

/** An authority made here or elsewhere, whose certificates are written to `dir`. */
export function adoptAuthority(dir: string, fileName: string, authority: IssuedCertificate): Authority {
  return {
    ...write(dir, fileName, authority),
    issue: (leafName, { commonName, organizations = [], hosts = [] }) => {
      const names = {
        dnsNames: hosts.filter((host) => isIP(host) === 0),
        ipAddresses: hosts.filter((host) => isIP(host) !== 0),
      };
      const usage = hosts.length > 0 ? 'server' : 'client';
      const leaf = issueCertificate(authority, { commonName, organizations, ...names, usage, days: VALID_DAYS });
      return write(dir, leafName, leaf);
    },
  };
}

/** Names every kube-apiserver and every Straddle must answer to, beside its own address. */
export function servingHosts(address: string): string[] {
  return ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc', 'localhost', '127.0.0.1', address];
}

function write(dir: string, fileName: string, { certPem, keyPem }: IssuedCertificate): KeyPair {
  const certFile = join(dir, `${fileName}.crt`);
  const keyFile = join(dir, `${fileName}.key`);
  writeFileSync(certFile, certPem);
  writeFileSync(keyFile, keyPem, { mode: 0o600 });
  return { certFile, keyFile, certPem, keyPem };
}

function createServiceAccountKey(dir: string): Pki['serviceAccountKey'] {
  const { privateKey, publicKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  const privateFile = join(dir, 'service-account.key');
  const publicFile = join(dir, 'service-account.pub');
  writeFileSync(privateFile, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600 });
  writeFileSync(publicFile, publicKey.export({ type: 'spki', format: 'pem' }));
  return { privateFile, publicFile };
}
