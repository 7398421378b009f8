import { readFileSync } from 'node:fs';
import { type ApiServerConfig, CONTROLLER_CHOICES } from '../../compose/config/api-server-config.js';
import type { FlagName } from '../../compose/config/flags.js';
import { loadApiServerConfig } from '../../compose/config/load-api-server-config.js';
import type { ControlPlaneOptions } from './test-control-plane.js';

export const HOST = '127.0.0.1';

/** Short, because tests wait for it again and again. */
const SURFACE_REFRESH_MS = 250;
const PEER_GONE_AFTER_MS = 6_000;
/** Short, because the load balancer of the same process probes at once. */
const SHUTDOWN_DELAY = '50ms';
const SHUTDOWN_GRACE = '2s';

export interface ServerPlace {
  readonly dataDir: string;
  readonly name: string;
  readonly port: number;
}

/** Returns the configuration of a server, made from flags of `straddle apiserver`. */
export function serverConfig(
  { dataDir, name, port }: ServerPlace,
  options: ControlPlaneOptions,
  version: string,
): ApiServerConfig {
  const refreshMs = options.surfaceRefreshMs ?? SURFACE_REFRESH_MS;
  const flags: [FlagName, readonly string[]][] = [
    ['data-dir', [dataDir]],
    ['server-name', [name]],
    ['bind-address', [HOST]],
    ['secure-port', [String(port)]],
    ['kubernetes-version', [version]],
    ['feature-gates', [`UnknownVersionInteroperabilityProxy=${options.proxy ?? true}`]],
    ['runtime-config', options.runtimeConfig ?? []],
    ['controllers', options.controllers ?? CONTROLLER_CHOICES],
    ['admin-kubeconfig', ['']],
    ['surface-refresh', [`${refreshMs}ms`]],
    ['peer-gone-after', [`${options.peerGoneAfterMs ?? Math.max(PEER_GONE_AFTER_MS, refreshMs)}ms`]],
    ...(options.departedGraceMs === undefined
      ? []
      : [['departed-grace', [`${options.departedGraceMs}ms`]] satisfies [FlagName, string[]]]),
    ['shutdown-delay', [SHUTDOWN_DELAY]],
    ['shutdown-grace', [SHUTDOWN_GRACE]],
  ];
  return loadApiServerConfig(new Map(flags), {
    hostname: 'localhost',
    addresses: [HOST],
    readFile: (path) => readFileSync(path, 'utf8'),
  });
}
