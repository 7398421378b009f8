import { join } from 'node:path';
import { shippedVersions } from '../../apiserver/surfaces/shipped-versions.js';
import { formatHostPort } from '../../base/address.js';
import type { Logger } from '../../base/logger.js';
import type { Machine } from '../../compose/config/load-server-config.js';

export const BALANCES = ['request', 'connection'] as const;
export type Balance = (typeof BALANCES)[number];

export interface ControlPlaneOptions {
  readonly dataDir: string;
  /** One server each: `1.36`. Default: those of the last run, else `defaultVersions()`. */
  readonly versions: readonly string[] | undefined;
  /** Port of the front door; servers use the following ones. 0: any free ports. */
  readonly port: number;
  /** What the front door distributes in turn. */
  readonly balance: Balance;
  /** Whether the mixed version proxy is on; without it clients get wrong 404s. */
  readonly proxy: boolean;
  /** Whether an elected embedded server runs the controllers. */
  readonly controllers: boolean;
  /** Whether a server process that ends unexpectedly is started again. */
  readonly restart: boolean;
  readonly etcdServers: readonly string[];
  readonly runtimeConfig: readonly string[];
  /** Captured descriptions, a file for each version that has some. Default: none, so Straddle's own. */
  readonly descriptionsFiles?: readonly string[];
  /** Real API servers behind sidecars, instead of embedded servers. */
  readonly upstream: UpstreamPlane | undefined;
  /** The command of this program: arguments of Node.js and the file. */
  readonly self: readonly string[];
  readonly machine: Machine;
  readonly logger: Logger;
  readonly progress: (sentence: string) => void;
  /** Reports unexpected events after the start. */
  readonly note: (sentence: string) => void;
}

export interface UpstreamPlane {
  /** `https://10.0.0.1:6443`, one each. */
  readonly urls: readonly string[];
  /** Has, as from kubeadm, ca.crt, ca.key, front-proxy-ca.crt, front-proxy-client.crt and .key. */
  readonly pkiDir: string;
  /** Brings an API server to another version; see `UpstreamMember`. Undefined: they cannot be rolled. */
  readonly rollCommand: string | undefined;
}

/** The two newest versions that ship with Straddle, in the middle of an upgrade. */
export function defaultVersions(): readonly string[] {
  const [older, newer] = shippedVersions().slice(-2);
  return [older!, older!, newer!];
}

/** Time between not ready and the stop of a server: the front door probes twice a second. */
export const SHUTDOWN_DELAY = '1200ms';
export const PLANE_HOST = '127.0.0.1';
/** Where `straddle up` keeps its data, and `straddle roll` and others look for it, unless told otherwise. */
export const PLANE_DATA_DIR = './straddle-data';
/** In the data directory. */
export const PLANE_KUBECONFIG = 'kubeconfig';

export function serverName(index: number): string {
  return `server-${index + 1}`;
}

export function serverAddress({ port }: ControlPlaneOptions, index: number): string {
  return formatHostPort({ host: PLANE_HOST, port: port + index + 1 });
}

export function logFile(dataDir: string, name: string): string {
  return join(dataDir, 'logs', `${name}.log`);
}
