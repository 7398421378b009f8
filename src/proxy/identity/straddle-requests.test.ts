import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { PooledDestination } from '../../http/client/pooled-destination.js';
import type { Exchange } from '../../http/exchange.js';
import { closedAddress, peerName, serveTls, type TlsServer, textOf, tls } from '../../http/tls/tls-server.fixture.js';
import { STRADDLE_USER, StraddleRequests, sendDirectly, sendThrough } from './straddle-requests.js';

const never = () => () => {};
let server: TlsServer;
let destination: PooledDestination;

afterEach(async () => {
  await destination?.close();
  await server?.close();
});

async function start(...args: Parameters<typeof serveTls>): Promise<void> {
  server = await serveTls(...args);
  destination = to(server.address);
}

const to = (address: string) => new PooledDestination({ address, tls, connectTimeoutMs: 1_000, keepAliveMs: 1_000 });

const withCertificate = new StraddleRequests({ frontProxy: true, userHeader: 'X-Remote-User' });

describe('requests of Straddle', () => {
  it('StraddleRequests sends as user system:straddle, marked against a further reroute', async () => {
    await start((req, res) => res.end(peerName(req)));
    const reply = await withCertificate.fetchFrom(destination)('/apis', ['Accept', 'x/y'], never);
    expect(await textOf(reply)).toBe('front-proxy-client');
    expect(server.requests[0]).toMatchObject({
      url: '/apis',
      headers: { 'x-remote-user': STRADDLE_USER, accept: 'x/y', 'x-kubernetes-peer-proxied': 'true' },
    });
  });

  it('StraddleRequests is anonymous without a certificate', async () => {
    await start((req, res) => res.end(peerName(req) ?? 'nobody'));
    const anonymous = new StraddleRequests({ frontProxy: false, userHeader: 'X-Remote-User' });
    expect(await textOf(await anonymous.fetchFrom(destination)('/', [], never))).toBe('nobody');
    expect(server.requests[0]!.headers['x-remote-user']).toBeUndefined();
  });

  it('sendThrough passes identity and body to the router', async () => {
    let seen: Exchange | undefined;
    const send = sendThrough(
      () => async (exchange) => {
        seen = exchange;
        return { status: 200, headers: [], body: null };
      },
      () => 7,
    );
    let leave = () => {};
    const onAbort = (listener: () => void) => {
      leave = listener;
      return () => {};
    };
    await send('PUT', '/api/v1/pods/x', ['A', 'b'], Buffer.from('x'), onAbort);
    expect(seen).toMatchObject({
      method: 'PUT',
      identity: { user: STRADDLE_USER },
      info: { resource: 'pods', verb: 'update' },
    });
    expect(seen!.gatheredBody).toEqual(Buffer.from('x'));
    leave();
    expect(seen!.aborted).toBe(true);
  });

  it('sendDirectly reads the token file of a kubeconfig each time, and uses its path prefix', async () => {
    await start((_, res) => res.end());
    const directory = await mkdtemp(join(tmpdir(), 'straddle-'));
    const tokenFile = join(directory, 'token');
    const send = sendDirectly({ destination, basePath: '/k8s', hasCertificate: false, token: undefined, tokenFile });
    for (const token of ['one', 'two']) {
      writeFileSync(tokenFile, `${token}\n`);
      await textOf(await send('GET', '/api', [], null, never));
    }
    expect(server.requests.map(({ url, headers }) => `${url} ${headers.authorization}`)).toEqual([
      '/k8s/api Bearer one',
      '/k8s/api Bearer two',
    ]);
    await rm(directory, { recursive: true });
  });
});

describe('StraddleRequests.probeReady', () => {
  it.each([
    [200, true],
    [401, '/readyz answers 401'],
    [403, '/readyz answers 403'],
    [500, '/readyz answers 500'],
    [503, '/readyz answers 503'],
  ])('maps status %i to %s', async (status, verdict) => {
    await start((_, res) => res.writeHead(status).end('x'));
    expect(await withCertificate.probeReady(destination, 1_000)).toBe(verdict);
    expect(server.requests[0]!.url).toBe('/readyz');
  });

  it('rejects when the connection is refused, and after a timeout without a complete reply', async () => {
    await start((_, res) => {
      if (server.requests.length > 1) res.writeHead(200).write('half');
    });
    await expect(withCertificate.probeReady(to(await closedAddress()), 1_000)).rejects.toMatchObject({
      processed: 'unsent',
    });
    await expect(withCertificate.probeReady(destination, 50)).rejects.toThrow(/timeout/);
    await expect(withCertificate.probeReady(destination, 50)).rejects.toThrow(/timeout/);
    await until(() => destination.inFlight === 0, 'nothing to be left behind');
  });
});
