import { notShipped } from '../../apiserver/surfaces/shipped-versions.js';
import { CONTROLLER_CHOICES } from '../../compose/config/api-server-config.js';
import { checkKeys, shown } from './check-keys.js';
import { durationMs } from './duration.js';
import type { ControlPlaneOptions, TestLogLevel } from './test-control-plane.js';

const SERVERS_MAX = 9;
const LOG_LEVELS: readonly TestLogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];
const NAMES: Record<keyof ControlPlaneOptions, true> = {
  versions: true,
  proxy: true,
  runtimeConfig: true,
  controllers: true,
  crds: true,
  webhooks: true,
  departedGrace: true,
  peerGoneAfter: true,
  surfaceRefresh: true,
  logLevel: true,
};

/** Throws for invalid options, which callers without TypeScript may pass. */
export function checkOptions(options: ControlPlaneOptions): void {
  if (typeof options !== 'object' || options === null || Array.isArray(options))
    throw new Error(`startControlPlane: give an object with options, not ${shown(options)}.`);
  checkKeys('startControlPlane', options, Object.keys(NAMES));
  const { versions, proxy, runtimeConfig, controllers, departedGrace, peerGoneAfter, surfaceRefresh, logLevel } =
    options;
  if (versions !== undefined) checkVersions(versions);
  if (proxy !== undefined && typeof proxy !== 'boolean')
    throw new Error(`proxy: give true or false, not ${shown(proxy)}.`);
  if (runtimeConfig !== undefined) checkRuntimeConfig(runtimeConfig);
  if (controllers !== undefined) checkControllers(controllers);
  for (const [name, value] of Object.entries({ departedGrace, peerGoneAfter, surfaceRefresh }))
    if (value !== undefined) durationMs(name, value);
  if (logLevel !== undefined && !LOG_LEVELS.includes(logLevel))
    throw new Error(`logLevel: ${shown(logLevel)} is none of ${LOG_LEVELS.join(', ')}.`);
}

export function checkVersion(where: string, version: string): void {
  if (typeof version === 'number')
    throw new Error(
      `${where}: ${version} is a number; write a version as text, as in '1.36' (1.40 is the number 1.4).`,
    );
  if (typeof version !== 'string') throw new Error(`${where}: ${shown(version)} is no version; write it as '1.36'.`);
  const problem = notShipped(version);
  if (problem !== undefined) throw new Error(`${where}: Kubernetes ${problem}.`);
}

function checkVersions(versions: readonly string[]): void {
  if (!Array.isArray(versions))
    throw new Error(`versions: give a list with one for each server, as in ['1.36', '1.37'], not ${shown(versions)}.`);
  if (versions.length === 0 || versions.length > SERVERS_MAX)
    throw new Error(`versions: give one to ${SERVERS_MAX} of them, one for each server, not ${versions.length}.`);
  for (const version of versions) checkVersion('versions', version);
}

function checkRuntimeConfig(runtimeConfig: string | readonly string[]): void {
  const entries: readonly unknown[] = Array.isArray(runtimeConfig) ? runtimeConfig : [runtimeConfig];
  for (const entry of entries) {
    if (typeof entry !== 'string')
      throw new Error(
        `runtimeConfig: ${shown(entry)} is not like 'scheduling.k8s.io/v1alpha2=true'; give text or a list of it.`,
      );
  }
}

function checkControllers(controllers: readonly string[]): void {
  if (!Array.isArray(controllers))
    throw new Error(`controllers: give a list of ${CONTROLLER_CHOICES.join(', ')}, not ${shown(controllers)}.`);
  for (const name of controllers as readonly string[]) {
    if (!(CONTROLLER_CHOICES as readonly string[]).includes(name))
      throw new Error(`controllers: there is no ${name}; there are ${CONTROLLER_CHOICES.join(', ')}.`);
  }
}
