import type { ServerConfig } from './server-config.js';

/** Names of controllers, as `--controllers` takes them. */
export const CONTROLLER_CHOICES = ['namespace', 'garbagecollector', 'serviceaccount'] as const;
export type ControllerChoice = (typeof CONTROLLER_CHOICES)[number];

/** All that `straddle apiserver` was told, checked and completed with defaults; frozen. */
export interface ApiServerConfig extends ServerConfig {
  readonly dataDir: string;
  /** Where the admin's kubeconfig is written; undefined for nowhere. */
  readonly adminKubeconfig: string | undefined;
  /** Where certificates are made that were not given. */
  readonly pkiDir: string;
  /** Empty: the embedded store. */
  readonly etcd: EtcdConfig | undefined;
  /** 0: never. */
  readonly compactionMs: number;
  readonly eventTtlSeconds: number;
  /** `1.36`; undefined for the newest there is. */
  readonly kubernetesVersion: string | undefined;
  readonly surfaceFile: string | undefined;
  readonly runtimeConfig: readonly string[];
  readonly serviceCidr: string;
  /** Which of the controllers stand for election in this server. */
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
