import { join } from 'node:path';
import { formatHostPort, hostPortOf } from '../../base/address.js';
import { firstRoutable, isUnspecified } from './addresses.js';
import { ConfigError } from './config-error.js';
import { type Layer, readConfigFile } from './config-file.js';
import type { FlagCommand } from './flag.js';
import { FlagValues } from './flag-values.js';
import type { FlagName } from './flags.js';
import type { Findings } from './server-checks.js';
import type { CertificateFiles, LimitsConfig, RequestHeaderConfig, ServerConfig } from './server-config.js';

/** The properties of the machine that the configuration depends on; tests replace them. */
export interface Machine {
  readonly hostname: string;
  /** Addresses of all interfaces, in the system's order. */
  readonly addresses: readonly string[];
  readonly readFile: (path: string) => string;
}

export type GivenFlags = ReadonlyMap<FlagName, readonly string[]>;

/** Certificates that are used where a flag names none. */
export interface CertificateDefaults {
  readonly tls?: CertificateFiles;
  readonly clientCaFile?: string;
  readonly requestHeaderCaFile?: string;
  readonly requestHeaderAllowedNames?: readonly string[];
  readonly frontProxy?: CertificateFiles;
  readonly peerCaFile?: string;
}

/**
 * Loads a configuration: flags > config file > static pod > kubeadm extraArgs > defaults. Throws ConfigError with
 * all problems. `command` assembles and checks its part; `assemble` may add to `problems`.
 */
export function loadConfig<Config extends ServerConfig>(
  flags: GivenFlags,
  machine: Machine,
  command: {
    readonly name: FlagCommand;
    assemble(values: FlagValues, problems: string[]): Config;
    check(config: Config, values: FlagValues, findings: Findings): void;
  },
): Config {
  const layers: Layer[] = [{ source: 'command line', origin: '', values: flags }];
  const problems: string[] = [];
  const notes: string[] = [];
  const path = flags.get('config')?.at(-1);
  if (path) {
    const text = readOr(machine, path, '--config', problems);
    const file = text === undefined ? undefined : readConfigFile(path, text, command.name);
    if (file) {
      layers.push(...file.layers);
      problems.push(...file.problems);
      notes.push(...file.notes);
    }
  }
  const values = new FlagValues(layers, command.name);
  const config = command.assemble(values, problems);
  const checked = { problems: [] as string[], notes: [] as string[] };
  command.check(config, values, {
    wrong: (sentence) => checked.problems.push(sentence),
    note: (sentence) => checked.notes.push(sentence),
  });
  // A Set, because a value that is read twice has its problem twice.
  const allProblems = [...new Set([...problems, ...values.problems, ...checked.problems])];
  if (allProblems.length > 0) throw new ConfigError(allProblems);
  return deepFreeze({ ...config, notes: [...new Set([...notes, ...values.notes, ...checked.notes])] });
}

export function assembleServer(values: FlagValues, machine: Machine, defaults: CertificateDefaults = {}): ServerConfig {
  const featureGates = values.gates('feature-gates', { UnknownVersionInteroperabilityProxy: true });
  const peerCaFile = values.file('peer-ca-file') ?? defaults.peerCaFile;
  const gateOn = featureGates.UnknownVersionInteroperabilityProxy;
  const bindAddress = values.ip('bind-address')!;
  const securePort = values.port('secure-port') ?? 6443;
  const sources = values.list('peer-sources');
  const header = requestHeader(values);
  const stateDir = values.text('state-dir') || undefined;
  return {
    serverName: values.text('server-name') || machine.hostname,
    featureGates,
    peeringActive: gateOn && peerCaFile !== undefined,
    peeringInactiveReason: inactiveReason(gateOn, peerCaFile),
    stateDir,
    passthroughFile: passthroughFile(values, stateDir),
    bindAddress,
    securePort,
    tlsCertFile: values.file('tls-cert-file') ?? defaults.tls?.certFile ?? '',
    tlsPrivateKeyFile: values.file('tls-private-key-file') ?? defaults.tls?.keyFile ?? '',
    clientCaFile: values.file('client-ca-file') ?? defaults.clientCaFile,
    requestHeader:
      header.clientCaFile === undefined && defaults.requestHeaderCaFile !== undefined
        ? {
            ...header,
            clientCaFile: defaults.requestHeaderCaFile,
            allowedNames: defaults.requestHeaderAllowedNames ?? [],
          }
        : header,
    frontProxyCertificate: frontProxyCertificate(values) ?? defaults.frontProxy,
    peerCaFile,
    peerServerName: values.text('peer-server-name'),
    peerAdvertiseIp: advertisedIp(values, bindAddress, machine.addresses),
    peerAdvertisePort: values.port('peer-advertise-port') ?? securePort,
    staticPeers: values.urls('peer').map(hostPortOf),
    peerSources: { leases: sources.includes('leases'), endpoints: sources.includes('endpoints') },
    surfaceRefreshMs: values.durationMs('surface-refresh'),
    peerGoneAfterMs: values.durationMs('peer-gone-after'),
    departedGraceMs: values.durationMs('departed-grace'),
    leaseDurationSeconds: values.durationMs('lease-duration') / 1_000,
    rerouteUnknownOptions: values.choice('reroute-unknown-options') === 'true',
    versionView: values.choice('version-view'),
    limits: limits(values),
    http2Server: values.choice('http2-server'),
    shutdownDelayMs: values.durationMs('shutdown-delay'),
    shutdownGraceMs: values.durationMs('shutdown-grace'),
    logLevel: logLevel(values),
    logFormat: values.choice('log-format'),
    notes: [],
  };
}

