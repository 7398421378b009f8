import { join } from 'node:path';
import { checkApiServerConfig } from './api-server-checks.js';
import type { ApiServerConfig, ControllerChoice, EtcdConfig } from './api-server-config.js';
import type { FlagValues } from './flag-values.js';
import {
  assembleServer,
  type CertificateDefaults,
  type GivenFlags,
  loadConfig,
  type Machine,
  passthroughFile,
} from './load-server-config.js';

/** File names in the PKI folder, which servers share except for serving certificates. */
export const PKI_NAMES = {
  ca: 'ca',
  frontProxyCa: 'front-proxy-ca',
  frontProxyClient: 'front-proxy-client',
  serviceAccountKey: 'sa.key',
} as const;

/** Throws ConfigError with all problems. */
export function loadApiServerConfig(flags: GivenFlags, machine: Machine): ApiServerConfig {
  return loadConfig(flags, machine, {
    name: 'apiserver',
    assemble: (values) => assemble(values, machine),
    check: checkApiServerConfig,
  });
}

function assemble(values: FlagValues, machine: Machine): ApiServerConfig {
  const dataDir = values.text('data-dir');
  const pkiDir = join(dataDir, 'pki');
  const serverName = values.text('server-name') || machine.hostname;
  const server = assembleServer(values, machine, certificates(pkiDir, serverName));
  const stateDir =
    values.source('state-dir') === undefined ? join(dataDir, 'state', fileName(serverName)) : server.stateDir;
  return {
    ...server,
    stateDir,
    passthroughFile: passthroughFile(values, stateDir),
    dataDir,
    adminKubeconfig:
      values.source('admin-kubeconfig') === undefined
        ? join(dataDir, 'kubeconfig')
        : values.text('admin-kubeconfig') || undefined,
    pkiDir,
    etcd: etcd(values),
    compactionMs: values.durationMs('compaction-interval'),
    eventTtlSeconds: Math.ceil(values.durationMs('event-ttl') / 1_000),
    kubernetesVersion: values.text('kubernetes-version').replace(/^v/, '') || undefined,
    surfaceFile: values.file('surface-file'),
    descriptionsFile: values.file('descriptions-file'),
    runtimeConfig: values.list('runtime-config'),
    serviceCidr: values.text('service-cluster-ip-range'),
    controllers: [...new Set(values.list('controllers'))] as ControllerChoice[],
    serviceAccounts: {
      issuer: values.text('service-account-issuer'),
      signingKeyFile: values.file('service-account-signing-key-file') ?? join(pkiDir, PKI_NAMES.serviceAccountKey),
      keyFiles: values.list('service-account-key-file'),
    },
    tokenAuthFile: values.file('token-auth-file'),
  };
}

function certificates(pkiDir: string, serverName: string): Required<CertificateDefaults> {
  const pair = (name: string) => ({ certFile: join(pkiDir, `${name}.crt`), keyFile: join(pkiDir, `${name}.key`) });
  return {
    tls: pair(`apiserver-${fileName(serverName)}`),
    clientCaFile: join(pkiDir, `${PKI_NAMES.ca}.crt`),
    requestHeaderCaFile: join(pkiDir, `${PKI_NAMES.frontProxyCa}.crt`),
    requestHeaderAllowedNames: [PKI_NAMES.frontProxyClient],
    frontProxy: pair(PKI_NAMES.frontProxyClient),
    peerCaFile: join(pkiDir, `${PKI_NAMES.ca}.crt`),
  };
}

function etcd(values: FlagValues): EtcdConfig | undefined {
  const endpoints = values.list('etcd-servers');
  if (endpoints.length === 0) return undefined;
  return {
    endpoints,
    caFile: values.file('etcd-cafile'),
    certFile: values.file('etcd-certfile'),
    keyFile: values.file('etcd-keyfile'),
  };
}

/** Replaces characters that are not allowed in file names. */
function fileName(serverName: string): string {
  return serverName.replace(/[^A-Za-z0-9._-]/g, '_').replace(/^\./, '_');
}
