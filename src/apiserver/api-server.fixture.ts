import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Clock, systemClock } from '../base/clock.js';
import { createLogger } from '../base/logger.js';
import { type BodyStream, readBody } from '../http/body-stream.js';
import { Exchange, type Reply } from '../http/exchange.js';
import { headerValues } from '../http/headers.js';
import type { Identity } from '../http/identity.js';
import type { JsonObject } from '../kube/json.js';
import { parseRequestInfo } from '../kube/request-info.js';
import { StatusError } from '../kube/status-error.js';
import { ApiServer, type ApiServerOptions } from './api-server.js';
import type { Authorizer } from './authorization/authorizer.js';
import type { Outbound } from './outbound/outbound.js';
import type { Backend } from './storage/backend.js';
import { openEmbeddedBackend } from './storage/engines/embedded/embedded-backend.js';
import type { BuiltInSurface } from './surfaces/built-in-surface.js';
import { loadSurface } from './surfaces/load-surface.js';
import { parseRuntimeConfig } from './surfaces/runtime-config.js';

const SIGNING_KEY = generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({
  type: 'pkcs8',
  format: 'pem',
}) as string;

export const ADMIN: Identity = {
  kind: 'established',
  user: 'admin',
  uid: '',
  groups: ['system:masters'],
  extra: new Map(),
};

const NOBODY_OUTSIDE: Outbound = { call: async () => Promise.reject(new Error('nothing is called in this test')) };

export interface TestAnswer {
  readonly status: number;
  readonly body: JsonObject;
  readonly text: string;
  readonly warnings: readonly string[];
  readonly contentType: string;
}

export interface TestRequest {
  readonly body?: JsonObject | readonly unknown[] | string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly as?: Identity;
}

/** An API server in the process of the test, asked without a network. */
export class TestApiServer {
  readonly #dispose: () => Promise<void>;

  constructor(
    readonly server: ApiServer,
    readonly backend: Backend,
    dispose: () => Promise<void>,
  ) {
    this.#dispose = dispose;
  }

  async send(method: string, target: string, { body, headers = {}, as = ADMIN }: TestRequest = {}): Promise<Reply> {
    const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
    const all = { ...(body === undefined ? {} : { 'content-type': type }), 'user-agent': 'tester/1.0', ...headers };
    const text = body === undefined || typeof body === 'string' ? body : JSON.stringify(body);
    return this.sendRaw(method, target, {
      headers: Object.entries(all).flat(),
      as,
      ...(text === undefined ? {} : { body: text }),
    });
  }

  /** A request with exactly these headers, names and values in turn. */
  async sendRaw(
    method: string,
    target: string,
    { headers, body, as = ADMIN }: { headers: readonly string[]; body?: string; as?: Identity },
  ): Promise<Reply> {
    const connection = { remoteAddress: '127.0.0.1', certificateChain: [] };
    const exchange = new Exchange({ method, target, headers: [...headers], body: null, connection }, Date.now());
    if (body !== undefined) exchange.gatheredBody = Buffer.from(body);
    exchange.info = parseRequestInfo(method, target)!;
    exchange.identity = as;
    return this.server.handle(exchange);
  }

  /** The whole answer; a refusal is one too. */
  async ask(method: string, target: string, request: TestRequest = {}): Promise<TestAnswer> {
    try {
      const reply = await this.send(method, target, request);
      const text = (await readBody(reply.body, 64 * 2 ** 20)).toString('utf8');
      return {
        status: reply.status,
        text,
        body: text.startsWith('{') ? (JSON.parse(text) as JsonObject) : {},
        warnings: headerValues(reply.headers, 'warning'),
        contentType: headerValues(reply.headers, 'content-type')[0] ?? '',
      };
    } catch (error) {
      if (!(error instanceof StatusError)) throw error;
      const { status } = error;
      return { status: status.code, text: '', body: status as unknown as JsonObject, warnings: [], contentType: '' };
    }
  }

  async watch(target: string, request: TestRequest = {}): Promise<TestWatch> {
    const reply = await this.send('GET', target, request);
    return new TestWatch(reply.body as BodyStream);
  }

  close(): Promise<void> {
    return this.#dispose();
  }
}

