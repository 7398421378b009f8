import { constants, createSecureServer, type Http2SecureServer, type ServerHttp2Stream } from 'node:http2';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { AttemptError } from '../attempt-error.js';
import type { BodyStream } from '../body-stream.js';
import { headerValue } from '../headers.js';
import { makeServer } from '../tls/pki.fixture.js';
import { ca, outgoing, serveScript, serveTls, textOf, tls } from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const cleanUps: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** Empty SETTINGS frame, the first frame of each side. */
const SETTINGS = Buffer.from([0, 0, 0, 4, 0, 0, 0, 0, 0]);

const certificate = makeServer(ca, { dnsNames: ['kubernetes.default.svc'], ipAddresses: [] });

interface H2Server {
  readonly address: string;
  readonly streams: ServerHttp2Stream[];
  readonly heads: Record<string, unknown>[];
  sessions: number;
  breakAll(): void;
}

async function serveHttp2(onStream: (stream: ServerHttp2Stream) => void, streamsMax = 250): Promise<H2Server> {
  const server: Http2SecureServer = createSecureServer({
    cert: certificate.pem,
    key: certificate.keyPem,
    allowHTTP1: true,
    settings: { maxConcurrentStreams: streamsMax },
  });
  // Applies to HTTP/1.1 requests.
  Object.assign(server, { maxHeaderSize: 1024 * 1024 });
  const sockets = new Set<{ destroy(): unknown }>();
  const found: H2Server = {
    address: '',
    streams: [],
    heads: [],
    sessions: 0,
    breakAll: () => {
      for (const socket of sockets) socket.destroy();
    },
  };
  server.on('secureConnection', (socket) => sockets.add(socket));
  server.on('session', () => {
    found.sessions += 1;
  });
  server.on('stream', (stream, headers) => {
    stream.on('error', () => {});
    found.streams.push(stream);
    found.heads.push(headers);
    onStream(stream);
  });
  server.on('request', (request, response) => {
    if (request.httpVersionMajor === 1) response.writeHead(200).end('over 1.1');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  cleanUps.push(() => {
    found.breakAll();
    server.close();
  });
  return Object.assign(found, { address: `127.0.0.1:${(server.address() as AddressInfo).port}` });
}

function to(address: string): PooledDestination {
  const destination = new PooledDestination({ address, tls, connectTimeoutMs: 3_000, keepAliveMs: 10_000 });
  cleanUps.push(() => destination.close());
  return destination;
}

const watchOf = (target: string, headers: readonly string[] = ['Host', 'client.example']) =>
  outgoing({ target, headers, isWatch: true }).request;

/** Collects the text of a body and its outcome. */
function reading(body: BodyStream) {
  const seen = { text: '', outcome: '' };
  body.attach({
    write: (chunk) => {
      seen.text += Buffer.from(chunk).toString();
      return true;
    },
    end: () => {
      seen.outcome = 'end';
    },
    fail: (error) => {
      seen.outcome = error instanceof AttemptError ? `fail ${error.processed} ${error.type}` : `fail ${error.message}`;
    },
  });
  return seen;
}

it('PooledDestination sends watches on one HTTP/2 connection, each with its own headers and response', async () => {
  const server = await serveHttp2((stream) => {
    stream.respond({ ':status': 200, 'content-type': 'application/json', 'x-served-by': 'b' });
    stream.write('{"type":"ADDED"}\n');
  });
  const destination = to(server.address);
  const replies = await Promise.all(
    ['/a?watch=1', '/b?watch=1', '/c?watch=1'].map((target) =>
      destination.send(watchOf(target, ['Host', 'example', 'X-Who', target, 'Connection', 'close'])),
    ),
  );
  expect(server.sessions).toBe(1);
  expect(server.heads.map((head) => head[':path'])).toEqual(['/a?watch=1', '/b?watch=1', '/c?watch=1']);
  expect(server.heads[1]).toMatchObject({ 'x-who': '/b?watch=1', ':authority': 'example', ':method': 'GET' });
  expect(replies[0]!.status).toBe(200);
  expect(headerValue(replies[0]!.headers, 'x-served-by')).toBe('b');
  expect(destination.inFlight).toBe(3);
  const seen = reading(replies[2]!.body as BodyStream);
  await until(() => seen.text === '{"type":"ADDED"}\n');
  server.streams[2]!.end('{"type":"DELETED"}\n');
  await until(() => seen.outcome === 'end');
  expect(seen.text).toContain('DELETED');
  expect(destination.inFlight).toBe(2);
});

it('PooledDestination opens no more watch streams per connection than MAX_CONCURRENT_STREAMS', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }), 2);
  const destination = to(server.address);
  await Promise.all(Array.from({ length: 5 }, () => destination.send(watchOf('/a?watch=1'))));
  expect(server.streams).toHaveLength(5);
  expect(server.sessions).toBe(3);
});

