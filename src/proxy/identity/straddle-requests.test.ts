import { writeFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import { PooledDestination } from '../../http/client/pooled-destination.js';
import type { Exchange } from '../../http/exchange.js';
import { closedAddress, peerName, serveTls, type TlsServer, textOf, tls } from '../../http/tls/tls-server.fixture.js';
import { OWN_USER, OwnRequests, sendDirectly, sendThrough } from '../../transport/own-requests.js';

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

const withCertificate = new OwnRequests({ frontProxy: true, userHeader: 'X-Remote-User' });

describe('own requests', () => {
  it('to a server are made as Straddle’s own user, and not to be carried further', async () => {
    await start((req, res) => res.end(peerName(req)));
    const reply = await withCertificate.fetchFrom(destination)('/apis', ['Accept', 'x/y'], never);
    expect(await textOf(reply)).toBe('front-proxy-client');
    expect(server.requests[0]).toMatchObject({
      url: '/apis',
      headers: { 'x-remote-user': OWN_USER, accept: 'x/y', 'x-kubernetes-peer-proxied': 'true' },
    });
  });

  it('are anonymous without a certificate', async () => {
    await start((req, res) => res.end(peerName(req) ?? 'nobody'));
    const anonymous = new OwnRequests({ frontProxy: false, userHeader: 'X-Remote-User' });
    expect(await textOf(await anonymous.fetchFrom(destination)('/', [], never))).toBe('nobody');
    expect(server.requests[0]!.headers['x-remote-user']).toBeUndefined();
  });

  it('through the router carry their identity and their body', async () => {
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
      identity: { user: OWN_USER },
      info: { resource: 'pods', verb: 'update' },
    });
    expect(seen!.gatheredBody).toEqual(Buffer.from('x'));
    leave();
    expect(seen!.aborted).toBe(true);
  });

  it('with a kubeconfig use its token, read anew each time, below its path', async () => {
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

describe('a probe', () => {
  it.each([
    [200, true],
    [401, '/readyz answers 401'],
    [403, '/readyz answers 403'],
    [500, '/readyz answers 500'],
    [503, '/readyz answers 503'],
  ])('that is answered %i means %s', async (status, verdict) => {
    await start((_, res) => res.writeHead(status).end('x'));
    expect(await withCertificate.probeReady(destination, 1_000)).toBe(verdict);
    expect(server.requests[0]!.url).toBe('/readyz');
  });

  it('fails when nobody is there, and in bounded time when nobody answers or the answer does not end', async () => {
    await start((_, res) => {
      if (server.requests.length > 1) res.writeHead(200).write('half');
    });
    await expect(withCertificate.probeReady(to(await closedAddress()), 1_000)).rejects.toMatchObject({
      processed: 'unsent',
    });
    await expect(withCertificate.probeReady(destination, 50)).rejects.toThrow(/no answer/);
    await expect(withCertificate.probeReady(destination, 50)).rejects.toThrow(/no answer/);
    await until(() => destination.inFlight === 0, 'nothing to be left behind');
  });
});
