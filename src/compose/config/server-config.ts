import type { HostPort } from '../../base/address.js';
export type FeatureGate = 'UnknownVersionInteroperabilityProxy';

/** Configuration that every kind of server has: chain, certificates, peers and limits. */
export interface ServerConfig {
  readonly serverName: string;
  readonly featureGates: Readonly<Record<FeatureGate, boolean>>;
  /** Whether rerouting and merged discovery are on: the gate is on and there is a CA for peers. */
  readonly peeringActive: boolean;
  /** Undefined if active; else the warning for the log. */
  readonly peeringInactiveReason: string | undefined;
  /** Undefined: no state is kept across restarts. */
  readonly stateDir: string | undefined;
  /** The file that switches passthrough on by its existence; undefined for none. */
  readonly passthroughFile: string | undefined;

  readonly bindAddress: string;
  /** 0: any free port. */
  readonly securePort: number;
  readonly tlsCertFile: string;
  readonly tlsPrivateKeyFile: string;

  readonly clientCaFile: string | undefined;
  readonly requestHeader: RequestHeaderConfig;
  /** Both files or none. */
  readonly frontProxyCertificate: CertificateFiles | undefined;

  /** Never undefined if peering is active. */
  readonly peerCaFile: string | undefined;
  readonly peerServerName: string;
  /** Address of this Straddle for peers. Port 0 stands for the port that it listens on. */
  readonly peerAdvertiseIp: string;
  readonly peerAdvertisePort: number;
  readonly staticPeers: readonly HostPort[];
  readonly peerSources: { readonly leases: boolean; readonly endpoints: boolean };
  readonly surfaceRefreshMs: number;
  readonly peerGoneAfterMs: number;
  readonly departedGraceMs: number;
  readonly leaseDurationSeconds: number;
  /** Whether reads refused for an option that their server does not know are sent to a newer peer. */
  readonly rerouteUnknownOptions: boolean;
  readonly versionView: 'local' | 'oldest' | 'newest';

  readonly limits: LimitsConfig;
  /** The HTTP/2 implementation for clients: the handwritten one, or that of Node.js. */
  readonly http2Server: 'own' | 'node';
  readonly shutdownDelayMs: number;
  readonly shutdownGraceMs: number;
  readonly logLevel: 'debug' | 'info' | 'warn' | 'error';
  readonly logFormat: 'auto' | 'json' | 'text';
  /** Warnings about a valid configuration; logged once at the start. */
  readonly notes: readonly string[];
}

export interface CertificateFiles {
  readonly certFile: string;
  readonly keyFile: string;
}

export interface RequestHeaderConfig {
  /** Undefined: no connection is accepted as that of a front proxy. */
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
  /** The same for connections whose client certificate was accepted; never below. */
  readonly authenticatedHead: { readonly headerBytesMax: number; readonly headersCountMax: number };
  readonly headerTimeoutMs: number;
  readonly clientProgressMs: number;
}
