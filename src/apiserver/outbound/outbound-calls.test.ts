import { afterEach, describe, expect, it } from 'vitest';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { makeCa } from '../../http/tls/pki.fixture.js';
import {
  ca,
  closedAddress,
  outgoing,
  peerName,
  serveTcp,
  serveTls,
  textOf,
  tls,
} from '../../http/tls/tls-server.fixture.js';
import type { OutboundTarget } from './outbound.js';
import { OutboundCalls } from './outbound-calls.js';
import { OutboundCallError } from './outbound-error.js';

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0)) await cleanup();
});

type ServerHandler = Parameters<typeof serveTls>[0];

async function serving(handler: ServerHandler) {
  const server = await serveTls(handler);
  cleanups.push(server.close);
  return server;
}

function makeCalls(options: ConstructorParameters<typeof OutboundCalls>[0] = {}): OutboundCalls {
  const calls = new OutboundCalls(options);
  cleanups.push(() => calls.close());
  return calls;
}

function target(address: string, more: Partial<OutboundTarget> = {}): OutboundTarget {
  return { address, serverName: 'kubernetes.default.svc', caBundle: ca.pem, ...more };
}

const QUESTION = {
  method: 'POST',
  path: '/x?a=b',
  headers: ['X-A', 'b'],
  body: Buffer.from('hello'),
  timeoutMs: 5_000,
};

async function failure(promise: Promise<unknown>): Promise<OutboundCallError> {
  const outcome = await promise.catch((error: unknown) => error);
  expect(outcome).toBeInstanceOf(OutboundCallError);
  expect((outcome as Error).name).toBe('OutboundCallError');
  return outcome as OutboundCallError;
}

