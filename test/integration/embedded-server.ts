import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createLogger } from '../../src/base/logger.js';
import type { FlagName } from '../../src/compose/config/flags.js';
import { loadApiServerConfig } from '../../src/compose/config/load-api-server-config.js';
import { startApiServer } from '../../src/compose/start-api-server.js';
import type { RunningServer } from '../../src/compose/start-server.js';
import type { Certificates } from './certificates.js';
import type { LogLine } from './control-plane.js';

export type Flags = Readonly<Record<string, string>>;

/** A folder for a store that is gone with the test. */
export function temporaryDirectory(): { readonly path: string; remove(): void } {
  const path = mkdtempSync(join(tmpdir(), 'straddle-store-'));
  return { path, remove: () => rmSync(path, { recursive: true, force: true }) };
}

/** `straddle apiserver` in this process, with the test's certificates instead of those it would issue. */
export function startEmbedded(
  certificates: Certificates,
  dataDir: string,
  flags: Flags = {},
  log: LogLine[] = [],
): Promise<RunningServer> {
  const { file } = certificates;
  const given: Flags = {
    'data-dir': dataDir,
    'server-name': 'a',
    'bind-address': '127.0.0.1',
    'secure-port': '0',
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('ca.crt'),
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'proxy-client-cert-file': file('front-proxy-client.crt'),
    'proxy-client-key-file': file('front-proxy-client.key'),
    'peer-ca-file': file('ca.crt'),
    'surface-refresh': '100ms',
    'peer-gone-after': '600ms',
    'shutdown-grace': '2s',
    // Tests of controllers name theirs: the objects of all others are those that the test makes.
    controllers: '',
    ...flags,
  };
  const entries = Object.entries(given).filter(([flag, value]) => value !== '' || flag === 'controllers');
  const config = loadApiServerConfig(new Map(entries.map(([flag, value]) => [flag as FlagName, [value]])), {
    hostname: 'a',
    addresses: ['127.0.0.1'],
    readFile: () => {
      throw new Error('not expected');
    },
  });
  const logger = createLogger({
    level: 'info',
    format: 'json',
    write: (line) => log.push(JSON.parse(line) as LogLine),
    nowMs: () => Date.now(),
  });
  return startApiServer(config, { logger });
}
