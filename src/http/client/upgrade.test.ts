import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import type { Reply } from '../exchange.js';
import { headerValue } from '../headers.js';
import { ask1, rawConnection, type StartedListener, startListener } from '../server/listener.fixture.js';
import {
  closedAddress,
  otherCa,
  outgoing,
  peerName,
  serveTcp,
  serveTls,
  type TlsServer,
  textOf,
  tls,
} from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const HEADERS = ['Host', 'client.example', 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'];

let server: TlsServer;
let destination: PooledDestination;
let front: StartedListener | undefined;

afterEach(async () => {
  await front?.close(0);
  await destination?.close();
  await server?.close();
  front = undefined;
});

/** Starts a server that upgrades, refuses `/refuse` with 403, and does not answer `/hang`. */
async function start(onSwitched: (socket: Duplex) => void = (socket) => socket.pipe(socket)): Promise<void> {
  server = await serveTls((_, res) => {
    res.writeHead(403, { 'Content-Type': 'application/json', 'Content-Length': '2' });
    res.end('{}');
  });
  server.http.on('upgrade', (req, socket: Duplex) => {
    server.requests.push(req);
    socket.on('error', () => {});
    if (req.url === '/hang') return;
    if (req.url === '/refuse') {
      socket.end('HTTP/1.1 403 Forbidden\r\nContent-Type: application/json\r\nContent-Length: 2\r\nX-A: b\r\n\r\n{}');
      return;
    }
    socket.write(
      'HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\nX-Stream: v4\r\n\r\n',
    );
    onSwitched(socket);
  });
  destination = to(server.address);
}

function to(address: string, connectTimeoutMs = 3_000): PooledDestination {
  return new PooledDestination({ address, tls, connectTimeoutMs, keepAliveMs: 1_000 });
}

describe('PooledDestination.upgrade', () => {
  it.each(['GET', 'POST'])('returns the upgraded connection (%s)', async (method) => {
    await start();
    const { request } = outgoing({ method, target: '/exec?command=ls', headers: HEADERS, lane: 'front-proxy' });
    const reply = await destination.upgrade(request);
    expect(reply.status).toBe(101);
    expect(headerValue(reply.headers, 'x-stream')).toBe('v4');
    expect(headerValue(reply.headers, 'upgrade')).toBe('SPDY/3.1');
    expect(server.requests[0]).toMatchObject({ method, url: '/exec?command=ls' });
    expect(peerName(server.requests[0]!)).toBe('front-proxy-client');
    const { socket } = reply.upgraded!;
    socket.write('ping');
    const answer = await new Promise<string>((resolve) => socket.once('data', (chunk) => resolve(String(chunk))));
    expect(answer).toBe('ping');
    expect(destination.inFlight).toBe(1);
    socket.destroy();
    await until(() => destination.inFlight === 0, 'end');
  });

  it('returns the refusal of the server as an ordinary reply', async () => {
    await start();
    const reply = await destination.upgrade(outgoing({ target: '/refuse', headers: HEADERS }).request);
    expect(reply).toMatchObject({ status: 403 });
    expect(reply.upgraded).toBeUndefined();
    expect(headerValue(reply.headers, 'x-a')).toBe('b');
    expect(await textOf(reply)).toBe('{}');
    expect(destination.inFlight).toBe(0);
  });

  it('rejects as unsent when the connection fails, and as maybe processed after the request was sent', async () => {
    await start();
    const { request } = outgoing({ target: '/hang', headers: HEADERS, headTimeoutMs: 50 });
    await expect(to(await closedAddress()).upgrade(request)).rejects.toMatchObject({ processed: 'unsent' });
    const silent = await serveTcp(() => {});
    await expect(to(silent.address, 50).upgrade(request)).rejects.toMatchObject({
      processed: 'unsent',
      type: 'timeout',
    });
    await silent.close();
    const strict = new PooledDestination({
      address: server.address,
      tls: { ...tls, ca: otherCa.pem },
      connectTimeoutMs: 1_000,
      keepAliveMs: 1_000,
    });
    await expect(strict.upgrade(request)).rejects.toMatchObject({ processed: 'unsent', type: 'tls' });
    await expect(destination.upgrade(request)).rejects.toMatchObject({ processed: 'maybe', type: 'timeout' });
    expect(destination.inFlight).toBe(0);
  });

  it('closes the connection when the caller aborts before the response', async () => {
    await start();
    const { request, leave } = outgoing({ target: '/hang', headers: HEADERS });
    const sent = destination.upgrade(request).catch((error: unknown) => error);
    await until(() => server.requests.length === 1, 'request');
    leave();
    expect(await sent).toMatchObject({ type: 'aborted' });
    await until(() => server.connections.size === 0, 'the connection to be closed');
  });

  it('cancels the dial and rejects as unsent when the caller aborts while connecting', async () => {
    const silent = await serveTcp((socket) => socket.resume());
    destination = to(silent.address);
    const { request, leave } = outgoing({ headers: HEADERS });
    const sent = destination.upgrade(request).catch((error: unknown) => error);
    await until(() => silent.connections.size === 1, 'connection');
    leave();
    expect(await sent).toMatchObject({ processed: 'unsent', type: 'aborted' });
    await until(() => silent.connections.size === 0, 'the connection to be closed');
    expect(destination.inFlight).toBe(0);
    await silent.close();
  });

  it('closes the connection when the caller aborts before the request is written', async () => {
    await start();
    const { request } = outgoing({ target: '/hang', headers: HEADERS });
    // The second listener is called at once, as for a caller that aborts between dial and request.
    let asked = 0;
    const onAbort = (listener: () => void) => {
      asked += 1;
      if (asked === 2) listener();
      return () => {};
    };
    const sent = destination.upgrade({ ...request, onAbort }).catch((error: unknown) => error);
    expect(await sent).toMatchObject({ name: 'AttemptError', type: 'aborted' });
    await until(() => server.connections.size === 0, 'the connection to be closed');
  });

  it('rejects an invalid header with StatusError 400 and closes the connection', async () => {
    await start();
    const { request } = outgoing({ headers: [...HEADERS, 'X-A', 'a\r\nX-B: c'] });
    await expect(destination.upgrade(request)).rejects.toMatchObject({ status: { code: 400 } });
    await until(() => server.connections.size === 0, 'the connection to be closed');
    expect(server.requests).toHaveLength(0);
  });

  it('rejects an upgrade request with a body with StatusError 400', async () => {
    await start();
    const { request } = outgoing({ method: 'POST', headers: [...HEADERS, 'Content-Length', '5'] });
    await expect(destination.upgrade(request)).rejects.toMatchObject({ status: { code: 400 } });
    expect(server.requests).toHaveLength(0);
  });
});

describe('Listener with an upgraded connection', () => {
  async function behindListener(): Promise<number> {
    front = await startListener((exchange) => {
      const { request } = outgoing({ method: exchange.method, target: exchange.target, headers: HEADERS });
      const sent = { ...request, onAbort: (listener: () => void) => exchange.onAbort(listener) };
      return exchange.upgrade
        ? destination.upgrade(sent)
        : Promise.resolve<Reply>({ status: 200, headers: [], body: null });
    });
    return front.port;
  }

  const ask = (method: string, path: string) =>
    `${method} ${path} HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n`;

  it.each(['GET', 'POST'])('passes bytes in both directions, also those sent before the 101 (%s)', async (method) => {
    await start((socket) => {
      socket.write('hello ');
      socket.pipe(socket);
    });
    const client = await rawConnection(await behindListener());
    client.socket.write(`${ask(method, '/exec')}early `);
    await until(() => client.received().includes('early'), 'early bytes');
    client.socket.write('later');
    await until(() => client.received().endsWith('later'), 'later bytes');
    expect(client.received()).toMatch(/^HTTP\/1\.1 101 /);
    expect(client.received()).toContain('X-Stream: v4');
    expect(client.received()).toContain('\r\n\r\nhello ');
    client.socket.destroy();
    await until(() => server.connections.size === 0, 'the connection to the server to be closed');
  });

  it('closes the client’s connection when the server closes its own', async () => {
    await start((socket) => socket.end('bye'));
    const client = await rawConnection(await behindListener());
    client.socket.write(ask('GET', '/exec'));
    await client.closed;
    expect(client.received()).toMatch(/bye$/);
  });

  it('passes 4 MiB to a client that reads slowly', async () => {
    const bytes = Buffer.alloc(4 * 1024 * 1024, 'x');
    await start((socket) => socket.end(bytes));
    const client = await rawConnection(await behindListener());
    client.socket.write(ask('GET', '/exec'));
    client.socket.pause();
    await until(() => server.requests.length === 1, 'request');
    client.socket.resume();
    await client.closed;
    expect(client.received().length - client.received().indexOf('\r\n\r\n') - 4).toBe(bytes.byteLength);
  });

  it('passes a refused upgrade as an ordinary reply and closes the connection', async () => {
    await start();
    const client = await rawConnection(await behindListener());
    client.socket.write(ask('GET', '/refuse'));
    await client.closed;
    expect(client.received()).toMatch(/^HTTP\/1\.1 403 Forbidden\r\n/);
    expect(client.received()).toMatch(/\r\n\r\n\{\}$/);
  });

  it('closes an upgraded connection on both sides after the grace period', async () => {
    await start();
    const port = await behindListener();
    const client = await rawConnection(port);
    client.socket.write(ask('GET', '/exec'));
    await until(() => client.received().includes('101'), 'the 101');
    expect((await ask1(port)).status).toBe(200);
    await front!.close(20);
    await client.closed;
    await until(() => server.connections.size === 0, 'the connection to the server to be closed');
    front = undefined;
  });
});
