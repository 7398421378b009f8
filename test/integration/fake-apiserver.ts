import { createHash } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer, type Server } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import type { TLSSocket } from 'node:tls';
import { gzipSync } from 'node:zlib';
import {
  CBOR_WATCH,
  JSON_WATCH,
  PROTOBUF_WATCH,
  type SentEvent,
} from '../../src/proxy/routing/watch-events.fixture.js';
import type { Certificates } from './certificates.js';
import type { SharedStorage, StoredObject } from './shared-storage.js';

export interface SeenRequest {
  readonly method: string;
  readonly url: string;
  readonly user: string;
  readonly groups: string[];
  readonly headers: IncomingMessage['headers'];
}

/** `group/version/resource[/subresource]` → verbs. */
export type Served = Readonly<Record<string, string>>;

const ALL = 'create delete get list patch update watch';

export const COMMON: Served = {
  '/v1/configmaps': ALL,
  '/v1/pods': ALL,
  'coordination.k8s.io/v1/leases': ALL,
  'discovery.k8s.io/v1/endpointslices': ALL,
  'authorization.k8s.io/v1/selfsubjectaccessreviews': 'create',
};

/**
 * A kube-apiserver as far as Straddle can tell: real TLS, front-proxy and token authentication, aggregated discovery
 * with ETags, objects in a storage shared with others, watches; and it can be stopped, hung, and made to talk nonsense.
 */
export class FakeApiServer {
  readonly requests: SeenRequest[] = [];
  readonly #certificates: Certificates;
  readonly #storage: SharedStorage;
  readonly #connections = new Set<Socket>();
  #server: Server | undefined;
  served: Served;
  version: string;
  /** `resetting`: health and discovery are answered, the connection of every other request is cut. */
  mode: 'up' | 'hung' | 'garbage' | 'undiscovered' | 'starting' | 'failing' | 'resetting' = 'up';
  port = 0;
  /** Open watches. */
  watching = 0;
  /** Callers that got a whole discovery document, not a 304. */
  readonly documentsSentTo: string[] = [];

  /** Field labels besides those of `metadata`. */
  readonly #labels: readonly string[];

  constructor(
    certificates: Certificates,
    storage: SharedStorage,
    served: Served,
    version = 'v1.36.4',
    labels: readonly string[] = [],
  ) {
    this.#labels = labels;
    this.#certificates = certificates;
    this.#storage = storage;
    this.served = served;
    this.version = version;
  }

