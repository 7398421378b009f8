import { firstRoutable, formatHostPort, hostPortOf, isLoopback, isUnspecified } from './addresses.js';
import { ConfigError } from './config-error.js';
import { type Layer, readConfigFile } from './config-file.js';
import { FlagValues } from './flag-values.js';
import type { FlagName } from './flags.js';
import { type KubeconfigAccess, parseKubeconfig } from './kubeconfig.js';
import { checkProxyConfig } from './proxy-checks.js';
import type { CertificateFiles, HostPort, LimitsConfig, ProxyConfig, RequestHeaderConfig } from './proxy-config.js';

/** What of the machine the configuration depends on, so that tests need none. */
export interface Machine {
  readonly hostname: string;
  /** Of all interfaces, in the system's order. */
  readonly addresses: readonly string[];
  readonly readFile: (path: string) => string;
}

/** Flags > config file > kubeadm extraArgs > defaults. Throws ConfigError with everything that is wrong. */
export function loadProxyConfig(flags: ReadonlyMap<FlagName, readonly string[]>, machine: Machine): ProxyConfig {
  const layers: Layer[] = [{ source: 'command line', origin: '', values: flags }];
  const problems: string[] = [];
  const notes: string[] = [];
  const path = flags.get('config')?.at(-1);
  if (path) {
    const text = readOr(machine, path, '--config', problems);
    const file = text === undefined ? undefined : readConfigFile(path, text);
    if (file) {
      layers.push(file.file, file.kubeadm);
      problems.push(...file.problems);
      notes.push(...file.notes);
    }
  }
  const values = new FlagValues(layers);
  const config = assemble(values, machine, problems);
  const checked = checkProxyConfig(config, values);
  // A value that is looked at twice is still wrong only once.
  const allProblems = [...new Set([...problems, ...values.problems, ...checked.problems])];
  if (allProblems.length > 0) throw new ConfigError(allProblems);
  return deepFreeze({ ...config, notes: [...new Set([...notes, ...values.notes, ...checked.notes])] });
}

function assemble(values: FlagValues, machine: Machine, problems: string[]): ProxyConfig {
  const featureGates = values.gates('feature-gates', { UnknownVersionInteroperabilityProxy: true });
  const peerCaFile = values.file('peer-ca-file');
  const gateOn = featureGates.UnknownVersionInteroperabilityProxy;
  const bindAddress = values.ip('bind-address') ?? '0.0.0.0';
  const securePort = values.port('secure-port') ?? 6443;
  const peerAdvertiseIp = advertisedIp(values, bindAddress, machine.addresses);
  const sources = values.list('peer-sources');
  const peerServerName = values.text('peer-server-name');
  const upstream = hostPortOf(values.url('upstream'));
  return {
    serverName: values.text('server-name') || machine.hostname,
    featureGates,
    peeringActive: gateOn && peerCaFile !== undefined,
    peeringInactiveReason: inactiveReason(gateOn, peerCaFile),
    stateDir: values.text('state-dir') || undefined,
    bindAddress,
    securePort,
    tlsCertFile: values.file('tls-cert-file') ?? '',
    tlsPrivateKeyFile: values.file('tls-private-key-file') ?? '',
    clientCaFile: values.file('client-ca-file'),
    requestHeader: requestHeader(values),
    frontProxyCertificate: frontProxyCertificate(values),
    upstream: {
      ...upstream,
      caFile: values.file('upstream-ca-file') ?? peerCaFile ?? '',
      serverName: values.text('upstream-server-name') || peerServerName,
      advertised: advertisedUpstream(upstream, peerAdvertiseIp),
    },
    kubeconfig: kubeconfig(values, machine, problems),
    peerCaFile,
    peerServerName,
    peerAdvertiseIp,
    peerAdvertisePort: values.port('peer-advertise-port') ?? securePort,
    staticPeers: values.urls('peer').map(hostPortOf),
    peerSources: { leases: sources.includes('leases'), endpoints: sources.includes('endpoints') },
    surfaceRefreshMs: values.durationMs('surface-refresh'),
    peerGoneAfterMs: values.durationMs('peer-gone-after'),
    departedGraceMs: values.durationMs('departed-grace'),
    leaseDurationSeconds: values.durationMs('lease-duration') / 1_000,
    limits: limits(values),
    shutdownDelayMs: values.durationMs('shutdown-delay'),
    shutdownGraceMs: values.durationMs('shutdown-grace'),
    logLevel: logLevel(values),
    logFormat: values.choice('log-format'),
    notes: [],
  };
}

