import type { LogLevel } from '../../base/logger.js';

/** A controller that runs inside the servers, on one of them at a time. */
export type ControllerName = 'namespace' | 'garbagecollector' | 'serviceaccount';

/** Log level of the servers on standard error. */
export type TestLogLevel = LogLevel | 'silent';

/** Options of {@link startControlPlane}. All have defaults. */
export interface ControlPlaneOptions {
  /**
   * One API server for each, named `server-1`, `server-2`, … in this order: minor versions of Kubernetes, such as `1.36`.
   * At most nine. Default: the two newest versions that come with Straddle, the older one first.
   */
  readonly versions?: readonly string[];

  /**
   * Whether the mixed version proxy is on. With it (the default) every server serves the resources of all of them. Without
   * it a server replies 404 for resources that its version lacks, as in the middle of an upgrade of a control plane.
   */
  readonly proxy?: boolean;

  /**
   * API versions to turn on or off, in the format of `--runtime-config` of kube-apiserver:
   * `scheduling.k8s.io/v1alpha2=true`. Servers ignore API versions that they do not have.
   */
  readonly runtimeConfig?: readonly string[];

  /** Default: all. They run on one server; another takes over when its lease expires. */
  readonly controllers?: readonly ControllerName[];

  /**
   * Time during which resources of a departed server are answered 503, before 404. Default: ten minutes, longer than any
   * test waits; set it short to test what follows.
   */
  readonly departedGraceMs?: number;

  /** Time after which an unreachable server counts as departed. Default: 6000. At least 100. */
  readonly peerGoneAfterMs?: number;

  /** Interval at which servers read the discovery of each other. Default: 250. At least 50. */
  readonly surfaceRefreshMs?: number;

  /** Default: `silent`. */
  readonly logLevel?: TestLogLevel;
}

/** One API server of a {@link ControlPlane}. Properties show its current state. */
export interface ControlPlaneServer {
  /** `server-1`, also the name of its context in the kubeconfig. */
  readonly name: string;
  /** The Kubernetes version that it runs (`1.36`), or ran until it was killed. */
  readonly version: string;
  /** `https://127.0.0.1:40321`; the same for as long as the control plane lives. */
  readonly url: string;
  /** False from {@link ControlPlane.kill} to {@link ControlPlane.start}, and for a moment while it is replaced. */
  readonly isRunning: boolean;
}

/** Certificates and key in PEM, for clients that read no kubeconfig. */
export interface ControlPlaneCredentials {
  /** CA of all serving certificates. */
  readonly ca: string;
  /** Certificate of the user `kubernetes-admin` in the group `system:masters`. */
  readonly cert: string;
  /** The private key of that certificate. */
  readonly key: string;
}

/** Options of {@link ControlPlane.roll}. */
export interface RollOptions {
  /** The version to roll to, newer or older: `1.36`. */
  readonly to: string;
  /** The only server to replace. Default: all, one after the other. */
  readonly server?: string;
}

/** Options of {@link ControlPlane.partition}. */
export interface PartitionOptions {
  /**
   * Effect on new connections between the sides: `refuse` (default) fails them at once; with `hang` they fail after the
   * connect timeout of the caller (3 s between servers), as with a firewall that drops packets.
   */
  readonly connections?: 'refuse' | 'hang';
}

/** Ends a partition. Resolves when the servers reach each other again. May be called twice. */
export type Heal = () => Promise<void>;

/** A running control plane: API servers of several versions on one store, and a load balancer before them. */
export interface ControlPlane {
  /**
   * A whole kubeconfig in YAML: the context `front` (current) and one for each server, as an admin. Give it to
   * `KubeConfig.loadFromString`, or write it to a file for `KUBECONFIG`.
   */
  readonly kubeconfig: string;

  /** The load balancer: each request goes to the next server that is ready, whatever its version. */
  readonly front: { readonly url: string };

  /** In the order of the versions asked for. */
  readonly servers: readonly ControlPlaneServer[];

  /** For clients without a kubeconfig. */
  readonly credentials: ControlPlaneCredentials;

  /** A kubeconfig with one context only: `front`, or the name of a server. */
  kubeconfigFor(context: string): string;

  /**
   * Replaces servers by ones of another version, one after the other: each drains, starts at the same address, and is ready
   * and known to all before the next one stops. A server that is down is started too. Servers that run the version already
   * are not touched. Rejects at the first server that does not become ready.
   */
  roll(options: RollOptions): Promise<void>;

  /**
   * Ends a server as `kill -9` does: its connections are reset, its leases stay, and peers get no notice. Resolves when it
   * has ended. Does nothing if it is down already.
   */
  kill(server: string): Promise<void>;

  /**
   * Starts a killed server in its last version. Resolves when it is ready and known to all. Does nothing if it runs.
   */
  start(server: string): Promise<void>;

  /**
   * Blocks all traffic between two sides: names of servers, and `front` for the load balancer. Connections between them are
   * cut at once. Both sides still reach the store, as servers with one etcd do. Partitions add up.
   */
  partition(oneSide: readonly string[], otherSide: readonly string[], options?: PartitionOptions): Heal;

  /** Stops everything, also operations in progress, and removes all data. May be called twice. */
  close(): Promise<void>;

  /** The same as {@link ControlPlane.close}: `await using plane = await startControlPlane()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