describe('outbound calls to webhooks and aggregated servers', () => {
  it('send method, path, headers and body, and return the whole reply', async () => {
    const server = await serving((req, res) => {
      req.pipe(res.writeHead(201, { 'X-C': 'd' }));
    });
    const answer = await makeCalls().call(target(server.address), QUESTION);
    expect(answer.status).toBe(201);
    expect(answer.body.toString()).toBe('hello');
    expect(answer.headers).toContain('X-C');
    const [request] = server.requests;
    expect(request).toMatchObject({ method: 'POST', url: '/x?a=b' });
    expect(request!.headers).toMatchObject({
      'x-a': 'b',
      host: expect.stringMatching(/^kubernetes\.default\.svc:\d+$/),
    });
    expect(peerName(request!)).toBeUndefined();
  });

  it('reuse connections', async () => {
    const server = await serving((_, res) => res.end());
    const calls = makeCalls();
    for (let i = 0; i < 10; i++) await calls.call(target(server.address), QUESTION);
    // One more than needed: the next call may begin before the connection of the last one is free.
    expect(server.connections.size).toBeLessThanOrEqual(2);
  });

  it('send the front-proxy certificate only on the front-proxy lane', async () => {
    const server = await serving((_, res) => res.end());
    const calls = makeCalls({ clientCertificate: () => ({ cert: tls.cert!, key: tls.key! }) });
    await calls.call(target(server.address), QUESTION);
    await calls.call(target(server.address), QUESTION, true);
    expect(server.requests.map(peerName)).toEqual([undefined, 'front-proxy-client']);
  });

  it('follow no redirect', async () => {
    const server = await serving((_, res) => res.writeHead(302, { Location: '/elsewhere' }).end());
    expect((await makeCalls().call(target(server.address), QUESTION)).status).toBe(302);
    expect(server.requests).toHaveLength(1);
  });

  it('are sent only to a server with a valid certificate', async () => {
    const server = await serving((_, res) => res.end());
    const calls = makeCalls();
    const strangers = await failure(
      calls.call(target(server.address, { caBundle: makeCa('strangers').pem }), QUESTION),
    );
    expect(strangers).toMatchObject({
      type: 'tls',
      message: 'tls: failed to verify certificate: x509: certificate signed by unknown authority',
    });
    const misnamed = await failure(calls.call(target(server.address, { serverName: 'other.test' }), QUESTION));
    expect(misnamed.message).toBe(
      'tls: failed to verify certificate: x509: certificate is valid for kubernetes.default.svc, not other.test',
    );
    const byAddress = await failure(calls.call(target(server.address, { serverName: '127.0.0.1' }), QUESTION));
    expect(byAddress.message).toContain("127.0.0.1 because it doesn't contain any IP SANs");
    const publicOnly = await failure(calls.call(target(server.address, { caBundle: undefined }), QUESTION));
    expect(publicOnly.type).toBe('tls');
    expect(await failure(calls.call(target(server.address, { caBundle: 'x' }), QUESTION))).toMatchObject({
      type: 'tls',
      message: 'unable to load root certificates: unable to parse bytes as PEM block',
    });
    expect(server.requests).toEqual([]);
    await calls.call(target(server.address, { serverName: 'other.test', insecureSkipVerify: true }), QUESTION);
    expect(server.requests).toHaveLength(1);
  });

  it('reject with type tls for a malformed caBundle', async () => {
    const server = await serving((_, res) => res.end());
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    expect((await failure(makeCalls().call(target(server.address, { caBundle: broken }), QUESTION))).type).toBe('tls');
  });

  it('reject with the messages of kube-apiserver', async () => {
    const closed = await closedAddress();
    expect(await failure(makeCalls().call(target(closed), QUESTION))).toMatchObject({
      type: 'connect',
      message: `dial tcp ${closed}: connect: connection refused`,
    });
    const server = await serving((_, res) => res.destroy());
    expect(await failure(makeCalls().call(target(server.address), QUESTION))).toMatchObject({
      type: 'reset',
      message: 'EOF',
    });
  });

  it('reject after the timeout, whatever the server does', async () => {
    const silent = await serveTcp(() => {});
    const hanging = await serving(() => {});
    const dripping = await serving((_, res) => res.write('x'));
    cleanups.push(silent.close);
    for (const server of [silent, hanging, dripping]) {
      const clock = new ManualClock();
      const outcome = failure(makeCalls({ clock }).call(target(server.address), { ...QUESTION, timeoutMs: 1_000 }));
      await until(() => server.connections.size > 0, 'the connection');
      await clock.advance(1_000);
      expect(await outcome).toMatchObject({ type: 'timeout', message: 'context deadline exceeded' });
    }
  });

  it('reject a reply beyond the bound on bytes', async () => {
    const server = await serving((_, res) => res.end(Buffer.alloc(5_000)));
    const calls = makeCalls({ answerBytesMax: 4_000 });
    expect((await failure(calls.call(target(server.address), QUESTION))).type).toBe('too-large');
  });

  it('keep connections to a bounded number of servers', async () => {
    const servers = await Promise.all([1, 2, 3].map(() => serving((_, res) => res.end())));
    const calls = makeCalls({ destinationsMax: 2 });
    for (const { address } of servers) await calls.call(target(address), QUESTION);
    await until(() => servers[0]!.connections.size === 0, 'the first connection to be let go');
    expect(servers.map(({ connections }) => connections.size)).toEqual([0, 1, 1]);
  });

  it('use a renewed client certificate at once, and finish running calls with the old one', async () => {
    let finish = () => {};
    const server = await serving((req, res) => {
      if (req.url === '/slow') finish = () => res.end('done');
      else res.end();
    });
    let certificate: { cert: string; key: string } | undefined;
    const calls = makeCalls({ clientCertificate: () => certificate });
    const slow = calls.call(target(server.address), { ...QUESTION, path: '/slow' }, true);
    await until(() => server.requests.length === 1, 'the first request');
    certificate = { cert: tls.cert!, key: tls.key! };
    calls.renew();
    await calls.call(target(server.address), QUESTION, true);
    finish();
    expect((await slow).body.toString()).toBe('done');
    expect(server.requests.map(peerName)).toEqual([undefined, 'front-proxy-client']);
  });
});

describe('proxied outbound requests', () => {
  it('stream the body of their reply', async () => {
    let end = () => {};
    const server = await serving((_, res) => {
      res.write('a');
      end = () => res.end('b');
    });
    const reply = await makeCalls().send(target(server.address), outgoing().request);
    expect(reply.status).toBe(200);
    end();
    expect(await textOf(reply)).toBe('ab');
  });

  it('are not interrupted by a renewal of certificates while they connect', async () => {
    const server = await serving((_, res) => res.end('over 1.1'));
    const calls = makeCalls();
    const sent = calls.send(target(server.address), outgoing({ isWatch: true }).request);
    calls.renew();
    expect(await textOf(await sent)).toBe('over 1.1');
  });

  it('reject with the messages of kube-apiserver', async () => {
    const closed = await closedAddress();
    const calls = makeCalls();
    const refused = `dial tcp ${closed}: connect: connection refused`;
    expect((await failure(calls.send(target(closed), outgoing().request))).message).toBe(refused);
    expect((await failure(calls.upgrade(target(closed), outgoing().request))).message).toBe(refused);
  });
});
