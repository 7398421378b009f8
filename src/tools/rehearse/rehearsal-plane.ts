/** How a client reaches an API, as an admin. */
export interface ApiAccess {
  /** `https://127.0.0.1:7440` */
  readonly url: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface RehearsalServer {
  readonly name: string;
  /** The version that it runs, or, while it is replaced, the one that it will run. */
  readonly version: string;
  readonly access: ApiAccess;
}

/** A control plane to rehearse on: made of Straddle's own API servers, or of sidecars before real ones. */
export interface RehearsalPlane {
  /** The load balancer before the servers. */
  readonly front: ApiAccess;
  /** A file with the context `front`, and one for each server. */
  readonly kubeconfig: string;
  /** In the order in which they are upgraded. A new array after each change. */
  readonly servers: readonly RehearsalServer[];
  /** What is stored outlives `close`: real servers, which others may use too. The rehearsal then tidies up. */
  readonly keepsObjects?: boolean;
  /** Stops one server and starts it in another version, or anew in the same one; resolves when it is ready and the front door knows it. */
  replace(server: string, version: string): Promise<void>;
  /** Stops everything; whatever was stored may be thrown away. */
  close(): Promise<void>;
}

export interface RehearsalPlaneOptions {
  /** The mixed version proxy; without it clients meet the wrong 404s. */
  readonly proxy: boolean;
  /** Of each server at first. */
  readonly versions: readonly string[];
  readonly progress: (sentence: string) => void;
}

export type StartRehearsalPlane = (options: RehearsalPlaneOptions) => Promise<RehearsalPlane>;