it('PooledDestination respects a MAX_CONCURRENT_STREAMS that the server reduces later', async () => {
  const server = await serveHttp2((stream) => {
    // The client has acknowledged, and so applied, the settings before it gets the response.
    stream.session!.settings({ maxConcurrentStreams: 1 }, () => stream.respond({ ':status': 200 }));
  }, 10);
  const destination = to(server.address);
  await destination.send(watchOf('/a?watch=1'));
  await destination.send(watchOf('/b?watch=1'));
  expect(server.sessions).toBe(2);
});

it('PooledDestination sends watches over HTTP/1.1 if MAX_CONCURRENT_STREAMS is 0', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }), 0);
  expect(await textOf(await to(server.address).send(watchOf('/a?watch=1')))).toBe('over 1.1');
  expect(server.sessions).toBe(1);
});

it('PooledDestination sends watches over HTTP/1.1 if the server does not support HTTP/2', async () => {
  const server = await serveTls((_, response) => response.end('over 1.1'));
  cleanUps.push(server.close);
  const destination = to(server.address);
  expect(await textOf(await destination.send(watchOf('/a?watch=1')))).toBe('over 1.1');
  expect(await textOf(await destination.send(watchOf('/b?watch=1')))).toBe('over 1.1');
  expect(server.requests.map(({ httpVersion }) => httpVersion)).toEqual(['1.1', '1.1']);
});

it('PooledDestination sends watches over HTTP/1.1 if node:http2 refuses their headers', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const heads = ['Host', 'example', 'If-Match', 'a', 'If-Match', 'b', 'User-Agent', 'c', 'User-Agent', 'd'];
  const reply = await to(server.address).send(watchOf('/a?watch=1', heads));
  expect(await textOf(reply)).toBe('over 1.1');
  expect(server.streams).toHaveLength(0);
});

it('PooledDestination sends header names such as constructor and __proto__ on watch streams', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  await to(server.address).send(watchOf('/a?watch=1', ['Host', 'x', 'Constructor', 'a', '__proto__', 'b', 'X-C', 'd']));
  expect(Object.entries(server.heads[0]!)).toEqual(
    expect.arrayContaining([
      ['constructor', 'a'],
      ['__proto__', 'b'],
      ['x-c', 'd'],
    ]),
  );
});

it.each([
  ['many', Array.from({ length: 900 }, (_, i) => [`x-${i}`, 'v'.repeat(58)]).flat()],
  ['long', ['X-A', 'a'.repeat(500_000)]],
])(
  'PooledDestination sends watches over HTTP/1.1 if their headers are too %s for a shared connection',
  async (_, headers) => {
    const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
    const reply = await to(server.address).send(watchOf('/a?watch=1', ['Host', 'x', ...headers]));
    expect(await textOf(reply)).toBe('over 1.1');
    expect(server.sessions).toBe(0);
  },
);

it.each([
  ['/a?watch=1', 'a\r\nX-B: c'],
  ['/a?watch=1 HTTP/1.1', 'a'],
])('PooledDestination rejects a watch with an invalid target or header: %j, %j', async (target, value) => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const sent = to(server.address).send(watchOf(target, ['Host', 'x', 'X-A', value]));
  await expect(sent).rejects.toMatchObject({ name: 'StatusError', status: { code: 400 } });
  expect(server.sessions).toBe(0);
});

