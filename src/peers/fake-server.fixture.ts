import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import { BodyStream } from '../core/body-stream.js';
import type { Reply } from '../core/exchange.js';
import type { RawHeaders } from '../core/headers.js';
import type { Destination } from '../core/outgoing.js';
import type { OnAbort } from './deadline.js';
import type { SurfaceFetch } from './surface-reader.js';

/** A real HTTP server on a free port, answering as a test says. */
export async function listen(handler: (req: IncomingMessage, res: ServerResponse) => void) {
  const server: Server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    address: `127.0.0.1:${port}`,
    close: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A request over a real socket, answered as a streaming Reply. */
export function sendTo(
  port: number,
  method: string,
  target: string,
  headers: RawHeaders,
  body: Uint8Array | null,
  onAbort: OnAbort,
): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const req: ClientRequest = request(
      { host: '127.0.0.1', port, method, path: target, headers: pairs(headers), agent: false },
      (res) => {
        const stream = new BodyStream({
          pause: () => res.pause(),
          resume: () => res.resume(),
          cancel: () => req.destroy(),
        });
        res.on('data', (chunk: Buffer) => stream.push(chunk));
        res.on('end', () => stream.end());
        res.on('error', (error) => stream.fail(error));
        resolve({ status: res.statusCode!, headers: res.rawHeaders, body: stream });
      },
    );
    req.on('error', reject);
    onAbort(() => req.destroy(new Error('aborted')));
    req.end(body ?? undefined);
  });
}

function pairs(headers: RawHeaders): Record<string, string> {
  const map: Record<string, string> = {};
  for (let i = 0; i < headers.length; i += 2) map[headers[i]!] = headers[i + 1]!;
  return map;
}

export function jsonReply(value: unknown, status = 200, headers: RawHeaders = []): Reply {
  return {
    status,
    headers: ['content-type', 'application/json', ...headers],
    body: Buffer.from(JSON.stringify(value)),
  };
}

/** Aggregated discovery from `group/version/resource: verbs` pairs; `resource/sub` for a subresource. */
export function aggregated(resources: Readonly<Record<string, string>>) {
  const groups = new Map<string, Map<string, Map<string, { verbs: string[]; subs: [string, string[]][] }>>>();
  for (const [name, verbs] of Object.entries(resources)) {
    const [group, version, resource, sub] = name.split('/') as [string, string, string, string | undefined];
    const versions = groups.get(group) ?? groups.set(group, new Map()).get(group)!;
    const list = versions.get(version) ?? versions.set(version, new Map()).get(version)!;
    const entry = list.get(resource) ?? list.set(resource, { verbs: [], subs: [] }).get(resource)!;
    if (sub === undefined) entry.verbs = verbs.split(' ');
    else entry.subs.push([sub, verbs.split(' ')]);
  }
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [...groups].map(([group, versions]) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([version, list]) => ({
        version,
        freshness: 'Current',
        resources: [...list].map(([resource, { verbs, subs }]) => ({
          resource,
          responseKind: { group, version, kind: resource },
          scope: 'Namespaced',
          singularResource: resource,
          verbs,
          subresources: subs.map(([subresource, subVerbs]) => ({ subresource, verbs: subVerbs })),
        })),
      })),
    })),
  };
}

/** A server of a control plane, played in memory: serves discovery, refuses, hangs or is not ready, as told. */
export class PlayedServer {
  mode: 'up' | 'refusing' | 'hanging' | 'starting' | 'malformed' = 'up';
  groups: Record<string, string>;
  version = 'v1.36.4';
  requests: string[] = [];
  abandoned = 0;

  constructor(groups: Record<string, string>) {
    this.groups = groups;
  }

  readonly fetch: SurfaceFetch = (path) => {
    this.requests.push(path);
    if (this.mode === 'refusing') return Promise.reject(new Error('connection refused'));
    if (this.mode === 'hanging') return new Promise(() => {});
    if (path === '/readyz') return Promise.resolve(jsonReply('ok', this.mode === 'starting' ? 500 : 200));
    if (this.mode === 'malformed') return Promise.resolve(jsonReply({ kind: 'APIGroupDiscoveryList', items: 7 }));
    if (path === '/version') return Promise.resolve(jsonReply({ gitVersion: this.version }));
    const core = path === '/api';
    const wanted = Object.entries(this.groups).filter(([name]) => name.startsWith('/') === core);
    const shown = this.mode === 'starting' ? wanted.slice(0, 1) : wanted;
    return Promise.resolve(jsonReply(aggregated(Object.fromEntries(shown))));
  };

  destination(address: string): Destination {
    return {
      address,
      inFlight: 0,
      send: () => Promise.reject(new Error('not played')),
      upgrade: () => Promise.reject(new Error('not played')),
      abandonWaiting: () => {
        this.abandoned++;
      },
      close: async () => {},
    };
  }
}
