import type { HostPort } from '../../base/address.js';
import type { KubeconfigAccess } from './kubeconfig.js';
import type { ServerConfig } from './server-config.js';

/**
 * All that `straddle proxy` was told, checked and completed with defaults; frozen. Paths are as given, files behind
 * them have not been read (certificates are read, and read again, by whoever uses them).
 */
export interface ProxyConfig extends ServerConfig {
  readonly upstream: UpstreamConfig;
  /** Straddle's own identity; undefined: `system:straddle` through the front-proxy certificate. */
  readonly kubeconfig: KubeconfigAccess | undefined;
}

export interface UpstreamConfig extends HostPort {
  readonly caFile: string;
  readonly serverName: string;
  /** The same kube-apiserver as other machines reach it: loopback hosts become the advertised address. */
  readonly advertised: HostPort;
}
