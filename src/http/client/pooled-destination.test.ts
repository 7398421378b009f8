import { PassThrough, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import type { BodyStream } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import { headerValue } from '../headers.js';
import { RequestBody } from '../server/request-body.js';
import type { ConnectionTls } from '../tls/connection-tls.js';
import {
  ca,
  closedAddress,
  otherCa,
  outgoing,
  peerName,
  serveTcp,
  serveTls,
  textOf,
  tls,
} from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function to(address: string, more: { tls?: ConnectionTls; connectTimeoutMs?: number } = {}): PooledDestination {
  const destination = new PooledDestination({ address, tls, connectTimeoutMs: 3_000, keepAliveMs: 10_000, ...more });
  cleanUps.push(() => destination.close());
  return destination;
}

async function serve(...args: Parameters<typeof serveTls>) {
  const server = await serveTls(...args);
  cleanUps.push(server.close);
  return server;
}

async function serveRaw(...args: Parameters<typeof serveTcp>) {
  const server = await serveTcp(...args);
  cleanUps.push(server.close);
  return server;
}

const refused = (send: Promise<Reply>) =>
  send.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => error,
  );

describe('PooledDestination.send', () => {
  it('sends method, raw target, headers and body, and returns the response', async () => {
    const server = await serve((req, res) => {
      res.writeHead(201, { 'X-Answer': 'yes', Connection: 'keep-alive', 'Keep-Alive': 'timeout=5' });
      req.pipe(res);
    });
    const { request } = outgoing({
      method: 'POST',
      target: '/api/v1/x%2Fy?a=%20&b',
      headers: ['Host', 'client.example', 'X-Odd-CASE', '1', 'x-odd-case', '2'],
      body: Buffer.from('hello'),
    });
    const reply = await to(server.address).send(request);
    expect(await textOf(reply)).toBe('hello');
    expect(reply.status).toBe(201);
    expect(headerValue(reply.headers, 'x-answer')).toBe('yes');
    expect(headerValue(reply.headers, 'keep-alive')).toBeUndefined();
    expect(headerValue(reply.headers, 'transfer-encoding')).toBeUndefined();
    const [seen] = server.requests;
    expect(seen).toMatchObject({ method: 'POST', url: '/api/v1/x%2Fy?a=%20&b' });
    expect(seen!.rawHeaders.join('|')).toContain('X-Odd-CASE|1|x-odd-case|2');
    expect(seen!.headers.host).toBe('client.example');
  });

  it('verifies the server against the configured servername, not against the client’s Host', async () => {
    const server = await serve((req, res) => res.end(String((req.socket as TLSSocket).servername)));
    const destination = to(server.address);
    for (const host of ['evil.example', '10.0.0.1:6443', 'kubernetes', 'a', 'b', 'c']) {
      const reply = await destination.send(outgoing({ headers: ['Host', host] }).request);
      expect(await textOf(reply)).toBe('kubernetes.default.svc');
    }
    // Connections are not separate per Host.
    expect(server.connections.size).toBeLessThan(3);
  });

  it('sends the front-proxy certificate on the front-proxy lane only, with separate connections per lane', async () => {
    const server = await serve((req, res) => res.end(peerName(req) ?? 'nobody'));
    const destination = to(server.address);
    const ask = async (lane: 'plain' | 'front-proxy') => textOf(await destination.send(outgoing({ lane }).request));
    expect(await ask('front-proxy')).toBe('front-proxy-client');
    expect(await ask('plain')).toBe('nobody');
    expect(await ask('front-proxy')).toBe('front-proxy-client');
    expect(server.connections.size).toBe(2);
  });

  it('returns the trailers of the response', async () => {
    const server = await serve((_, res) => {
      res.writeHead(200, { Trailer: 'X-Sum' });
      res.write('x');
      res.addTrailers({ 'X-Sum': '7' });
      res.end();
    });
    const reply = await to(server.address).send(outgoing().request);
    expect(headerValue(reply.headers, 'trailer')).toBe('X-Sum');
    const trailers = await new Promise<readonly string[]>((resolve, reject) =>
      (reply.body as BodyStream).attach({ write: () => true, end: resolve, fail: reject }),
    );
    expect(trailers).toEqual(['X-Sum', '7']);
  });

  it('skips informational responses', async () => {
    const server = await serve((_, res) => {
      res.writeProcessing();
      res.writeEarlyHints({ link: '</x>; rel=preload' });
      res.end('real');
    });
    const reply = await to(server.address).send(outgoing().request);
    expect(reply.status).toBe(200);
    expect(await textOf(reply)).toBe('real');
  });

  it('streams a request body of unknown length', async () => {
    const server = await serve((req, res) => req.pipe(res));
    const body = Readable.from([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')]);
    expect(await textOf(await to(server.address).send(outgoing({ method: 'PUT', body }).request))).toBe('abc');
  });

  it('counts a request as in flight until the response body ends', async () => {
    let finish = () => {};
    const server = await serve((_, res) => {
      res.write('begun');
      finish = () => res.end();
    });
    const destination = to(server.address);
    const reply = await destination.send(outgoing().request);
    expect(destination.inFlight).toBe(1);
    finish();
    await textOf(reply);
    expect(destination.inFlight).toBe(0);
  });

  it('rejects with StatusError 400, not AttemptError, for an invalid header', async () => {
    const server = await serve((_, res) => res.end());
    const destination = to(server.address);
    const error = await refused(destination.send(outgoing({ headers: ['Host', 'x', 'X-Bad', 'a\nb'] }).request));
    expect(error).toMatchObject({ name: 'StatusError', status: { code: 400 } });
    expect(destination.inFlight).toBe(0);
  });

  it('rejects as aborted when the request body fails', async () => {
    const server = await serve(() => {});
    const body = new PassThrough();
    const destination = to(server.address);
    const sent = refused(destination.send(outgoing({ method: 'POST', body }).request));
    body.write('some');
    await until(() => server.requests.length === 1, 'request');
    body.destroy(new Error('client gone'));
    expect(await sent).toMatchObject({ processed: 'maybe', type: 'aborted' });
    expect(destination.inFlight).toBe(0);
  });
});

describe('PooledDestination with an unreachable server', () => {
  it('rejects as unsent when the connection is refused', async () => {
    const error = await refused(to(await closedAddress()).send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'connect' });
    expect(error.message).toMatch(/127\.0\.0\.1/);
  });

  it('rejects as unsent when the certificate is signed by an unknown CA', async () => {
    const server = await serve((_, res) => res.end());
    const error = await refused(to(server.address, { tls: { ...tls, ca: otherCa.pem } }).send(outgoing().request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'tls' });
    expect(server.requests).toHaveLength(0);
  });

  it('rejects as unsent when the certificate is for another name', async () => {
    const server = await serve((_, res) => res.end());
    const error = await refused(to(server.address, { tls: { ...tls, servername: 'other' } }).send(outgoing().request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'tls' });
  });

  it('rejects as unsent when the server does not speak TLS or closes during the handshake', async () => {
    const plain = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await refused(to(plain.address).send(outgoing().request))).toMatchObject({
      processed: 'unsent',
      type: 'tls',
    });
    const rude = await serveRaw((socket) => socket.destroy());
    expect(await refused(to(rude.address).send(outgoing().request))).toMatchObject({ processed: 'unsent' });
  });

  it('rejects as unsent after the connect timeout when the TLS handshake does not start', async () => {
    const silent = await serveRaw(() => {});
    const error = await refused(
      to(silent.address, { connectTimeoutMs: 100 }).send(outgoing({ method: 'POST' }).request),
    );
    expect(error).toMatchObject({ processed: 'unsent', type: 'timeout' });
  });

  it('does not read a streamed request body, so that it can be sent to the next server', async () => {
    const server = await serve((req, res) => req.pipe(res));
    const source = Readable.from([Buffer.from('large '), Buffer.from('upload')]);
    const body = new RequestBody(source);
    const wrong = await serve((_, res) => res.end());
    const failing = [
      to(await closedAddress()),
      to(wrong.address, { tls: { ...tls, ca: otherCa.pem } }),
      to((await serveRaw((socket) => socket.destroy())).address),
    ];
    for (const destination of failing) {
      expect(await refused(destination.send(outgoing({ method: 'POST', body }).request))).toMatchObject({
        processed: 'unsent',
      });
      expect(body.readableDidRead).toBe(false);
      expect(body.destroyed).toBe(false);
    }
    const reply = await to(server.address).send(outgoing({ method: 'POST', body }).request);
    expect(await textOf(reply)).toBe('large upload');
  });
});

