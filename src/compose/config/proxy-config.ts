import type { HostPort } from '../../base/address.js';
import type { KubeconfigAccess } from './kubeconfig.js';
import type { ServerConfig } from './server-config.js';

/**
 * Configuration of `straddle proxy`, checked and completed with defaults; frozen. Certificate files
 * have not been read: their users read them, and read them again after changes.
 */
export interface ProxyConfig extends ServerConfig {
  readonly upstream: UpstreamConfig;
  /** Identity of Straddle; undefined: `system:straddle` by the front-proxy certificate. */
  readonly kubeconfig: KubeconfigAccess | undefined;
}

export interface UpstreamConfig extends HostPort {
  readonly caFile: string;
  readonly serverName: string;
  /** Address for other machines: the advertised one in place of a loopback host. */
  readonly advertised: HostPort;
}
