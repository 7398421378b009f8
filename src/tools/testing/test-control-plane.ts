import type { LogLevel } from '../../base/logger.js';
import type { AccessRule, Caller, ControlPlaneAccess } from './access.js';
import type { DefinitionSource } from './crds.js';
import type { Duration } from './duration.js';
import type { Faults } from './faults.js';
import type { Recorder } from './recorder.js';
import type { RequestMatch } from './request-match.js';
import type { WebhookOption } from './webhooks.js';

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
   * `scheduling.k8s.io/v1alpha2=true`, as a list or separated by commas. Servers ignore API versions that they do not have.
   */
  readonly runtimeConfig?: string | readonly string[];

  /** Default: all. They run on one server; another takes over when its lease expires. */
  readonly controllers?: readonly ControllerName[];

  /** CustomResourceDefinitions that every server serves from the start. */
  readonly crds?: DefinitionSource | readonly DefinitionSource[];

  /** Admission webhooks whose handlers are functions of the test. */
  readonly webhooks?: readonly WebhookOption[];

  /**
   * Time during which resources of a departed server are answered 503, before 404. Default: `10m`, longer than any
   * test waits; set it short to test what follows.
   */
  readonly departedGrace?: Duration;

  /** Time after which an unreachable server counts as departed. Default: `6s`. At least `100ms`. */
  readonly peerGoneAfter?: Duration;

  /** Interval at which servers read the discovery of each other. Default: `250ms`. At least `50ms`. */
  readonly surfaceRefresh?: Duration;

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

  /**
   * Brings the stored objects back to those of the start: all that came since are gone, namespaces and CustomResourceDefinitions
   * included, and those that were there are there again. Users of {@link ControlPlane.as} keep their rights. Resolves when every server that runs shows it. Faults, recorders and the
   * versions of servers stay as they are. Stop or pause the program under test before.
   */
  reset(): Promise<void>;

  /**
   * Makes a user, or a service account with its namespace, with the rights of these rules and no others but those of every
   * authenticated caller. Another call for the same one replaces its rights.
   */
  as(who: Caller, rules: readonly AccessRule[]): Promise<ControlPlaneAccess>;

  /** Faults of the API as clients meet them. */
  readonly faults: Faults;

  /** Begins to record the requests of clients that match; all by default. */
  record(match?: RequestMatch): Recorder;

  /** Stops everything, also operations in progress, and removes all data. May be called twice. */
  close(): Promise<void>;

  /** The same as {@link ControlPlane.close}: `await using plane = await startControlPlane()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
