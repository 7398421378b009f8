import { join } from 'node:path';
import { formatHostPort } from '../../base/address.js';
import type { Logger } from '../../base/logger.js';
import type { Machine } from '../../compose/config/load-server-config.js';

export const BALANCES = ['request', 'connection'] as const;
export type Balance = (typeof BALANCES)[number];

export interface ControlPlaneOptions {
  readonly dataDir: string;
  /** One server each: `1.35`. Undefined: those of the last run in that folder, else `DEFAULT_VERSIONS`. */
  readonly versions: readonly string[] | undefined;
  /** The front door's; servers take the following ones. 0: any that are free. */
  readonly port: number;
  /** What the front door deals out in turn. */
  readonly balance: Balance;
  /** The mixed version proxy; without it clients meet the wrong 404s. */
  readonly proxy: boolean;
  /** Namespaces, garbage collection and service accounts, by an elected server of Straddle's own. */
  readonly controllers: boolean;
  /** A server process that ends without having been asked is started again. */
  readonly restart: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
  /** Real API servers to stand before, instead of servers of Straddle's own. */
  readonly upstream: UpstreamPlane | undefined;
  /** How this program runs itself: Node's own arguments and the program. */
  readonly self: readonly string[];
  readonly machine: Machine;
  readonly logger: Logger;
  readonly progress: (sentence: string) => void;
  /** What happens later without having been asked for. */
  readonly note: (sentence: string) => void;
}

export interface UpstreamPlane {
  /** `https://10.0.0.1:6443`, one each. */
  readonly urls: readonly string[];
  /** With the names that kubeadm gives: ca.crt, ca.key, front-proxy-ca.crt, front-proxy-client.crt and .key. */
  readonly pkiDir: string;
  /** Brings one of them to another version; see `UpstreamMember`. Undefined: they cannot be rolled. */
  readonly rollCommand: string | undefined;
}

export const DEFAULT_VERSIONS: readonly string[] = ['1.35', '1.35', '1.36'];
/** A server that stops says so for this long before it does: the front door looks twice a second. */
export const SHUTDOWN_DELAY = '1200ms';
export const PLANE_HOST = '127.0.0.1';

export function serverName(index: number): string {
  return `server-${index + 1}`;
}

export function serverAddress({ port }: ControlPlaneOptions, index: number): string {
  return formatHostPort({ host: PLANE_HOST, port: port + index + 1 });
}

export function logFile(dataDir: string, name: string): string {
  return join(dataDir, 'logs', `${name}.log`);
}