it('PooledDestination fails a watch when its stream is reset or the connection breaks', async () => {
  const server = await serveHttp2((stream) => {
    stream.respond({ ':status': 200 });
    stream.write('half');
  });
  const destination = to(server.address);
  const reset = reading((await destination.send(watchOf('/a?watch=1'))).body as BodyStream);
  const broken = reading((await destination.send(watchOf('/b?watch=1'))).body as BodyStream);
  await until(() => reset.text === 'half' && broken.text === 'half');
  server.streams[0]!.destroy(new Error('a fault of the server'));
  await until(() => reset.outcome !== '');
  expect(reset.outcome).toMatch(/^fail maybe/);
  expect(broken.outcome).toBe('');
  server.breakAll();
  await until(() => broken.outcome !== '');
  expect(broken.outcome).toMatch(/^fail maybe/);
  expect(destination.inFlight).toBe(0);
  // The next watch opens a new connection.
  await destination.send(watchOf('/c?watch=1'));
  expect(server.sessions).toBe(2);
});

it('PooledDestination rejects a watch as unsent when the server sends REFUSED_STREAM', async () => {
  const server = await serveHttp2((stream) => stream.close(constants.NGHTTP2_REFUSED_STREAM));
  // A server that shuts down refuses streams, also those above the last one of its GOAWAY.
  await expect(to(server.address).send(watchOf('/a?watch=1'))).rejects.toMatchObject({
    processed: 'unsent',
    type: 'draining',
    message: `${server.address}: the server refused the stream (REFUSED_STREAM)`,
  });
});

it('PooledDestination closes the stream of a cancelled watch and keeps the others', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const destination = to(server.address);
  const left = await destination.send(watchOf('/a?watch=1'));
  const stays = reading((await destination.send(watchOf('/b?watch=1'))).body as BodyStream);
  (left.body as BodyStream).cancel(new Error('left'));
  await until(() => server.streams[0]!.closed);
  server.streams[1]!.write('still here');
  await until(() => stays.text === 'still here');
  expect(destination.inFlight).toBe(1);
});

it('PooledDestination applies back-pressure to the stream of a slow watch, without head-of-line blocking', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const destination = to(server.address);
  const slow = (await destination.send(watchOf('/slow?watch=1'))).body as BodyStream;
  slow.attach({ write: () => false, end: () => {}, fail: () => {} });
  const quick = reading((await destination.send(watchOf('/quick?watch=1'))).body as BodyStream);
  server.streams[0]!.write(Buffer.alloc(1024 * 1024, 'x'));
  server.streams[1]!.write('at once');
  await until(() => quick.text === 'at once');
  expect(server.streams[0]!.writableLength).toBeGreaterThan(0);
  expect(server.sessions).toBe(1);
});

it('PooledDestination rejects a watch as unsent if the server certificate is for another name', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const destination = new PooledDestination({
    address: server.address,
    tls: { ...tls, servername: 'somebody.else' },
    connectTimeoutMs: 3_000,
    keepAliveMs: 10_000,
  });
  cleanUps.push(() => destination.close());
  await expect(destination.send(watchOf('/a?watch=1'))).rejects.toMatchObject({ processed: 'unsent', type: 'tls' });
  expect(server.streams).toHaveLength(0);
});

it('PooledDestination.close fails watches, also on connections with replaced certificates', async () => {
  const server = await serveHttp2((stream) => stream.respond({ ':status': 200 }));
  const destination = to(server.address);
  const before = reading((await destination.send(watchOf('/a?watch=1'))).body as BodyStream);
  destination.replaceTls(tls);
  const after = reading((await destination.send(watchOf('/b?watch=1'))).body as BodyStream);
  await destination.close();
  expect([before.outcome, after.outcome]).toEqual(['fail maybe closed', 'fail maybe closed']);
  expect(destination.inFlight).toBe(0);
  await until(() => server.streams.every((stream) => stream.closed));
});

it('PooledDestination closes a connection whose certificates were replaced before SETTINGS arrived', async () => {
  const server = await serveScript(() => {}, 'h2');
  cleanUps.push(server.close);
  const destination = to(server.address);
  const sent = destination.send(watchOf('/a?watch=1')).catch((error) => error);
  await until(() => server.received().startsWith('PRI'));
  destination.replaceTls({ ...tls, servername: 'somebody.else' });
  server.sockets[0]!.write(SETTINGS);
  expect(await sent).toMatchObject({ processed: 'unsent', type: 'tls' });
  await until(() => server.connections.size === 0);
});
