import { createPrivateKey, generateKeyPairSync, randomBytes, X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { link, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { makeFolder } from '../base/make-folder.js';
import { type IssuedCertificate, issueAuthority, issueCertificate } from '../http/tls/issue-certificate.js';
import type { ApiServerConfig } from './config/api-server-config.js';
import { PKI_NAMES } from './config/load-api-server-config.js';

/** The common name of the authority that issues the admin's certificate. */
export const AUTHORITY_NAME = 'straddle-ca';
const AUTHORITY_DAYS = 3_650;
const LEAF_DAYS = 365;
/** Remaining lifetime below which a certificate is issued again at the next start. */
const RENEW_BEFORE_MS = 30 * 24 * 3_600_000;

/** The authority of all serving certificates, and the admin's certificate for the kubeconfig. */
export interface MadePki {
  readonly ca: IssuedCertificate;
  readonly admin: IssuedCertificate;
}

/**
 * Makes the certificates and keys that no flag names, where they are missing. Several servers may
 * start on one folder at once: all use the files of the first. Resolves with undefined if a flag
 * names the authority, because its private key is not known.
 */
export async function makePki(config: ApiServerConfig): Promise<MadePki | undefined> {
  const { pkiDir } = config;
  makeFolder(pkiDir);
  if (config.serviceAccounts.signingKeyFile === join(pkiDir, PKI_NAMES.serviceAccountKey))
    await makeSigningKey(config.serviceAccounts.signingKeyFile);
  const ca = await authority(pkiDir, PKI_NAMES.ca, AUTHORITY_NAME);
  const frontProxyCa = await authority(pkiDir, PKI_NAMES.frontProxyCa, 'straddle-front-proxy-ca');
  if (config.frontProxyCertificate?.certFile === join(pkiDir, `${PKI_NAMES.frontProxyClient}.crt`)) {
    await leaf(config.frontProxyCertificate, () =>
      issueCertificate(frontProxyCa, { commonName: PKI_NAMES.frontProxyClient, usage: 'client', days: LEAF_DAYS }),
    );
  }
  if (config.tlsCertFile.startsWith(pkiDir)) {
    await leaf(
      { certFile: config.tlsCertFile, keyFile: config.tlsPrivateKeyFile },
      () => servingCertificate(ca, config),
      (cert) => servingNames(config).every((name) => covers(cert, name)),
    );
  }
  if (config.clientCaFile !== join(pkiDir, `${PKI_NAMES.ca}.crt`)) return undefined;
  return { ca, admin: issueAdmin(ca, LEAF_DAYS) };
}

/** Issues the certificate of the user kubernetes-admin of the group system:masters. */
export function issueAdmin(ca: IssuedCertificate, days: number): IssuedCertificate {
  return issueCertificate(ca, {
    commonName: 'kubernetes-admin',
    organizations: ['system:masters'],
    usage: 'client',
    days,
  });
}

async function makeSigningKey(path: string): Promise<void> {
  if (existsSync(path)) return;
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
  await createOnce(path, privateKey.export({ type: 'pkcs8', format: 'pem' }) as string);
}

async function authority(dir: string, name: string, commonName: string): Promise<IssuedCertificate> {
  // Key and certificate in one file, so that two processes cannot mix halves of two authorities.
  const path = join(dir, `${name}.pem`);
  if (!existsSync(path)) {
    const made = issueAuthority({ commonName, days: AUTHORITY_DAYS });
    await createOnce(path, made.certPem + made.keyPem);
  }
  const { certPem, keyPem } = pairIn(await readFile(path, 'utf8'));
  createPrivateKey(keyPem);
  await replaceFile(join(dir, `${name}.crt`), certPem);
  return { certPem, keyPem };
}

/**
 * Makes a pair unless there is a good one. Key and certificate are first written to one file, as for
 * an authority, and copied from there: processes that do it at the same time write the same.
 */
async function leaf(
  files: { certFile: string; keyFile: string },
  make: () => IssuedCertificate,
  isGood: (cert: X509Certificate) => boolean = () => true,
): Promise<void> {
  const isStillGood = (pem: string): boolean => {
    const cert = new X509Certificate(pem);
    return Date.parse(cert.validTo) - Date.now() > RENEW_BEFORE_MS && isGood(cert);
  };
  const path = `${files.certFile.replace(/\.crt$/, '')}.pem`;
  const isThere = existsSync(files.certFile) && existsSync(files.keyFile);
  if (isThere && isStillGood(await readFile(files.certFile, 'utf8'))) return;
  if (existsSync(path) && !isStillGood(pairIn(await readFile(path, 'utf8')).certPem)) await rm(path, { force: true });
  if (!existsSync(path)) {
    const made = make();
    await createOnce(path, made.certPem + made.keyPem);
  }
  const { certPem, keyPem } = pairIn(await readFile(path, 'utf8'));
  await replaceFile(files.keyFile, keyPem);
  await replaceFile(files.certFile, certPem);
}

function pairIn(text: string): IssuedCertificate {
  const [certPem = ''] = /-----BEGIN CERTIFICATE-----[\s\S]*?-----END CERTIFICATE-----\n?/.exec(text) ?? [];
  const [keyPem = ''] = /-----BEGIN PRIVATE KEY-----[\s\S]*?-----END PRIVATE KEY-----\n?/.exec(text) ?? [];
  return { certPem, keyPem };
}

interface ServingName {
  readonly dns?: string;
  readonly ip?: string;
}

/** Returns every name and address at which clients and peers may reach this server. */
function servingNames(config: ApiServerConfig): ServingName[] {
  const dns = [
    'localhost',
    hostname(),
    config.serverName,
    'kubernetes',
    'kubernetes.default',
    'kubernetes.default.svc',
    'kubernetes.default.svc.cluster.local',
    config.peerServerName,
  ];
  const ips = ['127.0.0.1', '::1', config.bindAddress, config.peerAdvertiseIp].filter(
    (ip) => ip !== '0.0.0.0' && ip !== '::',
  );
  return [
    ...[...new Set(dns)]
      .filter((name) => /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(name))
      .map((name) => ({ dns: name })),
    ...[...new Set(ips)].map((ip) => ({ ip })),
  ];
}

function servingCertificate(ca: IssuedCertificate, config: ApiServerConfig): IssuedCertificate {
  const names = servingNames(config);
  return issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: names.flatMap(({ dns }) => dns ?? []),
    ipAddresses: names.flatMap(({ ip }) => ip ?? []),
    usage: 'server',
    days: LEAF_DAYS,
  });
}

function covers(cert: X509Certificate, { dns, ip }: ServingName): boolean {
  return dns === undefined ? cert.checkIP(ip!) !== undefined : cert.checkHost(dns) !== undefined;
}

/** Writes a file unless it exists. */
async function createOnce(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600, flush: true });
  try {
    await link(temporary, path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Replaces a file atomically: readers see the old content or the new one. */
export async function replaceFile(path: string, text: string): Promise<void> {
  const temporary = `${path}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, text, { mode: 0o600, flush: true });
  await rename(temporary, path);
}
