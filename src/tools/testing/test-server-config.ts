import { readFileSync } from 'node:fs';
import { type ApiServerConfig, CONTROLLER_CHOICES } from '../../compose/config/api-server-config.js';
import { ConfigError } from '../../compose/config/config-error.js';
import type { FlagName } from '../../compose/config/flags.js';
import { loadApiServerConfig } from '../../compose/config/load-api-server-config.js';
import { durationMs } from './duration.js';
import type { ControlPlaneOptions } from './test-control-plane.js';

export const HOST = '127.0.0.1';

/** Short, because tests wait for it again and again. */
const SURFACE_REFRESH = '250ms';
const PEER_GONE_AFTER = '6s';
/** Short, because the load balancer of the same process probes at once. */
const SHUTDOWN_DELAY = '50ms';
const SHUTDOWN_GRACE = '2s';

export interface ServerPlace {
  readonly dataDir: string;
  readonly name: string;
  readonly port: number;
}

/** The flags that options become. */
const OPTION_OF_FLAG: Readonly<Partial<Record<FlagName, string>>> = {
  'runtime-config': 'runtimeConfig',
  'surface-refresh': 'surfaceRefresh',
  'peer-gone-after': 'peerGoneAfter',
  'departed-grace': 'departedGrace',
};

/** Returns the configuration of a server, made from flags of `straddle apiserver`. Throws an Error that names the options. */
export function serverConfig(
  { dataDir, name, port }: ServerPlace,
  options: ControlPlaneOptions,
  version: string,
): ApiServerConfig {
  const { surfaceRefresh = SURFACE_REFRESH, peerGoneAfter = PEER_GONE_AFTER, departedGrace } = options;
  const isLonger = durationMs('surfaceRefresh', surfaceRefresh) > durationMs('peerGoneAfter', PEER_GONE_AFTER);
  const flags: [FlagName, readonly string[]][] = [
    ['data-dir', [dataDir]],
    ['server-name', [name]],
    ['bind-address', [HOST]],
    ['secure-port', [String(port)]],
    ['kubernetes-version', [version]],
    ['feature-gates', [`UnknownVersionInteroperabilityProxy=${options.proxy ?? true}`]],
    ['runtime-config', [options.runtimeConfig ?? []].flat()],
    ['controllers', options.controllers ?? CONTROLLER_CHOICES],
    ['admin-kubeconfig', ['']],
    ['surface-refresh', [surfaceRefresh]],
    ['peer-gone-after', [options.peerGoneAfter === undefined && isLonger ? surfaceRefresh : peerGoneAfter]],
    ...(departedGrace === undefined ? [] : [['departed-grace', [departedGrace]] satisfies [FlagName, string[]]]),
    ['shutdown-delay', [SHUTDOWN_DELAY]],
    ['shutdown-grace', [SHUTDOWN_GRACE]],
  ];
  try {
    return loadApiServerConfig(new Map(flags), {
      hostname: 'localhost',
      addresses: [HOST],
      readFile: (path) => readFileSync(path, 'utf8'),
    });
  } catch (error) {
    if (!(error instanceof ConfigError)) throw error;
    throw new Error(error.problems.map(inOptions).join('\n'));
  }
}

/** Names options in place of the flags that they become. */
function inOptions(problem: string): string {
  return Object.entries(OPTION_OF_FLAG).reduce((text, [flag, option]) => text.replaceAll(`--${flag}`, option), problem);
}