export interface TestEvent {
  readonly type: string;
  readonly object: JsonObject;
}

/** Reads a watch event by event. */
export class TestWatch {
  readonly #events: TestEvent[] = [];
  readonly #waiting: ((event: TestEvent | undefined) => void)[] = [];
  #text = '';
  #ended = false;

  readonly #body: BodyStream;

  constructor(body: BodyStream) {
    this.#body = body;
    body.attach({
      write: (chunk) => {
        this.#text += Buffer.from(chunk).toString('utf8');
        const lines = this.#text.split('\n');
        this.#text = lines.pop()!;
        for (const line of lines) this.#deliver(JSON.parse(line) as TestEvent);
        return true;
      },
      end: () => this.#end(),
      fail: () => this.#end(),
    });
  }

  /** Undefined after the last. */
  next(): Promise<TestEvent | undefined> {
    const event = this.#events.shift();
    if (event || this.#ended) return Promise.resolve(event);
    return new Promise((resolve) => this.#waiting.push(resolve));
  }

  async take(count: number): Promise<TestEvent[]> {
    const taken: TestEvent[] = [];
    while (taken.length < count) {
      const event = await this.next();
      if (!event) break;
      taken.push(event);
    }
    return taken;
  }

  cancel(): void {
    this.#body.cancel(new Error('enough'));
    this.#end();
  }

  #deliver(event: TestEvent): void {
    const waiting = this.#waiting.shift();
    if (waiting) waiting(event);
    else this.#events.push(event);
  }

  #end(): void {
    this.#ended = true;
    for (const waiting of this.#waiting) waiting(undefined);
  }
}

export interface TestApiServerOptions {
  readonly version?: string;
  readonly surface?: BuiltInSurface;
  readonly runtimeConfig?: readonly string[];
  readonly backend?: Backend;
  readonly clock?: Clock;
  readonly outbound?: Outbound;
  readonly servingPeer?: ApiServerOptions['servingPeer'];
  readonly authorizerOver?: (rbac: Authorizer) => Authorizer;
}

export async function startTestApiServer(options: TestApiServerOptions = {}): Promise<TestApiServer> {
  const dir = options.backend ? undefined : await mkdtemp(join(tmpdir(), 'straddle-apiserver-'));
  const backend = options.backend ?? (await openEmbeddedBackend({ dataDir: dir! }));
  const clock = options.clock ?? systemClock;
  const unreachable = async () => Promise.reject(new Error('nothing is called in this test'));
  const outbound = options.outbound ?? NOBODY_OUTSIDE;
  const server = new ApiServer({
    serverName: 'tested',
    keepsLease: false,
    backend,
    surface: options.surface ?? (await loadSurface(options.version ?? '1.36')),
    runtimeConfig: parseRuntimeConfig(options.runtimeConfig ?? []),
    eventTtlSeconds: 3_600,
    serviceCidr: '10.0.0.0/24',
    serverAddress: '127.0.0.1:6443',
    tokens: { issuer: 'https://kubernetes.default.svc', signingKeyPem: SIGNING_KEY },
    bootstrap: {
      serviceCidr: '10.0.0.0/24',
      clientCa: undefined,
      requestHeader: {
        ca: undefined,
        allowedNames: [],
        headers: { usernameHeaders: [], uidHeaders: [], groupHeaders: [], extraHeaderPrefixes: [] },
      },
    },
    extensions: {
      outbound,
      aggregationOutbound: { call: outbound.call, send: unreachable, upgrade: unreachable },
      makeHeaders: () => ({ headers: [], lane: 'front-proxy' }),
    },
    ...(options.servingPeer === undefined ? {} : { servingPeer: options.servingPeer }),
    ...(options.authorizerOver ? { authorizerOver: options.authorizerOver } : {}),
    clock,
    logger: createLogger({
      level: 'error',
      format: 'text',
      write: (text) => process.stderr.write(text),
      nowMs: Date.now,
    }),
  });
  await server.start();
  return new TestApiServer(server, backend, async () => {
    await server.close();
    if (!options.backend) await backend.close();
    if (dir) await rm(dir, { recursive: true, force: true });
  });
}