describe('PooledDestination with a failing server', () => {
  it('rejects as maybe processed when the connection is reset before the response', async () => {
    const server = await serve((req) => req.socket.destroy());
    const destination = to(server.address);
    const error = await refused(destination.send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'reset' });
    expect(destination.inFlight).toBe(0);
  });

  it('rejects as maybe processed when the response is not HTTP', async () => {
    const server = await serve((req) => req.socket.end('this is not HTTP\r\n\r\n'));
    expect(await refused(to(server.address).send(outgoing().request))).toMatchObject({ processed: 'maybe' });
  });

  it('rejects as maybe processed after the head timeout', async () => {
    const server = await serve(() => {});
    const error = await refused(to(server.address).send(outgoing({ headTimeoutMs: 50 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
  });

  it('fails the response body when the connection closes before its end', async () => {
    const server = await serve((req, res) => {
      res.writeHead(200, { 'Content-Length': '100' });
      res.write('some', () => req.socket.destroy());
    });
    const reply = await to(server.address).send(outgoing().request);
    await expect(textOf(reply)).rejects.toMatchObject({ name: 'AttemptError' });
  });

  it('abandonWaiting fails requests without a response head and keeps streaming ones', async () => {
    const server = await serve((req, res) => {
      if (req.url === '/watch') res.write('event\n');
    });
    const destination = to(server.address);
    const watch = await destination.send(outgoing({ target: '/watch' }).request);
    const waiting = refused(destination.send(outgoing({ target: '/list' }).request));
    await until(() => server.requests.length === 2, 'requests');
    destination.abandonWaiting('it hangs');
    expect(await waiting).toMatchObject({ processed: 'maybe', type: 'hang' });
    expect(destination.inFlight).toBe(1);
    (watch.body as BodyStream).cancel(new Error('enough'));
    await until(() => destination.inFlight === 0, 'end');
  });

  it('abandonWaiting leaves a request waiting until another server could take it', async () => {
    const server = await serve(() => {});
    const destination = to(server.address);
    let hasAlternative = false;
    const askedBegun: boolean[] = [];
    const ask = (begun: boolean) => {
      askedBegun.push(begun);
      return hasAlternative;
    };
    const waiting = refused(destination.send(outgoing({ hasAlternative: ask }).request));
    await until(() => server.requests.length === 1, 'request');
    destination.abandonWaiting('it hangs');
    expect(destination.inFlight).toBe(1);
    hasAlternative = true;
    destination.abandonWaiting('it still hangs');
    expect(await waiting).toMatchObject({ type: 'hang', message: expect.stringContaining('it still hangs') });
    expect(askedBegun).toEqual([true, true]);
  });

  it('abandonWaiting rejects as unsent while connecting', async () => {
    const silent = await serveRaw(() => {});
    const destination = to(silent.address);
    const waiting = refused(destination.send(outgoing({ method: 'POST', body: Buffer.from('x') }).request));
    destination.abandonWaiting('it hangs');
    expect(await waiting).toMatchObject({ processed: 'unsent', type: 'hang' });
  });
});

describe('PooledDestination response flow', () => {
  it('applies back-pressure to the server while the receiver is slow', async () => {
    let sentBytes = 0;
    const chunk = Buffer.alloc(64 * 1024, 1);
    const server = await serve((_, res) => {
      const write = () => {
        while (sentBytes < 256 * 1024 * 1024) {
          sentBytes += chunk.byteLength;
          if (!res.write(chunk)) return;
        }
        res.end();
      };
      res.on('drain', write);
      write();
    });
    const reply = await to(server.address).send(outgoing().request);
    let receivedBytes = 0;
    const body = reply.body as BodyStream;
    body.attach({
      write: (part) => {
        receivedBytes += part.byteLength;
        return false;
      },
      end: () => {},
      fail: () => {},
    });
    let before = -1;
    while (before !== sentBytes) {
      before = sentBytes;
      await settle(200);
    }
    // At most the kernel's socket buffers on both sides and one read.
    expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
    const heldBytes = receivedBytes;
    body.resume();
    await until(() => receivedBytes > heldBytes, 'more');
    body.cancel(new Error('enough'));
  });

  it('closes the connection to the server when the caller aborts before or after the response head', async () => {
    let closed = 0;
    const server = await serve((req, res) => {
      req.socket.on('close', () => closed++);
      if (req.url === '/stream') res.write('x');
    });
    const destination = to(server.address);
    const stream = outgoing({ target: '/stream' });
    const reply = await destination.send(stream.request);
    const failed = textOf(reply).catch((error) => error);
    stream.leave();
    expect(await failed).toMatchObject({ type: 'aborted' });
    await until(() => closed === 1, 'the stream to be closed');
    const waiting = outgoing({ target: '/wait' });
    const sent = refused(destination.send(waiting.request));
    await until(() => server.requests.length === 2, 'request');
    waiting.leave();
    expect(await sent).toMatchObject({ type: 'aborted' });
    await until(() => closed === 2, 'the request to be closed');
    expect(destination.inFlight).toBe(0);
    expect(waiting.listeners.size + stream.listeners.size).toBe(0);
  });

  it('sends nothing for a caller that has already aborted', async () => {
    const server = await serve((_, res) => res.end());
    const destination = to(server.address);
    const { request } = outgoing({
      onAbort: (listener) => {
        listener();
        return () => {};
      },
    });
    expect(await refused(destination.send(request))).toMatchObject({ type: 'aborted' });
    expect(destination.inFlight).toBe(0);
    expect(server.requests).toHaveLength(0);
  });
});

describe('PooledDestination.replaceTls', () => {
  it('uses the new certificates for new connections; open requests end on the old ones', async () => {
    let finish = () => {};
    const server = await serve((req, res) => {
      if (req.url === '/slow') finish = () => res.end('slow');
      else res.end('quick');
    });
    const destination = to(server.address);
    const slow = destination.send(outgoing({ target: '/slow' }).request);
    await until(() => server.requests.length === 1, 'request');
    destination.replaceTls({ ...tls, ca: otherCa.pem });
    expect(await refused(destination.send(outgoing().request))).toMatchObject({ type: 'tls' });
    finish();
    expect(await textOf(await slow)).toBe('slow');
    destination.replaceTls({ ...tls, ca: `${otherCa.pem}${ca.pem}` });
    expect(await textOf(await destination.send(outgoing().request))).toBe('quick');
  });
});

describe('PooledDestination.close', () => {
  it('fails open requests and rejects new ones', async () => {
    const server = await serve(() => {});
    const destination = to(server.address);
    const waiting = refused(destination.send(outgoing().request));
    await until(() => server.requests.length === 1, 'request');
    await destination.close();
    expect(await waiting).toMatchObject({ name: 'AttemptError', processed: 'maybe', type: 'closed' });
    expect(await refused(destination.send(outgoing().request))).toMatchObject({ processed: 'unsent', type: 'closed' });
    expect(destination.inFlight).toBe(0);
  });

  it('rejects a request as unsent while connecting', async () => {
    const silent = await serveRaw(() => {});
    const destination = to(silent.address);
    const waiting = refused(destination.send(outgoing({ method: 'POST' }).request));
    await destination.close();
    expect(await waiting).toMatchObject({ processed: 'unsent', type: 'closed' });
    expect(destination.inFlight).toBe(0);
  });

  it('fails open requests on connections with replaced certificates', async () => {
    const server = await serve(() => {});
    const destination = to(server.address);
    const waiting = refused(destination.send(outgoing().request));
    await until(() => server.requests.length === 1, 'request');
    destination.replaceTls(tls);
    await destination.close();
    expect(await waiting).toMatchObject({ processed: 'maybe', type: 'closed' });
  });
});
