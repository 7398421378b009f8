import {
  type ClientRequest,
  createServer,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Clock } from '../../base/clock.js';
import { BodyStream } from '../../http/body-stream.js';
import type { Reply } from '../../http/exchange.js';
import type { RawHeaders } from '../../http/headers.js';
import type { OnAbort } from '../../http/on-abort.js';
import type { Destination } from '../../http/outgoing.js';
import { KubeClient, type KubeObject } from '../../kube/client/kube-client.js';
import { STRADDLE_MARK } from '../identity/straddle-mark.js';
import type { SurfaceFetch } from './surface-reader.js';

/** Starts a real HTTP server on a free port with the handler of a test. */
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

/** Sends a request over a real socket; resolves with a streaming Reply. */
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

/**
 * Aggregated discovery document from `group/version/resource: verbs` pairs; `resource/sub` is a
 * subresource.
 */
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

/**
 * API server in memory. `mode` makes it serve discovery, refuse connections, hang, be unready or
 * malformed, or be a Straddle whose API server is down.
 */
export class PlayedServer {
  mode: 'up' | 'refusing' | 'hanging' | 'starting' | 'malformed' | 'without-its-server' = 'up';
  groups: Record<string, string>;
  version = 'v1.36.4';
  /** The server marks its /readyz as a Straddle does. */
  isStraddle = false;
  requests: string[] = [];
  abandoned = 0;

  constructor(groups: Record<string, string>) {
    this.groups = groups;
  }

  readonly fetch: SurfaceFetch = (path) => {
    this.requests.push(path);
    if (this.mode === 'refusing') return Promise.reject(new Error('connection refused'));
    if (this.mode === 'hanging') return new Promise(() => {});
    if (path === '/readyz') {
      const page = jsonReply('ok', this.mode === 'starting' ? 500 : 200);
      return Promise.resolve(this.isStraddle ? { ...page, headers: [...page.headers, ...STRADDLE_MARK] } : page);
    }
    // A Straddle is ready as long as a peer can take requests.
    if (this.mode === 'without-its-server') return Promise.resolve(jsonReply({ kind: 'Status', code: 503 }, 503));
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

/** Kubernetes API of one collection, over a real socket; `failWith` makes every request fail. */
export class FakeApi {
  readonly objects = new Map<string, KubeObject>();
  readonly log: string[] = [];
  readonly watchers = new Set<ServerResponse>();
  revision = 100;
  failWith: { code: number; reason: string; message: string } | undefined;
  port = 0;
  close: () => Promise<void> = async () => {};

  static async start(): Promise<FakeApi> {
    const api = new FakeApi();
    const server = await listen((req, res) => api.#answer(req, res));
    api.port = server.port;
    api.close = server.close;
    return api;
  }

  client(clock: Clock): KubeClient {
    return new KubeClient({ send: (...args) => sendTo(this.port, ...args), clock, random: () => 0.5 });
  }

  put(object: KubeObject): KubeObject {
    const name = object.metadata.name!;
    const type = this.objects.has(name) ? 'MODIFIED' : 'ADDED';
    const stored = {
      ...object,
      metadata: { uid: `uid-${name}`, ...object.metadata, resourceVersion: String(++this.revision) },
    };
    this.objects.set(name, stored);
    this.emit(type, stored);
    return stored;
  }

  remove(name: string): void {
    const object = this.objects.get(name)!;
    this.objects.delete(name);
    this.emit('DELETED', { ...object, metadata: { ...object.metadata, resourceVersion: String(++this.revision) } });
  }

  emit(type: string, object: unknown): void {
    for (const watcher of this.watchers) watcher.write(`${JSON.stringify({ type, object })}\n`);
  }

  #answer(req: IncomingMessage, res: ServerResponse): void {
    const url = new URL(req.url!, 'http://x');
    const watching = url.searchParams.get('watch') === '1';
    this.log.push(`${watching ? `WATCH ${url.searchParams.get('resourceVersion')}` : req.method} ${url.pathname}`);
    const send = (code: number, body: unknown) => res.writeHead(code).end(JSON.stringify(body));
    const refuse = (code: number, reason: string, message = '') =>
      send(code, { kind: 'Status', code, reason, message });
    if (this.failWith) return void refuse(this.failWith.code, this.failWith.reason, this.failWith.message);
    if (watching) {
      res.writeHead(200).flushHeaders();
      this.watchers.add(res);
      res.on('close', () => this.watchers.delete(res));
      return;
    }
    const named = /\/(?:leases|endpointslices)\/(.+)$/.exec(url.pathname)?.[1];
    const chunks: Buffer[] = [];
    req.on('data', (chunk: Buffer) => chunks.push(chunk));
    req.on('end', () => {
      const body = chunks.length > 0 ? JSON.parse(Buffer.concat(chunks).toString()) : undefined;
      const known = this.objects.get(named ?? body?.metadata?.name);
      if (req.method === 'GET' && !named) {
        send(200, {
          kind: 'List',
          metadata: { resourceVersion: String(this.revision) },
          items: [...this.objects.values()],
        });
      } else if (req.method === 'POST') {
        if (known) refuse(409, 'AlreadyExists');
        else send(201, this.put(body));
      } else if (!known) refuse(404, 'NotFound');
      else if (req.method === 'GET') send(200, known);
      else if (req.method === 'PUT') {
        const stale = body.metadata.resourceVersion !== known.metadata.resourceVersion;
        if (stale) refuse(409, 'Conflict');
        else send(200, this.put(body));
      } else {
        const wanted = body?.preconditions?.resourceVersion;
        if (wanted && wanted !== known.metadata.resourceVersion) return refuse(409, 'Conflict');
        this.remove(named!);
        send(200, { kind: 'Status', status: 'Success' });
      }
    });
  }
}
