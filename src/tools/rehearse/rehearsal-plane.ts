/** URL and admin credentials of an API. */
export interface ApiAccess {
  /** `https://127.0.0.1:7440` */
  readonly url: string;
  readonly caPem: string;
  readonly certPem: string;
  readonly keyPem: string;
}

export interface RehearsalServer {
  readonly name: string;
  /** The version that runs, or, during a replacement, the new one. */
  readonly version: string;
  readonly access: ApiAccess;
}

/** A control plane for a rehearsal: embedded API servers, or sidecars before real ones. */
export interface RehearsalPlane {
  /** The load balancer before the servers. */
  readonly front: ApiAccess;
  /** A file with the context `front`, and one for each server. */
  readonly kubeconfig: string;
  /** In the order in which they are upgraded. A new array after each change. */
  readonly servers: readonly RehearsalServer[];
  /** Whether objects outlive `close`, as on real servers, so that the rehearsal deletes them. */
  readonly keepsObjects?: boolean;
  /** Restarts one server in any version. Resolves when it is ready and used by the front door. */
  replace(server: string, version: string): Promise<void>;
  /** Stops everything; stored objects may be removed. */
  close(): Promise<void>;
}

export interface RehearsalPlaneOptions {
  /** Whether the mixed version proxy is on; without it clients get wrong 404s. */
  readonly proxy: boolean;
  /** First version of each server. */
  readonly versions: readonly string[];
  readonly progress: (sentence: string) => void;
}

export type StartRehearsalPlane = (options: RehearsalPlaneOptions) => Promise<RehearsalPlane>;
