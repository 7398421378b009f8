import type { HostPort } from '../../base/address.js';
export type FeatureGate = 'UnknownVersionInteroperabilityProxy';

/** What every kind of server was told: the chain, its certificates, its peers and its limits. */
export interface ServerConfig {
  readonly serverName: string;
  readonly featureGates: Readonly<Record<FeatureGate, boolean>>;
  /** Rerouting and merged discovery: the gate is on and there is a CA to verify peers with. */
  readonly peeringActive: boolean;
  /** Undefined when active; else a sentence for the one warning in the log. */
  readonly peeringInactiveReason: string | undefined;
  /** Undefined: nothing outlives a restart. */
  readonly stateDir: string | undefined;

  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;

  readonly clientCaFile: string | undefined;
  readonly requestHeader: RequestHeaderConfig;
  /** Both files or none. */
  readonly frontProxyCertificate: CertificateFiles | undefined;

  /** Given whenever peering is active. */
  readonly peerCaFile: string | undefined;
  readonly peerServerName: string;
  /** Where peers reach this Straddle. Port 0 stands for the port it got. */
  readonly peerAdvertiseIp: string;
  readonly peerAdvertisePort: number;
  readonly staticPeers: readonly HostPort[];
  readonly peerSources: { readonly leases: boolean; readonly endpoints: boolean };
  readonly surfaceRefreshMs: number;
  readonly peerGoneAfterMs: number;
  readonly departedGraceMs: number;
  readonly leaseDurationSeconds: number;

  readonly limits: LimitsConfig;
  /** Whose HTTP/2 clients are served with: Straddle's own, or that of Node.js. */
  readonly http2Server: 'own' | 'node';
  readonly shutdownDelayMs: number;
  readonly shutdownGraceMs: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'auto' | 'json' | 'text';
  /** What an operator should know although nothing is wrong; logged once at start. */
  readonly notes: readonly string[];
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface RequestHeaderConfig {
  /** Undefined: no connection is a front proxy's. */
  readonly clientCaFile: string | undefined;
  /** Empty: any common name. */
  readonly allowedNames: readonly string[];
  readonly usernameHeaders: readonly string[];
  readonly uidHeaders: readonly string[];
  readonly groupHeaders: readonly string[];
  readonly extraHeaderPrefixes: readonly string[];
}

export interface LimitsConfig {
  readonly workers: number;
  readonly requestsInFlightMax: number;
  readonly requestsInFlightPerUserMax: number;
  readonly requestsInFlightPerPeerMax: number;
  readonly queuedRequestsMax: number;
  readonly queueWaitMs: number;
  readonly requestTimeoutMs: number;
  readonly failoverAttemptsMax: number;
  readonly longRunningRequestsMax: number;
  readonly heldMemoryBytesMax: number;
  readonly connectionsMax: number;
  readonly connectionsPerAddressMax: number;
  readonly streamsPerConnectionMax: number;
  readonly headerBytesMax: number;
  readonly headersCountMax: number;
  readonly headerTimeoutMs: number;
  readonly clientProgressMs: number;
}
