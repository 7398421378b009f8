import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { request as httpsRequest } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../base/clock.js';
import { silentLogger } from '../../base/logger.js';
import { makeClient, makeServer } from '../../http/tls/pki.fixture.js';
import { ProxyTls } from '../../http/tls/proxy-tls.js';
import { ca, serveTls, type TlsServer } from '../../http/tls/tls-server.fixture.js';
import { FrontDoor } from './front-door.js';

const cleanUps: (() => unknown)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

/** A server that is ready, and breaks every other request's connection after it has read the request. */
async function breakingServer(): Promise<TlsServer> {
  const server = await serveTls((request, response) => {
    if (request.url === '/readyz') response.end('ok');
    else request.socket.destroy();
  });
  server.http.on('upgrade', (request, socket: Duplex) => {
    server.requests.push(request);
    socket.destroy();
  });
  cleanUps.push(() => server.close());
  return server;
}

async function doorTo(servers: readonly TlsServer[]): Promise<number> {
  return (await openDoor(servers)).port;
}

async function openDoor(servers: readonly TlsServer[]): Promise<{ readonly door: FrontDoor; readonly port: number }> {
  const folder = mkdtempSync(join(tmpdir(), 'front-door-'));
  cleanUps.push(() => rmSync(folder, { recursive: true }));
  const write = (name: string, text: string): string => {
    const path = join(folder, name);
    writeFileSync(path, text);
    return path;
  };
  const serving = makeServer(ca);
  const client = makeClient(ca, { cn: 'front-proxy-client' });
  const tls = await ProxyTls.load(
    {
      serving: { certFile: write('serving.pem', serving.pem), keyFile: write('serving.key', serving.keyPem) },
      frontProxy: { certFile: write('client.pem', client.pem), keyFile: write('client.key', client.keyPem) },
      clientCaFile: write('ca.pem', ca.pem),
      requestHeaderCaFile: undefined,
      peerCaFile: join(folder, 'ca.pem'),
      peerServerName: 'kubernetes.default.svc',
      upstreamCaFile: undefined,
      upstreamServerName: '',
    },
    { clock: systemClock, logger: silentLogger },
  );
  cleanUps.push(() => tls.close());
  const door = new FrontDoor({
    host: '127.0.0.1',
    port: 0,
    servers: servers.map(({ address }) => address),
    tls,
    frontProxyNames: [],
    clock: systemClock,
    logger: silentLogger,
  });
  cleanUps.push(() => door.close(0));
  return { door, port: (await door.start()).port };
}

function statusOf(port: number, method: string, path: string, headers: Record<string, string>): Promise<number> {
  return new Promise((resolve, reject) => {
    const request = httpsRequest(
      { host: '127.0.0.1', port, ca: ca.pem, method, path, headers, agent: false },
      (response) => {
        response.resume();
        resolve(response.statusCode!);
      },
    );
    request.on('error', reject);
    request.end();
  });
}

function received(servers: readonly TlsServer[], path: string): number {
  return servers.flatMap(({ requests }) => requests).filter(({ url }) => url === path).length;
}

/** A server of a version. */
async function serverOf(version: string): Promise<TlsServer> {
  const server = await serveTls((request, response) => {
    if (request.url === '/readyz') response.end('ok');
    else response.end(request.url === '/version' ? JSON.stringify({ gitVersion: version }) : '{}');
  });
  cleanUps.push(() => server.close());
  return server;
}

describe('the front door', () => {
  it('sends /version to the oldest server each time, and other requests to all in turn', async () => {
    const servers = [await serverOf('v1.37.1'), await serverOf('v1.36.4'), await serverOf('not a version')];
    const port = await doorTo(servers);
    const ofClients = (path: string) =>
      servers.map(
        ({ requests }) =>
          requests.filter(({ url, headers }) => url === path && !headers['x-kubernetes-peer-proxied']).length,
      );
    for (let count = 0; count < 3; count++) {
      expect(await statusOf(port, 'GET', '/version', {})).toBe(200);
      expect(await statusOf(port, 'GET', '/apis', {})).toBe(200);
    }
    expect(ofClients('/version')).toEqual([0, 3, 0]);
    expect(ofClients('/apis')).toEqual([1, 1, 1]);
  });

  it('sends the page to the same server each time, one of the newest version', async () => {
    const servers = [await serverOf('v1.36.4'), await serverOf('v1.37.1'), await serverOf('not a version')];
    const port = await doorTo(servers);
    for (const path of ['/straddle/', '/straddle/api/v1/state', '/straddle/assets/app.js']) {
      expect(await statusOf(port, 'GET', path, {})).toBe(200);
      expect(servers.map((server) => received([server], path))).toEqual([0, 1, 0]);
    }
  });

  it('ends a stream of the page when it closes, instead of waiting for it', async () => {
    const server = await serveTls((request, response) => {
      if (request.url === '/readyz') response.end('ok');
      else response.write('event: state\ndata: {}\n\n');
    });
    cleanUps.push(() => server.close());
    const { door, port } = await openDoor([server]);
    const isWhole = new Promise<boolean>((resolve, reject) => {
      const path = '/straddle/api/v1/stream';
      const request = httpsRequest({ host: '127.0.0.1', port, ca: ca.pem, path, agent: false }, (response) => {
        response.once('data', () => void door.close(3_600_000));
        response.on('close', () => resolve(response.complete));
      });
      request.on('error', reject);
      request.end();
    });
    expect(await isWhole).toBe(true);
  });

  it('sends an exec over WebSocket once when its connection breaks after it was sent', async () => {
    const servers = [await breakingServer(), await breakingServer()];
    const port = await doorTo(servers);
    const exec = '/api/v1/namespaces/x/pods/p/exec?command=date';
    const upgrade = {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Key': 'dGhlIHNhbXBsZSBub25jZQ==',
      'Sec-WebSocket-Version': '13',
    };
    expect(await statusOf(port, 'GET', exec, upgrade)).toBe(503);
    expect(received(servers, exec)).toBe(1);
  });

  it('sends a plain GET to the next server when its connection breaks after it was sent', async () => {
    const servers = [await breakingServer(), await breakingServer()];
    const port = await doorTo(servers);
    expect(await statusOf(port, 'GET', '/api/v1/pods', {})).toBe(503);
    expect(received(servers, '/api/v1/pods')).toBe(2);
  });

  it('sends a POST once when its connection breaks after it was sent', async () => {
    const servers = [await breakingServer(), await breakingServer()];
    const port = await doorTo(servers);
    expect(await statusOf(port, 'POST', '/api/v1/pods', {})).toBe(503);
    expect(received(servers, '/api/v1/pods')).toBe(1);
  });
});
