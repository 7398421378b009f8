import { notShipped } from '../../apiserver/surfaces/shipped-versions.js';
import { CONTROLLER_CHOICES } from '../../compose/config/api-server-config.js';
import type { ControlPlaneOptions, TestLogLevel } from './test-control-plane.js';

const SERVERS_MAX = 9;
const LOG_LEVELS: readonly TestLogLevel[] = ['silent', 'error', 'warn', 'info', 'debug'];

/** Throws for invalid options, which callers without TypeScript may pass. */
export function checkOptions(options: ControlPlaneOptions, versions: readonly string[]): void {
  if (versions.length === 0 || versions.length > SERVERS_MAX) {
    throw new Error(`versions: give one to ${SERVERS_MAX} of them, one for each server, not ${versions.length}.`);
  }
  for (const version of versions) checkVersion('versions', version);
  for (const name of options.controllers ?? []) {
    if (!CONTROLLER_CHOICES.includes(name))
      throw new Error(`controllers: there is no ${name}; there are ${CONTROLLER_CHOICES.join(', ')}.`);
  }
  if (options.logLevel !== undefined && !LOG_LEVELS.includes(options.logLevel))
    throw new Error(`logLevel: ${options.logLevel} is none of ${LOG_LEVELS.join(', ')}.`);
}

export function checkVersion(where: string, version: string): void {
  const problem = notShipped(version);
  if (problem !== undefined) throw new Error(`${where}: Kubernetes ${problem}.`);
}
