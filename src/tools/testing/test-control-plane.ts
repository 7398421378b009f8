import type { LogLevel } from '../../base/logger.js';

/** A controller that runs inside the servers, on one of them at a time. */
export type ControllerName = 'namespace' | 'garbagecollector' | 'serviceaccount';

/** How much the servers say on standard error. */
export type TestLogLevel = LogLevel | 'silent';

/** What {@link startControlPlane} is told. Everything has a default. */
export interface ControlPlaneOptions {
  /**
   * One API server for each, named `server-1`, `server-2`, … in this order: minor versions of Kubernetes, such as `1.36`.
   * At most nine. Default: the two newest versions that come with Straddle, the older one first.
   */
  readonly versions?: readonly string[];

  /**
   * The mixed version proxy. With it (the default) every server answers for all of them. Without it a server answers 404
   * for whatever its own version does not have, as control planes do in the middle of an upgrade.
   */
  readonly proxy?: boolean;

  /**
   * API versions to turn on or off, as `--runtime-config` of kube-apiserver takes them: `scheduling.k8s.io/v1alpha2=true`.
   * Servers whose version does not know one leave it out.
   */
  readonly runtimeConfig?: readonly string[];

  /** Which controllers run. Default: all. They are elected, so a killed server's work is taken over after its lease ends. */
  readonly controllers?: readonly ControllerName[];

  /**
   * How long what only a departed server served is answered 503 before it is a 404. Default: ten minutes, longer than any
   * test waits; make it short to see what comes after.
   */
  readonly departedGraceMs?: number;

  /** A server that stays unreachable this long counts as departed. Default: 6000. At least 100. */
  readonly peerGoneAfterMs?: number;

  /** How often servers ask each other what they serve. Default: 250. At least 50. */
  readonly surfaceRefreshMs?: number;

  /** What the servers log on standard error. Default: `silent`. */
  readonly logLevel?: TestLogLevel;
}

/** One API server of a {@link ControlPlane}. The object stays the same; what it says changes. */
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

/** What a client shows and trusts, in PEM: for clients that read no kubeconfig. */
export interface ControlPlaneCredentials {
  /** The authority of every server's certificate. */
  readonly ca: string;
  /** Certificate of the user `kubernetes-admin` in the group `system:masters`. */
  readonly cert: string;
  /** The private key of that certificate. */
  readonly key: string;
}

/** What {@link ControlPlane.roll} is told. */
export interface RollOptions {
  /** The version to go to: `1.36`. Back is as good as forth. */
  readonly to: string;
  /** Only this server. Default: all of them, one after the other. */
  readonly server?: string;
}

/** What {@link ControlPlane.partition} is told. */
export interface PartitionOptions {
  /**
   * What becomes of new connections between the sides: `refuse` (default) fails them at once, `hang` leaves them without an
   * answer until the caller's own time is over (3 s between servers), as a firewall that drops does.
   */
  readonly connections?: 'refuse' | 'hang';
}

/** Ends a partition. Resolves when the servers see each other again. May be called twice. */
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
   * Replaces servers by ones of another version, one after the other: each drains, comes back at the same address, and is
   * ready and known to all before the next one goes. A server that is down comes back too. Servers that run that version
   * already are left alone. Rejects at the first that does not come up.
   */
  roll(options: RollOptions): Promise<void>;

  /**
   * Ends a server as `kill -9` would: its connections break in the middle of whatever they carried, its leases stay, and
   * nobody is told. Resolves when it is gone. Does nothing to one that is down already.
   */
  kill(server: string): Promise<void>;

  /**
   * Brings a killed server back, in the version that it had. Resolves when it is ready and known to all. Does nothing to
   * one that runs.
   */
  start(server: string): Promise<void>;

  /**
   * Lets no traffic pass between two sides, either way: names of servers, and `front` for the load balancer. Connections
   * between them are cut at once. Both sides go on reaching the store, as servers with one etcd do. Partitions add up.
   */
  partition(oneSide: readonly string[], otherSide: readonly string[], options?: PartitionOptions): Heal;

  /** Stops everything and removes what was stored. Ends whatever is under way. May be called twice. */
  close(): Promise<void>;

  /** The same as {@link ControlPlane.close}: `await using plane = await startControlPlane()`. */
  [Symbol.asyncDispose](): Promise<void>;
}
