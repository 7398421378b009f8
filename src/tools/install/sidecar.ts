import { isSameAddress } from '../../base/address.js';
import { ConfigError } from '../../compose/config/config-error.js';
import { type ApiServerManifest, type HostMount, lastValue } from './api-server-manifest.js';

/** A file that Straddle reads: its path in flags, and on the host. */
export interface NeededFile {
  /** The first flag that names it, which also names its volume. */
  readonly flag: string;
  readonly path: string;
  readonly hostPath: string;
}

/** The Straddle in front of one kube-apiserver, before it is written as a pod or a unit. */
export interface Sidecar {
  /** Where it listens and is advertised; undefined: the address of the node that the kubelet knows. */
  readonly host: string | undefined;
  readonly port: number;
  readonly upstreamHost: string;
  /** Flags of kube-apiserver that hold for Straddle too. */
  readonly flags: readonly (readonly [string, string])[];
  readonly files: readonly NeededFile[];
  readonly runAs: ApiServerManifest['runAs'];
}

export const STATE_DIR = '/var/lib/straddle';
export const PKI_DIR = '/etc/kubernetes/pki';

/** Flags that name files without which Straddle cannot stand in front of a kube-apiserver of kubeadm. */
const FILE_FLAGS = [
  'tls-cert-file',
  'tls-private-key-file',
  'client-ca-file',
  'requestheader-client-ca-file',
  'proxy-client-cert-file',
  'proxy-client-key-file',
] as const;

/** Other flags that both have and that must agree; the values of those about front proxies add up where they are repeated. */
const COMMON_FLAGS = [
  'requestheader-allowed-names',
  'requestheader-username-headers',
  'requestheader-uid-headers',
  'requestheader-group-headers',
  'requestheader-extra-headers-prefix',
  'request-timeout',
] as const;

/** Flags that lead peers to another address than the one where Straddle will be. */
const PEER_ADDRESS_FLAGS = ['peer-advertise-ip', 'peer-advertise-port'] as const;

/** Returns the Straddle for a kube-apiserver. Throws ConfigError with everything that it lacks. */
export function sidecarOf(manifest: ApiServerManifest): Sidecar {
  const { flags, path, node, loopback, runAs } = manifest;
  const problems: string[] = [];
  const fileFlags: (readonly [string, string])[] = [];
  for (const flag of FILE_FLAGS) {
    const value = lastValue(flags, flag);
    if (value) fileFlags.push([flag, value]);
    else problems.push(`${path} has no --${flag}, which Straddle needs: ${NEEDED_FOR[flag]}.`);
  }
  const peerCa = lastValue(flags, 'peer-ca-file') || lastValue(flags, 'client-ca-file');
  if (peerCa) fileFlags.push(['peer-ca-file', peerCa]);
  for (const flag of PEER_ADDRESS_FLAGS) {
    const value = lastValue(flags, flag);
    const wanted = String(flag === 'peer-advertise-ip' ? node.host : node.port);
    if (value === undefined || isSameAddress(value, wanted)) continue;
    problems.push(
      `--${flag} in ${path} is ${value}, but Straddle would listen at ${wanted}: remove it, or set it to ${wanted}.`,
    );
  }
  const files = neededFiles(fileFlags, manifest.mounts, (sentence) => problems.push(`${sentence} in ${path}.`));
  if (problems.length > 0) throw new ConfigError(problems);
  const common = COMMON_FLAGS.flatMap((flag) => {
    const values = flags.get(flag);
    if (!values) return [];
    return [[flag, flag.startsWith('requestheader-') ? values.join(',') : values.at(-1)!] as const];
  });
  return { ...node, upstreamHost: loopback.host, flags: [...fileFlags, ...common], files, runAs };
}

const NEEDED_FOR: Readonly<Record<(typeof FILE_FLAGS)[number], string>> = {
  'tls-cert-file': 'it serves with the certificate of the kube-apiserver',
  'tls-private-key-file': 'the key of the serving certificate',
  'client-ca-file': 'the authority of client certificates',
  'requestheader-client-ca-file': 'the authority of front-proxy certificates, which peers show',
  'proxy-client-cert-file': 'the front-proxy certificate, with which users are carried on',
  'proxy-client-key-file': 'the key of the front-proxy certificate',
};

/** The Straddle for a node whose manifest is not known: the files of kubeadm, the address that the kubelet knows. */
export function sidecarOfAnyNode(): Sidecar {
  const files: Readonly<Record<(typeof FILE_FLAGS)[number] | 'peer-ca-file', string>> = {
    'tls-cert-file': 'apiserver.crt',
    'tls-private-key-file': 'apiserver.key',
    'client-ca-file': 'ca.crt',
    'requestheader-client-ca-file': 'front-proxy-ca.crt',
    'proxy-client-cert-file': 'front-proxy-client.crt',
    'proxy-client-key-file': 'front-proxy-client.key',
    'peer-ca-file': 'ca.crt',
  };
  const fileFlags = Object.entries(files).map(([flag, name]) => [flag, `${PKI_DIR}/${name}`] as const);
  return {
    host: undefined,
    port: 6443,
    upstreamHost: '127.0.0.1',
    flags: [...fileFlags, ['requestheader-allowed-names', 'front-proxy-client']],
    files: neededFiles(fileFlags, [{ mountPath: PKI_DIR, hostPath: PKI_DIR }], () => {}),
    runAs: undefined,
  };
}

/** Each file once, under the first flag that names it. */
function neededFiles(
  fileFlags: readonly (readonly [string, string])[],
  mounts: readonly HostMount[],
  wrong: (sentence: string) => void,
): readonly NeededFile[] {
  const byPath = new Map<string, NeededFile>();
  for (const [flag, path] of fileFlags) {
    const hostPath = hostPathOf(path, mounts);
    if (hostPath === undefined) wrong(`--${flag}=${path} is below no folder of the host that is mounted`);
    else if (!byPath.has(path)) byPath.set(path, { flag, path, hostPath });
  }
  return [...byPath.values()];
}

/** Returns the path on the host of a path in the container; the longest mount path counts. */
function hostPathOf(path: string, mounts: readonly HostMount[]): string | undefined {
  if (!path.startsWith('/')) return undefined;
  const [mount] = mounts
    .map(({ mountPath, hostPath }) => ({ mountPath: withoutEnd(mountPath), hostPath: withoutEnd(hostPath) }))
    .filter(({ mountPath }) => path === mountPath || path.startsWith(`${mountPath}/`))
    .sort((a, b) => b.mountPath.length - a.mountPath.length);
  return mount && mount.hostPath + path.slice(mount.mountPath.length);
}

function withoutEnd(folder: string): string {
  return folder.replace(/\/+$/, '');
}

/** Returns the flags of `straddle proxy`; `host` stands for the address of the node. */
export function proxyArguments({ host, port, upstreamHost, flags }: Sidecar, nodeIp: string): readonly string[] {
  const address = host ?? nodeIp;
  const upstream = upstreamHost.includes(':') ? `[${upstreamHost}]` : upstreamHost;
  return [
    `--bind-address=${address}`,
    `--advertise-address=${address}`,
    `--secure-port=${port}`,
    `--upstream=https://${upstream}:${port}`,
    ...flags.map(([name, value]) => `--${name}=${value}`),
    `--state-dir=${STATE_DIR}`,
  ];
}
