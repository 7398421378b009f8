import { join } from 'node:path';
import { createLogger } from '../../../src/base/logger.js';
import type { FlagName } from '../../../src/compose/config/flags.js';
import { loadProxyConfig } from '../../../src/compose/config/load-proxy-config.js';
import { startProxy } from '../../../src/compose/start-proxy.js';
import type { RunningServer } from '../../../src/compose/start-server.js';
import type { Certificates } from '../certificates.js';
import { type LogLine, proxyFlags } from '../control-plane.js';
import { type Flags, startEmbedded, temporaryDirectory } from '../embedded-server.js';
import type { Where } from '../https-client.js';

/** A running server with the whole chain, whatever host stands behind it. */
export interface Subject extends Where {
  readonly log: readonly LogLine[];
  /** Drains and stops the server with the chain, and only that. */
  drain(): Promise<void>;
  close(): Promise<void>;
}

/** One kind of host. The suite makes no exception for any: whoever needs one declares it here, with its reason. */
export interface HostKind {
  readonly name: string;
  start(certificates: Certificates, flags?: Flags): Promise<Subject>;
}

/** The API server is this process itself. */
export const EMBEDDED: HostKind = {
  name: 'embedded',
  async start(certificates, flags = {}) {
    const store = temporaryDirectory();
    const log: LogLine[] = [];
    const server = await startEmbedded(certificates, store.path, flags, log);
    return {
      port: server.port,
      ca: certificates.ca.pem,
      log,
      drain: () => server.close(),
      close: () => server.close().finally(() => store.remove()),
    };
  },
};

/**
 * The API server is another one, behind a sidecar. It is an embedded server with the mixed version proxy switched off, so
 * that the answers of both kinds of host can be held to the same expectations.
 */
export const UPSTREAM: HostKind = {
  name: 'upstream',
  async start(certificates, flags = {}) {
    const store = temporaryDirectory();
    const api = await startEmbedded(certificates, store.path, {
      'server-name': 'behind',
      'feature-gates': 'UnknownVersionInteroperabilityProxy=false',
      'peer-ca-file': '',
    });
    const log: LogLine[] = [];
    const server = await startSidecar(certificates, api, { 'peer-gone-after': '', ...flags }, log);
    return {
      port: server.port,
      ca: certificates.ca.pem,
      log,
      drain: () => server.close(),
      async close() {
        await server.close();
        await api.close();
        store.remove();
      },
    };
  },
};

/** The sidecar before an API server of this process, server `a` unless the flags have another `server-name`. */
export function startSidecar(
  certificates: Certificates,
  api: { readonly port: number },
  flags: Flags,
  log: LogLine[],
): Promise<RunningServer> {
  const stateDir = join(certificates.directory, `state-${api.port}`);
  const given = proxyFlags(certificates, 'a', api, { 'state-dir': stateDir, ...flags });
  const config = loadProxyConfig(new Map(Object.entries(given).map(([flag, value]) => [flag as FlagName, [value]])), {
    hostname: 'a',
    addresses: ['127.0.0.1'],
    readFile: () => {
      throw new Error('not expected');
    },
  });
  const write = (line: string): void => void log.push(JSON.parse(line) as LogLine);
  return startProxy(config, {
    logger: createLogger({ level: 'info', format: 'json', write, nowMs: () => Date.now() }),
  });
}
