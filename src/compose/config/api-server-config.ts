import type { ServerConfig } from './server-config.js';

/** Names of controllers, as `--controllers` takes them. */
export const CONTROLLER_CHOICES = ['namespace', 'garbagecollector', 'serviceaccount'] as const;
export type ControllerChoice = (typeof CONTROLLER_CHOICES)[number];

/** Configuration of `straddle apiserver`, checked and completed with defaults; frozen. */
export interface ApiServerConfig extends ServerConfig {
  readonly dataDir: string;
  /** Path of the admin's kubeconfig; undefined: it is not written. */
  readonly adminKubeconfig: string | undefined;
  /** Folder for certificates that no flag names. */
  readonly pkiDir: string;
  /** Undefined: the embedded store. */
  readonly etcd: EtcdConfig | undefined;
  /** 0: never. */
  readonly compactionMs: number;
  readonly eventTtlSeconds: number;
  /** `1.36`; undefined: the newest built-in version. */
  readonly kubernetesVersion: string | undefined;
  readonly surfaceFile: string | undefined;
  /** Captured descriptions of the same version; undefined: Straddle's own. */
  readonly descriptionsFile: string | undefined;
  readonly runtimeConfig: readonly string[];
  readonly serviceCidr: string;
  /** Controllers for which this server is a candidate in their election. */
  readonly controllers: readonly ControllerChoice[];
  readonly serviceAccounts: {
    readonly issuer: string;
    readonly signingKeyFile: string;
    readonly keyFiles: readonly string[];
  };
  readonly tokenAuthFile: string | undefined;
}

export interface EtcdConfig {
  /** Whole URLs. */
  readonly endpoints: readonly string[];
  readonly caFile: string | undefined;
  readonly certFile: string | undefined;
  readonly keyFile: string | undefined;
}