function requestHeader(values: FlagValues): RequestHeaderConfig {
  return {
    clientCaFile: values.file('requestheader-client-ca-file'),
    allowedNames: values.list('requestheader-allowed-names'),
    usernameHeaders: values.headerNames('requestheader-username-headers'),
    uidHeaders: values.headerNames('requestheader-uid-headers'),
    groupHeaders: values.headerNames('requestheader-group-headers'),
    extraHeaderPrefixes: values.headerNames('requestheader-extra-headers-prefix'),
  };
}

function frontProxyCertificate(values: FlagValues): CertificateFiles | undefined {
  const certFile = values.file('proxy-client-cert-file');
  const keyFile = values.file('proxy-client-key-file');
  return certFile && keyFile ? { certFile, keyFile } : undefined;
}

function limits(values: FlagValues): LimitsConfig {
  // Each of these counts has a default in the table, so none is ever absent.
  return {
    workers: values.count('workers')!,
    requestsInFlightMax: values.count('max-requests-in-flight')!,
    requestsInFlightPerPeerMax: values.count('max-requests-in-flight-per-peer')!,
    queuedRequestsMax: values.count('max-queued-requests')!,
    queueWaitMs: values.durationMs('queue-wait'),
    requestTimeoutMs: values.durationMs('request-timeout'),
    failoverAttemptsMax: values.count('failover-attempts')!,
    connectionsMax: values.count('max-connections')!,
    streamsPerConnectionMax: values.count('max-streams-per-connection')!,
    headerBytesMax: values.bytes('max-header-bytes'),
    headersCountMax: values.count('max-headers-count')!,
    headerTimeoutMs: values.durationMs('header-timeout'),
  };
}

/** kube-apiserver logs what Straddle calls debug from verbosity 4 on. */
const DEBUG_VERBOSITY = 4;

function logLevel(values: FlagValues): ProxyConfig['logLevel'] {
  const level = values.choice<ProxyConfig['logLevel']>('log-level');
  const verbosity = values.count('v') ?? 0;
  return values.source('log-level') === undefined && verbosity >= DEBUG_VERBOSITY ? 'debug' : level;
}

function inactiveReason(gateOn: boolean, peerCaFile: string | undefined): string | undefined {
  if (!gateOn) return 'The feature gate UnknownVersionInteroperabilityProxy is off: nothing is rerouted or merged.';
  if (peerCaFile === undefined) {
    return 'No --peer-ca-file to verify peers with: nothing is rerouted or merged until one is given.';
  }
  return undefined;
}

/** Unspecified addresses can be listened on but not dialled, so each falls through to the next in line. */
function advertisedIp(values: FlagValues, bindAddress: string, addresses: readonly string[]): string {
  for (const candidate of [values.ip('peer-advertise-ip'), values.ip('advertise-address'), bindAddress]) {
    if (candidate !== undefined && !isUnspecified(candidate)) return candidate;
  }
  return firstRoutable(addresses, bindAddress) ?? bindAddress;
}

function advertisedUpstream(upstream: HostPort, advertiseIp: string): HostPort {
  return isLoopback(upstream.host) ? { host: advertiseIp, port: upstream.port } : upstream;
}

function kubeconfig(values: FlagValues, machine: Machine, problems: string[]): KubeconfigAccess | undefined {
  const path = values.file('kubeconfig');
  const text = path === undefined ? undefined : readOr(machine, path, '--kubeconfig', problems);
  if (path === undefined || text === undefined) return undefined;
  try {
    return parseKubeconfig(text, { path });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    problems.push(...error.problems);
    return undefined;
  }
}

function readOr(machine: Machine, path: string, flag: string, problems: string[]): string | undefined {
  try {
    return machine.readFile(path);
  } catch (error) {
    problems.push(`${flag}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}).`);
    return undefined;
  }
}

/** `ip:port` under which peers reach this Straddle. */
export function peerAdvertiseAddress(config: ProxyConfig, listeningPort: number): string {
  return formatHostPort({ host: config.peerAdvertiseIp, port: config.peerAdvertisePort || listeningPort });
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