  async start(): Promise<void> {
    const { server, ca, frontProxyCa } = this.#certificates;
    this.mode = 'up';
    this.#server = createServer(
      {
        cert: server.pem,
        key: server.keyPem,
        ca: [ca.pem, frontProxyCa.pem],
        requestCert: true,
        rejectUnauthorized: false,
      },
      (req, res) => this.#answer(req, res),
    );
    this.#server.on('connection', (socket: Socket) => {
      this.#connections.add(socket);
      socket.on('close', () => this.#connections.delete(socket));
    });
    this.#server.on('upgrade', (req: IncomingMessage, socket: Socket) => {
      this.#note(req);
      socket.on('error', () => {});
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      socket.pipe(socket);
    });
    await new Promise<void>((resolve) => this.#server!.listen(this.port, '127.0.0.1', resolve));
    this.port = (this.#server.address() as AddressInfo).port;
  }

  /** Gone at once, as after kill -9; `start` brings it back at the same address. */
  async stop(): Promise<void> {
    const server = this.#server;
    this.#server = undefined;
    if (!server) return;
    await new Promise<void>((resolve) => {
      server.close(() => resolve());
      for (const socket of this.#connections) socket.destroy();
    });
  }

  seen(method: string, path: string): SeenRequest[] {
    return this.requests.filter((each) => each.method === method && each.url.split('?')[0] === path);
  }

  #note(req: IncomingMessage): SeenRequest {
    const { user, groups } = this.#authenticate(req);
    const seen = { method: req.method!, url: req.url!, user, groups, headers: req.headers };
    this.requests.push(seen);
    return seen;
  }

  #authenticate(req: IncomingMessage): { user: string; groups: string[] } {
    const certificate = (req.socket as TLSSocket).getPeerCertificate();
    const remote = req.headers['x-remote-user'];
    if (certificate?.issuer?.CN === 'front-proxy-ca' && typeof remote === 'string') {
      const groups = req.headers['x-remote-group'];
      return { user: remote, groups: groups === undefined ? [] : String(groups).split(', ') };
    }
    const token = /^Bearer (.+)-token$/.exec(req.headers.authorization ?? '')?.[1];
    if (token) return { user: token, groups: [] };
    return { user: req.headers.authorization ? '' : 'system:anonymous', groups: [] };
  }

  #answer(req: IncomingMessage, res: ServerResponse): unknown {
    const { user } = this.#note(req);
    if (this.mode === 'hung') return undefined;
    if (this.mode === 'failing') return status(res, 500, 'InternalError', 'out of order');
    const url = new URL(req.url!, 'https://x');
    const { pathname } = url;
    if (pathname === '/readyz') return plain(res, this.mode === 'starting' ? 500 : 200, 'ok');
    if (user === '') return status(res, 401, 'Unauthorized', 'Unauthorized');
    if (pathname === '/version') return json(res, 200, { gitVersion: this.version });
    if (pathname === '/api' || pathname === '/apis') return this.#discovery(req, res, pathname === '/api');
    if (this.mode === 'resetting') return req.socket.destroy();
    const match =
      /^\/(?:api\/(?<core>[^/]+)|apis\/(?<group>[^/]+)\/(?<version>[^/]+))(?:\/namespaces\/(?<namespace>[^/]+))?\/(?<resource>[^/]+)(?:\/(?<name>[^/]+))?(?:\/(?<sub>[^/]+))?$/.exec(
        pathname,
      )?.groups;
    if (!match) return plain(res, 404, '404 page not found\n');
    const { core, group = '', version = core, resource, name, sub } = match;
    const verbs = this.served[`${group}/${version}/${resource}${sub ? `/${sub}` : ''}`];
    if (!verbs) return plain(res, 404, '404 page not found\n');
    const collection = pathname
      .split('/')
      .slice(0, match['namespace'] ? (core ? 6 : 7) : core ? 4 : 5)
      .join('/');
    if (resource === 'selfsubjectaccessreviews') return json(res, 201, { status: { allowed: user !== 'nobody' } });
    if (resource === 'selfsubjectreviews') return json(res, 201, { status: { userInfo: { username: user } } });
    const label = /^[^!=]*/.exec(url.searchParams.get('fieldSelector') ?? '')![0];
    if (label !== '' && !label.startsWith('metadata.') && !this.#labels.includes(label)) {
      return status(res, 400, 'BadRequest', `field label not supported: ${label}`);
    }
    if (url.searchParams.get('watch')) return this.#watch(req, res, collection, url);
    return this.#act(req, res, collection, name, sub);
  }

  #discovery(req: IncomingMessage, res: ServerResponse, core: boolean): unknown {
    if (this.mode === 'garbage')
      return json(res, 200, { kind: 'APIGroupDiscoveryList', items: [{ nonsense: true }, 7] });
    if (this.mode === 'undiscovered') return status(res, 403, 'Forbidden', 'discovery is forbidden');
    const body = JSON.stringify(aggregated(this.served, core));
    const etag = `"${createHash('sha256').update(body).digest('hex')}"`;
    if (req.headers['if-none-match'] === etag) return res.writeHead(304, { ETag: etag }).end();
    const type = 'application/json;g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList';
    this.documentsSentTo.push(this.#authenticate(req).user);
    return res.writeHead(200, { 'Content-Type': type, ETag: etag }).end(body);
  }

  /** JSON, protobuf or CBOR, as asked for; where the client takes gzip, each event is a member of its own. */
  #watch({ headers }: IncomingMessage, res: ServerResponse, collection: string, url: URL): void {
    const { contentType, encode } = watchEncoding(headers.accept ?? '');
    const compressed = headers['accept-encoding']?.includes('gzip') ?? false;
    const coding = compressed ? { 'Content-Encoding': 'gzip' } : {};
    res.writeHead(200, { 'Content-Type': contentType, ...coding }).flushHeaders();
    const send = (event: SentEvent) => res.write(compressed ? gzipSync(encode(event)) : encode(event));
    let from = Number(url.searchParams.get('resourceVersion') || this.#storage.revision);
    if (url.searchParams.get('sendInitialEvents') === 'true') {
      from = this.#storage.revision;
      for (const object of this.#storage.list(collection)) send({ type: 'ADDED', object });
      const annotations = { 'k8s.io/initial-events-end': 'true' };
      send({ type: 'BOOKMARK', object: { metadata: { resourceVersion: String(from), annotations } } });
    }
    const stop = this.#storage.watch(collection, from, ({ type, object }) => send({ type, object }));
    this.watching++;
    res.on('close', () => {
      this.watching--;
      stop();
    });
  }

  async #act(
    req: IncomingMessage,
    res: ServerResponse,
    collection: string,
    name?: string,
    sub?: string,
  ): Promise<void> {
    const chunks: Buffer[] = [];
    try {
      for await (const chunk of req) chunks.push(chunk as Buffer);
    } catch {
      return;
    }
    const body = chunks.length > 0 ? (JSON.parse(Buffer.concat(chunks).toString()) as StoredObject) : undefined;
    const storage = this.#storage;
    const known = name ?? body?.metadata?.name;
    const object = known === undefined ? undefined : storage.get(collection, known);
    if (req.method === 'GET' && !name) {
      json(res, 200, {
        kind: 'List',
        metadata: { resourceVersion: String(storage.revision) },
        items: storage.list(collection),
      });
    } else if (req.method === 'POST') {
      if (object) status(res, 409, 'AlreadyExists', 'there is one');
      else json(res, 201, storage.put(collection, body!));
    } else if (!object) status(res, 404, 'NotFound', `${name} not found`);
    else if (req.method === 'GET') json(res, 200, object);
    else if (req.method === 'DELETE') json(res, 200, storage.remove(collection, name!)!);
    else
      json(
        res,
        200,
        storage.put(
          collection,
          sub
            ? { ...object, [sub]: body }
            : { ...object, ...body, metadata: { ...object.metadata, ...body?.metadata } },
        ),
      );
  }
}

