import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { loadAll } from 'js-yaml';
import { formatHostPort, hostPortOf } from '../../base/address.js';
import { systemClock } from '../../base/clock.js';
import { makeFolder } from '../../base/make-folder.js';
import type { FlagName } from '../../compose/config/flags.js';
import { loadProxyConfig } from '../../compose/config/load-proxy-config.js';
import type { CertificateFiles } from '../../compose/config/server-config.js';
import { issueAdmin, replaceFile } from '../../compose/pki.js';
import { loadServerTls } from '../../compose/server-tls.js';
import { rbacManifest } from '../../compose/straddle-rights.js';
import { Destinations } from '../../http/client/destinations.js';
import type { Destination } from '../../http/outgoing.js';
import { type IssuedCertificate, issueCertificate } from '../../http/tls/issue-certificate.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { STRADDLE_USER } from '../../proxy/identity/straddle-requests.js';
import {
  type ControlPlaneOptions,
  logFile,
  PLANE_HOST,
  SHUTDOWN_DELAY,
  serverAddress,
  serverName,
  type UpstreamPlane,
} from './control-plane-options.js';
import { askServer } from './plane-client.js';
import type { PlaneMaterial } from './plane-material.js';
import { ProcessMember } from './process-member.js';
import { THERE_MS_MAX, UpstreamMember } from './upstream-member.js';

const CERTIFICATE_DAYS = 30;
const FRONT_PROXY_NAME = 'front-proxy-client';
const CREATED_OR_THERE = [200, 201, 409];

/** Prepares a sidecar before each real API server; with the proxy off, only the servers. */
export async function planeOfUpstreams(options: ControlPlaneOptions, upstream: UpstreamPlane): Promise<PlaneMaterial> {
  const { dataDir, machine, logger, progress, note } = options;
  progress('making certificates of the control plane’s own authority');
  const ca = await readAuthority(upstream.pkiDir);
  const serving = await writeServing(dataDir, ca);
  const admin = issueAdmin(ca, CERTIFICATE_DAYS);
  const flags = (index: number, url: string): Map<FlagName, string[]> =>
    new Map(
      Object.entries(sidecarFlags(options, { upstream, serving, url, index })).map(([k, v]) => [k as FlagName, [v]]),
    );
  const config = loadProxyConfig(flags(-1, upstream.urls[0]!), machine);
  const tls = await loadServerTls(config, { logger, clock: systemClock });
  const destinations = new Destinations(() => tls.peerTls());
  const members = upstream.urls.map((url, index) => {
    const name = serverName(index);
    const words = [...flags(index, url)].map(([flag, [value]]) => `--${flag}=${value}`);
    const sidecar = options.proxy
      ? new ProcessMember({
          name,
          version: '',
          destination: destinations.make(serverAddress(options, index)),
          logFile: logFile(dataDir, name),
          command: () => [...options.self, 'proxy', ...words],
          onReady: async () => {},
          restart: options.restart,
          note,
          clock: systemClock,
        })
      : undefined;
    return new UpstreamMember({
      name,
      url,
      upstream: destinations.make(formatHostPort(hostPortOf(new URL(url)))),
      sidecar,
      rollCommand: upstream.rollCommand,
      logFile: logFile(dataDir, `${name}-roll`),
    });
  });
  return {
    members,
    tls,
    pki: { ca, admin },
    frontProxyNames: [FRONT_PROXY_NAME],
    prepare: async () => {
      if (!options.proxy) return;
      await members[0]!.look(THERE_MS_MAX);
      await grantRights(members[0]!.upstream, progress);
    },
  };
}

async function readAuthority(pkiDir: string): Promise<IssuedCertificate> {
  const [certPem, keyPem] = await Promise.all(
    ['ca.crt', 'ca.key'].map((name) =>
      readFile(join(pkiDir, name), 'utf8').catch((error: NodeJS.ErrnoException) => {
        throw new Error(
          `${join(pkiDir, name)} cannot be read (${error.code}): certificates for the sidecars, the front door and the admin are made with it; name its folder with --pki-dir.`,
        );
      }),
    ),
  );
  return { certPem: certPem!, keyPem: keyPem! };
}

async function writeServing(dataDir: string, ca: IssuedCertificate): Promise<CertificateFiles> {
  const dir = join(dataDir, 'pki');
  makeFolder(dir);
  const { certPem, keyPem } = issueCertificate(ca, {
    commonName: 'kube-apiserver',
    dnsNames: ['localhost', 'kubernetes', 'kubernetes.default', 'kubernetes.default.svc'],
    ipAddresses: [PLANE_HOST],
    usage: 'server',
    days: CERTIFICATE_DAYS,
  });
  const files = { certFile: join(dir, 'sidecar.crt'), keyFile: join(dir, 'sidecar.key') };
  await replaceFile(files.keyFile, keyPem);
  await replaceFile(files.certFile, certPem);
  return files;
}

/** Returns the flags of a sidecar; index -1 is the front door, which only shares the certificates. */
function sidecarFlags(
  options: ControlPlaneOptions,
  { upstream, serving, url, index }: { upstream: UpstreamPlane; serving: CertificateFiles; url: string; index: number },
): Record<string, string> {
  const pki = (name: string): string => join(upstream.pkiDir, name);
  const { port } = hostPortOf(new URL(`https://${serverAddress(options, index)}`));
  return {
    upstream: url,
    'server-name': index < 0 ? 'front' : serverName(index),
    'state-dir': join(options.dataDir, 'state', String(index + 1)),
    'bind-address': PLANE_HOST,
    'secure-port': String(port),
    'peer-advertise-ip': PLANE_HOST,
    'tls-cert-file': serving.certFile,
    'tls-private-key-file': serving.keyFile,
    'client-ca-file': pki('ca.crt'),
    'peer-ca-file': pki('ca.crt'),
    'requestheader-client-ca-file': pki('front-proxy-ca.crt'),
    'requestheader-allowed-names': FRONT_PROXY_NAME,
    'proxy-client-cert-file': pki('front-proxy-client.crt'),
    'proxy-client-key-file': pki('front-proxy-client.key'),
    'shutdown-delay': SHUTDOWN_DELAY,
    'log-format': 'json',
  };
}

/** Creates the objects of `straddle rbac` that do not exist yet. */
async function grantRights(destination: Destination, progress: (sentence: string) => void): Promise<void> {
  progress(`granting ${STRADDLE_USER} its few rights (straddle rbac)`);
  for (const each of loadAll(rbacManifest(STRADDLE_USER))) {
    if (!isObject(each)) continue;
    const { status, body } = await askServer(destination, 'POST', collectionOf(each), { body: each });
    if (!CREATED_OR_THERE.includes(status))
      throw new Error(`rights of ${STRADDLE_USER} were refused: ${body['message']}`);
  }
}

function collectionOf({ kind, metadata }: JsonObject): string {
  const { namespace } = metadata as { namespace?: string };
  const root = '/apis/rbac.authorization.k8s.io/v1';
  const plural = `${String(kind).toLowerCase()}s`;
  return namespace === undefined ? `${root}/${plural}` : `${root}/namespaces/${namespace}/${plural}`;
}
