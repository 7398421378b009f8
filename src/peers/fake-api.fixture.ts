import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Clock } from '../core/clock.js';
import { listen, sendTo } from './fake-server.fixture.js';
import { KubeClient, type KubeObject } from './kube-client.js';

/** A little Kubernetes API of one collection, over a real socket, that can be made to fail. */
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