function aggregated(served: Served, core: boolean) {
  const groups = new Map<string, Map<string, Map<string, { verbs: string[]; subresources: object[] }>>>();
  for (const [path, verbs] of Object.entries(served)) {
    const [group, version, resource, subresource] = path.split('/') as [string, string, string, string?];
    if ((group === '') !== core) continue;
    const versions = groups.get(group) ?? groups.set(group, new Map()).get(group)!;
    const resources = versions.get(version) ?? versions.set(version, new Map()).get(version)!;
    const entry = resources.get(resource) ?? resources.set(resource, { verbs: [], subresources: [] }).get(resource)!;
    if (!subresource) entry.verbs = verbs.split(' ');
    else entry.subresources.push({ subresource, verbs: verbs.split(' '), responseKind: { group, version, kind: 'X' } });
  }
  return {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [...groups].map(([group, versions]) => ({
      metadata: group === '' ? { creationTimestamp: null } : { name: group, creationTimestamp: null },
      versions: [...versions].map(([version, resources]) => ({
        version,
        freshness: 'Current',
        resources: [...resources].map(([resource, { verbs, subresources }]) => ({
          resource,
          responseKind: { group, version, kind: resource },
          scope: 'Namespaced',
          singularResource: resource,
          verbs,
          ...(subresources.length > 0 ? { subresources } : {}),
        })),
      })),
    })),
  };
}

function watchEncoding(accept: string) {
  if (accept.startsWith('application/vnd.kubernetes.protobuf')) return PROTOBUF_WATCH;
  return accept.startsWith('application/cbor') ? CBOR_WATCH : JSON_WATCH;
}

function json(res: ServerResponse, code: number, value: unknown): void {
  const body = Buffer.from(JSON.stringify(value));
  // Servers written in Go announce the length of every short body.
  res.writeHead(code, { 'Content-Type': 'application/json', 'Content-Length': body.byteLength }).end(body);
}

function plain(res: ServerResponse, code: number, text: string): void {
  res.writeHead(code, { 'Content-Type': 'text/plain; charset=utf-8' }).end(text);
}

function status(res: ServerResponse, code: number, reason: string, message: string): void {
  json(res, code, { kind: 'Status', apiVersion: 'v1', status: 'Failure', code, reason, message });
}
