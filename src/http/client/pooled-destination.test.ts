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
      throw new Error('was answered');
    },
    (error) => error,
  );

describe('a request', () => {
  it('goes out with its method, raw target, headers and body, and the answer streams back', async () => {
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

  it('is verified against the name it was told, not the one the client wrote into Host', async () => {
    const server = await serve((req, res) => res.end(String((req.socket as TLSSocket).servername)));
    const destination = to(server.address);
    for (const host of ['evil.example', '10.0.0.1:6443', 'kubernetes', 'a', 'b', 'c']) {
      const reply = await destination.send(outgoing({ headers: ['Host', host] }).request);
      expect(await textOf(reply)).toBe('kubernetes.default.svc');
    }
    // Nor does each name get a connection of its own.
    expect(server.connections.size).toBeLessThan(3);
  });

  it('shows the front-proxy certificate on that lane only, each lane on connections of its own', async () => {
    const server = await serve((req, res) => res.end(peerName(req) ?? 'nobody'));
    const destination = to(server.address);
    const ask = async (lane: 'plain' | 'front-proxy') => textOf(await destination.send(outgoing({ lane }).request));
    expect(await ask('front-proxy')).toBe('front-proxy-client');
    expect(await ask('plain')).toBe('nobody');
    expect(await ask('front-proxy')).toBe('front-proxy-client');
    expect(server.connections.size).toBe(2);
  });

  it('carries trailers', async () => {
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

  it('passes over informational answers', async () => {
    const server = await serve((_, res) => {
      res.writeProcessing();
      res.writeEarlyHints({ link: '</x>; rel=preload' });
      res.end('real');
    });
    const reply = await to(server.address).send(outgoing().request);
    expect(reply.status).toBe(200);
    expect(await textOf(reply)).toBe('real');
  });

  it('streams a body of unknown length', async () => {
    const server = await serve((req, res) => req.pipe(res));
    const body = Readable.from([Buffer.from('a'), Buffer.from('b'), Buffer.from('c')]);
    expect(await textOf(await to(server.address).send(outgoing({ method: 'PUT', body }).request))).toBe('abc');
  });

  it('counts as in flight until its body has ended', async () => {
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

  it('is not held against the server when it cannot be put on the wire', async () => {
    const server = await serve((_, res) => res.end());
    const destination = to(server.address);
    const error = await refused(destination.send(outgoing({ headers: ['Host', 'x', 'X-Bad', 'a\nb'] }).request));
    expect(error).toMatchObject({ name: 'StatusError', status: { code: 400 } });
    expect(destination.inFlight).toBe(0);
  });

  it('fails as the caller’s own when its body breaks off', async () => {
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

describe('a server that cannot be reached', () => {
  it('refuses connections: unsent', async () => {
    const error = await refused(to(await closedAddress()).send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'connect' });
    expect(error.message).toMatch(/127\.0\.0\.1/);
  });

  it('is signed by another authority: unsent', async () => {
    const server = await serve((_, res) => res.end());
    const error = await refused(to(server.address, { tls: { ...tls, ca: otherCa.pem } }).send(outgoing().request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'tls' });
    expect(server.requests).toHaveLength(0);
  });

  it('has another name: unsent', async () => {
    const server = await serve((_, res) => res.end());
    const error = await refused(to(server.address, { tls: { ...tls, servername: 'other' } }).send(outgoing().request));
    expect(error).toMatchObject({ processed: 'unsent', type: 'tls' });
  });

  it('speaks no TLS, or hangs up in the handshake: unsent', async () => {
    const plain = await serveRaw((socket) => socket.end('HTTP/1.1 400 Bad Request\r\n\r\n'));
    expect(await refused(to(plain.address).send(outgoing().request))).toMatchObject({
      processed: 'unsent',
      type: 'tls',
    });
    const rude = await serveRaw((socket) => socket.destroy());
    expect(await refused(to(rude.address).send(outgoing().request))).toMatchObject({ processed: 'unsent' });
  });

  it('takes the connection and says nothing: unsent, in bounded time', async () => {
    const silent = await serveRaw(() => {});
    const error = await refused(
      to(silent.address, { connectTimeoutMs: 100 }).send(outgoing({ method: 'POST' }).request),
    );
    expect(error).toMatchObject({ processed: 'unsent', type: 'timeout' });
  });

  it('leaves a streamed body untouched, so that it can go to the next server', async () => {
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

describe('a server that fails in the middle', () => {
  it('resets before it answers: may have been processed', async () => {
    const server = await serve((req) => req.socket.destroy());
    const destination = to(server.address);
    const error = await refused(destination.send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'reset' });
    expect(destination.inFlight).toBe(0);
  });

  it('answers garbage: may have been processed', async () => {
    const server = await serve((req) => req.socket.end('this is not HTTP\r\n\r\n'));
    expect(await refused(to(server.address).send(outgoing().request))).toMatchObject({ processed: 'maybe' });
  });

  it('does not answer in time: may have been processed', async () => {
    const server = await serve(() => {});
    const error = await refused(to(server.address).send(outgoing({ headTimeoutMs: 50 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
  });

  it('breaks off its body: the receiver sees a failure, not an end', async () => {
    const server = await serve((req, res) => {
      res.writeHead(200, { 'Content-Length': '100' });
      res.write('some', () => req.socket.destroy());
    });
    const reply = await to(server.address).send(outgoing().request);
    await expect(textOf(reply)).rejects.toMatchObject({ name: 'AttemptError' });
  });

  it('is found to hang: requests without an answer fail, streams go on', async () => {
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

  it('is found to hang before a connection was made: nothing was sent', async () => {
    const silent = await serveRaw(() => {});
    const destination = to(silent.address);
    const waiting = refused(destination.send(outgoing({ method: 'POST', body: Buffer.from('x') }).request));
    destination.abandonWaiting('it hangs');
    expect(await waiting).toMatchObject({ processed: 'unsent', type: 'hang' });
  });
});

describe('flow', () => {
  it('is held back by a slow receiver: the server cannot send without bound', async () => {
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
    // Kernel buffers of both ends and one read; far from all of it.
    expect(sentBytes).toBeLessThan(32 * 1024 * 1024);
    const heldBytes = receivedBytes;
    body.resume();
    await until(() => receivedBytes > heldBytes, 'more');
    body.cancel(new Error('enough'));
  });

  it('ends at the server at once when the caller leaves, before or after the head', async () => {
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

  it('never begins for a caller that had left', async () => {
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

describe('certificates that change', () => {
  it('are used by new connections; what is under way ends on the old ones', async () => {
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

describe('a destination that is closed', () => {
  it('fails what is under way and takes nothing more', async () => {
    const server = await serve(() => {});
    const destination = to(server.address);
    const waiting = refused(destination.send(outgoing().request));
    await until(() => server.requests.length === 1, 'request');
    await destination.close();
    expect(await waiting).toMatchObject({ name: 'AttemptError', processed: 'maybe', type: 'closed' });
    expect(await refused(destination.send(outgoing().request))).toMatchObject({ processed: 'unsent', type: 'closed' });
    expect(destination.inFlight).toBe(0);
  });

  it('says that nothing was sent where no connection was made yet', async () => {
    const silent = await serveRaw(() => {});
    const destination = to(silent.address);
    const waiting = refused(destination.send(outgoing({ method: 'POST' }).request));
    await destination.close();
    expect(await waiting).toMatchObject({ processed: 'unsent', type: 'closed' });
    expect(destination.inFlight).toBe(0);
  });

  it('ends what is under way on connections of certificates before, too', async () => {
    const server = await serve(() => {});
    const destination = to(server.address);
    const waiting = refused(destination.send(outgoing().request));
    await until(() => server.requests.length === 1, 'request');
    destination.replaceTls(tls);
    await destination.close();
    expect(await waiting).toMatchObject({ processed: 'maybe', type: 'closed' });
  });
});