/** Returns the file in the state folder unless one is named; an empty name means none. */
export function passthroughFile(values: FlagValues, stateDir: string | undefined): string | undefined {
  if (values.source('passthrough-file') !== undefined) return values.text('passthrough-file') || undefined;
  return stateDir && join(stateDir, 'passthrough');
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
  const connectionsMax = values.count('max-connections')!;
  // Each of these counts has a default in the table, so none is ever absent.
  return {
    workers: values.count('workers')!,
    requestsInFlightMax: values.count('max-requests-in-flight')!,
    requestsInFlightPerUserMax: values.count('max-requests-in-flight-per-user')!,
    requestsInFlightPerPeerMax: values.count('max-requests-in-flight-per-peer')!,
    queuedRequestsMax: values.count('max-queued-requests')!,
    queueWaitMs: values.durationMs('queue-wait'),
    requestTimeoutMs: values.durationMs('request-timeout'),
    failoverAttemptsMax: values.count('failover-attempts')!,
    longRunningRequestsMax: values.count('max-long-running-requests')!,
    heldMemoryBytesMax: values.bytes('max-held-memory'),
    connectionsMax,
    connectionsPerAddressMax: values.count('max-connections-per-address') || Math.ceil(connectionsMax / 2),
    streamsPerConnectionMax: values.count('max-streams-per-connection')!,
    headerBytesMax: values.bytes('max-header-bytes'),
    headersCountMax: values.count('max-headers-count')!,
    authenticatedHead: {
      headerBytesMax: Math.max(values.bytes('max-header-bytes'), values.bytes('max-header-bytes-authenticated')),
      headersCountMax: Math.max(values.count('max-headers-count')!, values.count('max-headers-count-authenticated')!),
    },
    headerTimeoutMs: values.durationMs('header-timeout'),
    clientProgressMs: values.durationMs('client-progress-timeout'),
  };
}

/** Verbosity of kube-apiserver from which its log has what Straddle logs as debug. */
const DEBUG_VERBOSITY = 4;

function logLevel(values: FlagValues): ServerConfig['logLevel'] {
  const level = values.choice<ServerConfig['logLevel']>('log-level');
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

/** Returns the first candidate that can be dialled: unspecified addresses can only be listened on. */
function advertisedIp(values: FlagValues, bindAddress: string, addresses: readonly string[]): string {
  for (const candidate of [values.ip('peer-advertise-ip'), values.ip('advertise-address'), bindAddress]) {
    if (candidate !== undefined && !isUnspecified(candidate)) return candidate;
  }
  return firstRoutable(addresses, bindAddress) ?? bindAddress;
}

export function readOr(machine: Machine, path: string, flag: string, problems: string[]): string | undefined {
  try {
    return machine.readFile(path);
  } catch (error) {
    problems.push(`${flag}: ${path} cannot be read (${(error as NodeJS.ErrnoException).code ?? error}).`);
    return undefined;
  }
}

/** Returns the `ip:port` at which peers reach this Straddle. */
export function peerAdvertiseAddress(config: ServerConfig, listeningPort: number): string {
  return formatHostPort({ host: config.peerAdvertiseIp, port: config.peerAdvertisePort || listeningPort });
}

function deepFreeze<T extends object>(value: T): T {
  for (const member of Object.values(value)) {
    if (typeof member === 'object' && member !== null) deepFreeze(member);
  }
  return Object.freeze(value);
}
