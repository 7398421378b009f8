import { join } from 'node:path';
import { createLogger } from '../../src/base/logger.js';
import { settle } from '../../src/base/manual-clock.fixture.js';
import type { FlagName } from '../../src/compose/config/flags.js';
import { loadProxyConfig } from '../../src/compose/config/load-proxy-config.js';
import { startProxy } from '../../src/compose/start-proxy.js';
import type { RunningServer } from '../../src/compose/start-server.js';
import { type Certificates, makeCertificates } from './certificates.js';
import { FakeApiServer, type Served } from './fake-apiserver.js';
import { type Answer, type Ask, ask, watch } from './https-client.js';
import { SharedStorage } from './shared-storage.js';

export type { Answer } from './https-client.js';

export interface LogLine {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

/** One server of the control plane: an API server and the Straddle in front of it. */
export interface Member {
  readonly name: string;
  readonly api: FakeApiServer;
  readonly log: LogLine[];
  straddle: RunningServer;
}

export const AGGREGATED = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
export const NOPEER = `${AGGREGATED};profile=nopeer`;

/** Flags of a Straddle before an API server, with times that tests can wait for. An empty one is left out. */
export function proxyFlags(
  { file, directory }: Certificates,
  name: string,
  api: { readonly port: number },
  flags: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const given = {
    'server-name': name,
    'bind-address': '127.0.0.1',
    'secure-port': '0',
    upstream: `https://127.0.0.1:${api.port}`,
    'tls-cert-file': file('server.crt'),
    'tls-private-key-file': file('server.key'),
    'client-ca-file': file('ca.crt'),
    'requestheader-client-ca-file': file('front-proxy-ca.crt'),
    'requestheader-allowed-names': 'front-proxy-client',
    'proxy-client-cert-file': file('front-proxy-client.crt'),
    'proxy-client-key-file': file('front-proxy-client.key'),
    'upstream-ca-file': file('ca.crt'),
    'peer-ca-file': file('ca.crt'),
    'surface-refresh': '100ms',
    'peer-gone-after': '600ms',
    'shutdown-grace': '2s',
    'state-dir': join(directory, name),
    ...flags,
  };
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== ''));
}

/** Several API servers on one storage, each behind a Straddle in this process. */
export class ControlPlane {
  readonly certificates: Certificates = makeCertificates();
  readonly storage = new SharedStorage();
  readonly members: Member[] = [];

  async add(
    name: string,
    served: Served,
    flags: Readonly<Record<string, string>> = {},
    ...versionAndLabels: [version?: string, labels?: readonly string[]]
  ): Promise<Member> {
    const api = new FakeApiServer(this.certificates, this.storage, served, ...versionAndLabels);
    await api.start();
    const log: LogLine[] = [];
    const member: Member = { name, api, log, straddle: await this.startStraddle(name, api, flags, log) };
    this.members.push(member);
    return member;
  }

  startStraddle(
    name: string,
    api: FakeApiServer,
    flags: Readonly<Record<string, string>> = {},
    log: LogLine[] = [],
  ): Promise<RunningServer> {
    const entries = Object.entries(proxyFlags(this.certificates, name, api, flags));
    const config = loadProxyConfig(new Map(entries.map(([flag, value]) => [flag as FlagName, [value]])), {
      hostname: name,
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
    return startProxy(config, { logger });
  }

  ask({ straddle }: { straddle: RunningServer }, path: string, options: Ask = {}): Promise<Answer> {
    return ask({ port: straddle.port, ca: this.certificates.ca.pem }, path, options);
  }

  /** Opens a watch; `events` grows, `ended` resolves with whether the server ended it in order. */
  watch({ straddle }: { straddle: RunningServer }, path: string) {
    return watch({ port: straddle.port, ca: this.certificates.ca.pem }, path);
  }

  names(answer: Answer): string[] {
    return answer.json<{ items: { metadata: { name: string } }[] }>().items.map(({ metadata }) => metadata.name);
  }

  async close(): Promise<void> {
    await Promise.all(this.members.map(({ straddle }) => straddle.close()));
    await Promise.all(this.members.map(({ api }) => api.stop()));
    this.certificates.remove();
  }
}

/** Repeats a request until its reply is as expected: changes of real servers take time. */
export async function eventually<T>(
  what: string,
  look: () => Promise<T> | T,
  isSo: (value: T) => boolean,
  withinMs = 8_000,
): Promise<T> {
  const giveUpAt = performance.now() + withinMs;
  for (;;) {
    const value = await look();
    if (isSo(value)) return value;
    if (performance.now() > giveUpAt)
      throw new Error(`gave up waiting for ${what}; last: ${JSON.stringify(value)?.slice(0, 500)}`);
    await settle();
  }
}
