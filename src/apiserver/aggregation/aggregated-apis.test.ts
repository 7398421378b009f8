import type { IncomingMessage, ServerResponse } from 'node:http';
import { PassThrough, type Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import { readBody } from '../../http/body-stream.js';
import { Exchange, type Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import type { Json } from '../../kube/json.js';
import { parseRequestInfo } from '../../kube/request-info.js';
import { StatusError } from '../../kube/status-error.js';
import type { User } from '../contracts/user.js';
import { makeAggregation, putApiService, putEndpoint, serverCertificate } from './aggregation.fixture.js';
import { API_SERVICES } from './api-service.js';
import { type RemoteServer, sendJson, startRemoteServer } from './remote-server.fixture.js';

const GROUP = 'wardle.example.com';
const THINGS = `/apis/${GROUP}/v1/namespaces/default/flunders`;
const alice: User = {
  name: 'alice',
  uid: '42',
  groups: ['developers', 'system:authenticated'],
  extra: new Map([['example.com/Scope', ['a', 'b']]]),
};

type Answer = (request: IncomingMessage, response: ServerResponse) => boolean;

let remote: RemoteServer;
let answer: Answer;
let aggregation: ReturnType<typeof makeAggregation>;

beforeEach(async () => {
  answer = () => false;
  remote = await startRemoteServer(serverCertificate, (request, response) => answer(request, response));
  aggregation = makeAggregation();
});
afterEach(async () => {
  await aggregation.close();
  await remote.close();
});

async function started() {
  const { objects, apis } = aggregation;
  putEndpoint(objects, 'wardle', remote.port);
  putApiService(objects, GROUP, { name: 'wardle' });
  apis.start();
  await until(() => apis.synced, 'the first check');
  return apis;
}

interface Ask {
  readonly method?: string;
  readonly target?: string;
  readonly headers?: readonly string[];
  readonly body?: Readable;
  readonly upgrade?: boolean;
}

function makeExchange({ method = 'GET', target = THINGS, headers = [], body, upgrade }: Ask = {}): Exchange {
  const exchange = new Exchange(
    {
      method,
      target,
      headers: ['Host', 'kubernetes.test', ...headers],
      body: body ?? null,
      connection: { remoteAddress: '10.9.8.7', certificateChain: [] },
      upgrade: upgrade ?? false,
    },
    0,
  );
  exchange.info = parseRequestInfo(method, target)!;
  return exchange;
}

async function proxied(ask: Ask = {}): Promise<Reply> {
  const apis = await started();
  return apis.proxy(makeExchange(ask), apis.find(GROUP, 'v1')!, alice);
}

async function textOf(reply: Reply): Promise<string> {
  return (await readBody(reply.body, 1 << 20)).toString();
}

async function failure(promise: Promise<unknown>): Promise<StatusError> {
  const outcome = await promise.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(StatusError);
  return outcome as StatusError;
}

describe('a request for an aggregated API', () => {
  it('is sent with the front-proxy certificate and the identity of its user, without identity headers of the client', async () => {
    answer = (request, response) => {
      if (!request.url!.startsWith(THINGS)) return false;
      sendJson(response, 200, { url: request.url! });
      return true;
    };
    const reply = await proxied({
      target: `${THINGS}?labelSelector=a%3Db&x=%2f`,
      headers: [
        ...['Authorization', 'Bearer secret', 'X-Remote-User', 'admin', 'x-remote-group', 'system:masters'],
        ...['X-Remote-Extra-Scopes', 'all', 'Impersonate-User', 'bob', 'X-Forwarded-For', '1.1.1.1', 'Accept', 'x/y'],
      ],
    });
    expect(reply.status).toBe(200);
    expect(JSON.parse(await textOf(reply))).toEqual({ url: `${THINGS}?labelSelector=a%3Db&x=%2f` });
    const request = remote.requests.at(-1)!;
    expect(request.headers).toMatchObject({
      'x-remote-user': 'alice',
      'x-remote-uid': '42',
      'x-remote-group': 'developers, system:authenticated',
      'x-remote-extra-example.com%2f%53cope': 'a, b',
      'x-forwarded-for': '10.9.8.7',
      accept: 'x/y',
      host: `127.0.0.1:${remote.port}`,
    });
    expect(request.headers).not.toHaveProperty('authorization');
    expect(request.headers).not.toHaveProperty('impersonate-user');
    expect(request.headers).not.toHaveProperty('x-remote-extra-scopes');
    expect((request.socket as TLSSocket).getPeerCertificate().subject.CN).toBe('front-proxy-client');
  });

  it('streams both bodies, and is aborted when the client disconnects', async () => {
    let serverSide: ServerResponse | undefined;
    answer = (request, response) => {
      if (!request.url!.startsWith(THINGS)) return false;
      serverSide = response;
      response.writeHead(200, { 'Content-Type': 'text/plain' });
      request.on('data', (chunk) => response.write(`got ${chunk}`));
      return true;
    };
    const apis = await started();
    const body = new PassThrough();
    const exchange = makeExchange({ method: 'POST', target: `${THINGS}?watch=true`, body });
    body.write('one');
    const reply = await apis.proxy(exchange, apis.find(GROUP, 'v1')!, alice);
    const seen: string[] = [];
    let failed = false;
    (reply.body as Exclude<Reply['body'], Uint8Array | null>).attach({
      write: (chunk) => seen.push(Buffer.from(chunk).toString()) > 0,
      end: () => {},
      fail: () => {
        failed = true;
      },
    });
    await until(() => seen.join('') === 'got one', 'the first part');
    body.write('two');
    await until(() => seen.join('') === 'got onegot two', 'the second part');
    exchange.abort();
    await until(() => failed && serverSide!.destroyed, 'the end of both sides');
  });

  it('may be an upgrade to another protocol', async () => {
    const apis = await started();
    remote.http.on('upgrade', (request, socket) => {
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
      socket.on('data', (chunk: Buffer) => socket.write(`${request.headers['x-remote-user']} said ${chunk}`));
      socket.on('error', () => {});
    });
    const exchange = makeExchange({
      method: 'POST',
      target: `${THINGS}/x/exec`,
      headers: ['Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'],
      upgrade: true,
    });
    const reply = await apis.proxy(exchange, apis.find(GROUP, 'v1')!, alice);
    expect(reply.status).toBe(101);
    const { socket } = reply.upgraded!;
    const heard = new Promise<string>((resolve) => socket.once('data', (chunk: Buffer) => resolve(chunk.toString())));
    socket.write('hello');
    expect(await heard).toBe('alice said hello');
    socket.destroy();
  });

  it('gets 502 instead of a redirect', async () => {
    answer = (request, response) => {
      if (!request.url!.startsWith(THINGS)) return false;
      response.writeHead(307, { Location: 'https://elsewhere.test/' }).end();
      return true;
    };
    const reply = await proxied();
    expect(reply.status).toBe(502);
    expect(await textOf(reply)).toBe('the backend attempted to redirect this request, which is not permitted');
    expect(headerValue(reply.headers, 'location')).toBeUndefined();
  });

  it('gets 503 if the server went away since its last check', async () => {
    const apis = await started();
    await remote.close();
    const error = await failure(apis.proxy(makeExchange(), apis.find(GROUP, 'v1')!, alice));
    expect(error.status).toMatchObject({ code: 503, reason: 'ServiceUnavailable' });
    expect(error.message).toBe(
      `error trying to reach service: dial tcp 127.0.0.1:${remote.port}: connect: connection refused`,
    );
    expect(error.retryAfterSeconds).toBe(1);
  });

  it('gets 503 while the server is unavailable', async () => {
    const { objects, apis } = aggregation;
    putApiService(objects, GROUP, { name: 'wardle' });
    apis.start();
    await until(() => apis.synced, 'the first check');
    const error = await failure(apis.proxy(makeExchange(), apis.find(GROUP, 'v1')!, alice));
    expect(error.status.code).toBe(503);
    expect(error.message).toBe(
      'service unavailable: APIService v1.wardle.example.com: service/wardle in "default" is not present',
    );
  });

  it('is not sent to a server with a certificate for another name, unless insecureSkipTLSVerify is set', async () => {
    const { objects, clock, apis } = aggregation;
    putEndpoint(objects, 'other', remote.port);
    putApiService(objects, GROUP, { name: 'other' });
    apis.start();
    await until(() => apis.synced, 'the first check');
    const error = await failure(apis.proxy(makeExchange(), apis.find(GROUP, 'v1')!, alice));
    expect(error.message).toContain('certificate is valid for wardle.default.svc, not other.default.svc');
    putApiService(objects, GROUP, { name: 'other' }, { caBundle: '', insecureSkipTLSVerify: true });
    await clock.advance(100);
    await until(() => apis.groupVersions()[0]?.discovery.freshness === 'Current', 'the next check');
    const reply = await apis.proxy(makeExchange(), apis.find(GROUP, 'v1')!, alice);
    expect(reply.status).toBe(404);
    await textOf(reply);
  });
});

describe('discovery of aggregated API servers', () => {
  const DOCUMENT = {
    kind: 'APIGroupDiscoveryList',
    apiVersion: 'apidiscovery.k8s.io/v2',
    metadata: {},
    items: [
      {
        metadata: { name: GROUP },
        versions: [{ version: 'v1', resources: [{ resource: 'flunders', scope: 'Namespaced', verbs: ['get'] }] }],
      },
    ],
  };

  it('is read with conditional requests for the aggregated document', async () => {
    const conditions: (string | undefined)[] = [];
    answer = (request, response) => {
      if (request.url !== '/apis') return false;
      conditions.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === '"1"') response.writeHead(304).end();
      else {
        response.setHeader('ETag', '"1"');
        sendJson(response, 200, DOCUMENT);
      }
      return true;
    };
    const apis = await started();
    expect(apis.groupVersions()).toMatchObject([
      { group: GROUP, discovery: { version: 'v1', freshness: 'Current', resources: [{ resource: 'flunders' }] } },
    ]);
    await aggregation.clock.advance(30_000);
    await until(() => conditions.length === 2, 'the next look');
    await until(() => apis.groupVersions()[0]?.discovery.freshness === 'Current', 'what it gave');
    expect(conditions).toEqual([undefined, '"1"']);
    expect(apis.groupVersions()[0]!.discovery.resources).toHaveLength(1);
  });

  it('is stale while the server is unavailable, and current when it is back', async () => {
    const apis = await started();
    const { objects, clock } = aggregation;
    expect(apis.groupVersions()[0]!.discovery.freshness).toBe('Current');
    putEndpoint(objects, 'wardle', remote.port, false);
    await clock.advance(100);
    await until(() => apis.groupVersions()[0]!.discovery.freshness === 'Stale', 'the change');
    expect(apis.groupVersions()[0]!.discovery.resources).toHaveLength(2);
    expect(apis.statusUpdates()[0]!.conditions[0]).toMatchObject({ status: 'False', reason: 'MissingEndpoints' });
    putEndpoint(objects, 'wardle', remote.port);
    await clock.advance(100);
    await until(() => apis.groupVersions()[0]!.discovery.freshness === 'Current', 'the way back');
  });

  it('is removed with its APIService', async () => {
    const apis = await started();
    const { objects, clock } = aggregation;
    let changes = 0;
    apis.onChange(() => changes++);
    objects.remove(API_SERVICES, '', `v1.${GROUP}`);
    await clock.advance(100);
    expect(apis.groupVersions()).toEqual([]);
    expect(apis.find(GROUP, 'v1')).toBeUndefined();
    expect(changes).toBeGreaterThan(0);
    expect(clock.pending).toBe(0);
  });
});

describe('conditions of APIServices', () => {
  it('are to be written once after each check, and keep the time of their last change', async () => {
    const apis = await started();
    const { objects, clock } = aggregation;
    const [update] = apis.statusUpdates();
    const object = objects.get(API_SERVICES, '', `v1.${GROUP}`)!;
    const passed = { ...update!.conditions[0]!, lastTransitionTime: '2029-05-05T00:00:00Z' };
    objects.put(API_SERVICES, { ...object, status: { conditions: [passed] } });
    expect(apis.statusUpdates()).toEqual([]);
    // Another server is of another opinion.
    objects.put(API_SERVICES, { ...object, status: { conditions: [{ ...passed, message: 'all was well' }] } });
    expect(apis.statusUpdates()).toEqual([]);
    let told = 0;
    await clock.advance(100);
    apis.onChange(() => told++);
    await clock.advance(30_000);
    await until(() => told === 1, 'the next check');
    expect(apis.statusUpdates()[0]!.conditions[0]).toEqual({ ...passed, message: 'all checks passed' });
  });

  it('are not reported again if they did not change', async () => {
    const apis = await started();
    const { objects, clock } = aggregation;
    const [update] = apis.statusUpdates();
    const object = objects.get(API_SERVICES, '', `v1.${GROUP}`)!;
    objects.put(API_SERVICES, { ...object, status: { conditions: update!.conditions as unknown as Json } });
    await clock.advance(100);
    let told = 0;
    apis.onChange(() => told++);
    const before = remote.requests.length;
    await clock.advance(30_000);
    await until(() => remote.requests.length > before + 6 && clock.pending > 0, 'the next check');
    expect(told).toBe(0);
  });

  it('have reason Local for local APIServices', () => {
    const { objects, apis } = aggregation;
    objects.put(API_SERVICES, { metadata: { name: 'v1.apps' }, spec: { group: 'apps', version: 'v1' } });
    expect(apis.statusUpdates()).toMatchObject([
      { name: 'v1.apps', conditions: [{ status: 'True', reason: 'Local' }] },
    ]);
  });

  it('are checked again after a failure with doubling delays', async () => {
    let checks = 0;
    answer = (_, response) => {
      checks++;
      response.writeHead(500).end();
      return true;
    };
    await started();
    const { clock } = aggregation;
    expect(checks).toBe(5);
    await clock.advance(1_000);
    await until(() => checks === 10, 'the second check');
    await settle(20);
    await clock.advance(1_500);
    expect(checks).toBe(10);
    await clock.advance(500);
    await until(() => checks === 15, 'the third check');
  });
});

describe('OpenAPI indexes of aggregated API servers', () => {
  it('are fetched on demand and cached', async () => {
    const url = `/openapi/v3/apis/${GROUP}/v1?hash=1`;
    let fetched = 0;
    answer = (request, response) => {
      if (request.url !== '/openapi/v3') return false;
      fetched++;
      sendJson(response, 200, { paths: { [`apis/${GROUP}/v1`]: { serverRelativeURL: url }, 'apis/x/v1': {} } });
      return true;
    };
    const apis = await started();
    const expected = new Map([[`apis/${GROUP}/v1`, url]]);
    expect(await apis.openApi.v3Paths(apis.remotes())).toEqual(expected);
    expect(await apis.openApi.v3Paths(apis.remotes())).toEqual(expected);
    expect(fetched).toBe(1);
  });

  it('are empty for a server without an index', async () => {
    const apis = await started();
    expect(await apis.openApi.v3Paths(apis.remotes())).toEqual(new Map());
  });
});
