import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import type { BodyStream } from '../body-stream.js';
import type { Reply } from '../exchange.js';
import { outgoing, serveScript, serveTcp, textOf, tls } from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function to(address: string, keepAliveMs = 10_000): PooledDestination {
  const destination = new PooledDestination({ address, tls, connectTimeoutMs: 3_000, keepAliveMs });
  cleanUps.push(() => destination.close());
  return destination;
}

async function script(...args: Parameters<typeof serveScript>) {
  const server = await serveScript(...args);
  cleanUps.push(server.close);
  return server;
}

/**
 * Starts a server that sends `answer(count)` to the count-th request (without a body) of each
 * connection.
 */
const answering = (answer: (count: number) => string) =>
  script((socket, received) => socket.write(answer(received.split('\r\n\r\n').length - 1), 'latin1'));

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => error,
  );

const ask = async (destination: PooledDestination, more: Parameters<typeof outgoing>[0] = {}) =>
  textOf(await destination.send(outgoing(more).request));

const OK = 'HTTP/1.1 200 OK\r\n';
const HELLO = `${OK}Content-Length: 5\r\n\r\nhello`;

describe('Http1Connection reuse', () => {
  it('sends consecutive requests on one connection, with Content-Length and chunked responses', async () => {
    const answers = [HELLO, `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`];
    const server = await answering((count) => answers[count % 2]!);
    const destination = to(server.address);
    const heard: string[] = [];
    for (let i = 0; i < 4; i++) heard.push(await ask(destination));
    expect(heard).toEqual(['abc', 'hello', 'abc', 'hello']);
    expect(server.sockets).toHaveLength(1);
  });

  it('sends one request at a time on a connection', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await Promise.all([ask(destination), ask(destination), ask(destination)]);
    expect(server.sockets).toHaveLength(3);
    await Promise.all([ask(destination), ask(destination), ask(destination)]);
    expect(server.sockets).toHaveLength(3);
  });

  it('does not reuse an idle connection that the server closed', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    server.sockets[0]!.end();
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination, { method: 'POST' })).toBe('hello');
    expect(server.sockets).toHaveLength(2);
  });

  it('detects before it writes that the server has just closed the connection', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    for (let round = 0; round < 5; round++) {
      const last = server.sockets.at(-1)!;
      // After setImmediate the FIN has reached the client's socket, but no read event was handled
      // yet.
      await new Promise<void>((resolve) => last.end(() => setImmediate(resolve)));
      expect(await ask(destination, { method: 'POST' })).toBe('hello');
    }
  });

  it.each([
    ['unsolicited bytes', `${HELLO}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`],
    ['HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['Connection: close', `${OK}Connection: close\r\nContent-Length: 5\r\n\r\nhello`],
    ['a Keep-Alive timeout of 2 s', `${OK}Keep-Alive: timeout=2\r\nContent-Length: 5\r\n\r\nhello`],
  ])('does not reuse a connection after a response with %s', async (_, answer) => {
    const server = await answering(() => answer);
    const destination = to(server.address);
    expect(await ask(destination)).toBe('hello');
    expect(await ask(destination)).toBe('hello');
    expect(server.sockets).toHaveLength(2);
  });

  it('closes an idle connection on which the server sends unsolicited bytes', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    server.sockets[0]!.write(HELLO.replace('hello', 'wrong'));
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination)).toBe('hello');
  });

  it('does not reuse a connection after HEAD, to which some servers send a body', async () => {
    const server = await answering((count) => (count === 1 ? `${OK}Content-Length: 5\r\n\r\n` : HELLO));
    const destination = to(server.address);
    const reply = await destination.send(outgoing({ method: 'HEAD' }).request);
    expect(reply.headers).toEqual(['Content-Length', '5']);
    expect(await textOf(reply)).toBe('');
    expect(server.received()).toContain('\r\nconnection: close\r\n');
    await until(() => server.connections.size === 0, 'close');
  });

  it.each([
    'HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\n',
    'HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n',
    'HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n',
  ])('does not reuse a connection after a response with a body length that its status forbids: %j', async (head) => {
    const server = await answering(() => head);
    const destination = to(server.address);
    expect(await ask(destination)).toBe('');
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination)).toBe('');
    expect(server.sockets).toHaveLength(2);
  });

  it('closes an idle connection after keepAliveMs', async () => {
    const server = await answering(() => HELLO);
    await ask(to(server.address, 30));
    await until(() => server.connections.size === 0, 'close');
  });
});

describe('Http1Connection responses', () => {
  it.each([204, 304])('reads status %i without a body', async (status) => {
    const server = await answering(() => `HTTP/1.1 ${status} X\r\nETag: "a"\r\n\r\n`);
    const destination = to(server.address);
    for (let i = 0; i < 2; i++) {
      const reply = await destination.send(outgoing().request);
      expect(reply).toMatchObject({ status, headers: ['ETag', '"a"'] });
      expect(await textOf(reply)).toBe('');
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('reads a body without a length until the connection closes', async () => {
    const server = await script((socket) => {
      socket.write(`${OK}\r\nsome `);
      socket.end('more');
    });
    expect(await ask(to(server.address))).toBe('some more');
  });

  it('skips informational responses that arrive byte by byte', async () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${HELLO}`;
    const server = await script((socket) => {
      socket.setNoDelay(true);
      for (const character of text) socket.write(character);
    });
    expect(await ask(to(server.address))).toBe('hello');
  });

  it('passes response fields unchanged, without hop-by-hop fields', async () => {
    const server = await answering(
      () =>
        `${OK}X-B: 1\r\nConnection: X-Hop\r\nx-b: 2\r\nX-Hop: 3\r\nTrailer: T\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    const reply = await to(server.address).send(outgoing().request);
    expect(reply.headers).toEqual(['X-B', '1', 'x-b', '2', 'Trailer', 'T']);
  });

  it.each([
    ['within the head', `${OK}Content-Le`, 'reset'],
    ['without a byte', '', 'reset'],
    ['with garbage', 'garbage\r\n\r\n', 'protocol'],
    ['with a head above the size limit', `${OK}A: ${'a'.repeat(300 * 1024)}`, 'protocol'],
    ['with an unexpected 101', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', 'protocol'],
  ])('fails a request whose response ends %s as maybe processed', async (_, text, type) => {
    const server = await script((socket) => socket.end(text));
    const destination = to(server.address);
    const error = await failure(destination.send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ name: 'AttemptError', processed: 'maybe', type });
    expect(destination.inFlight).toBe(0);
  });

  it.each([
    ['within the body', `${OK}Content-Length: 10\r\n\r\nhell`],
    ['within a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhell`],
    ['between chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n`],
  ])('fails a body that ends %s: it never seems complete', async (_, text) => {
    const server = await script((socket) => socket.write(text));
    const destination = to(server.address);
    const reply = await destination.send(outgoing().request);
    server.sockets[0]!.end();
    expect(await failure(textOf(reply))).toMatchObject({ name: 'AttemptError', type: 'reset' });
    expect(destination.inFlight).toBe(0);
  });

  it('fails a body without a length when the connection is reset', async () => {
    const server = await script((socket) => socket.write(`${OK}\r\nsome`));
    const reply = await to(server.address).send(outgoing().request);
    for (const socket of server.connections) socket.resetAndDestroy();
    expect(await failure(textOf(reply))).toMatchObject({ name: 'AttemptError', type: 'reset' });
  });

  it('fails a body with a malformed chunk and closes the connection', async () => {
    const server = await script((socket) => socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`));
    const reply = await to(server.address).send(outgoing().request);
    server.sockets[0]!.write('garbage');
    expect(await failure(textOf(reply))).toMatchObject({ type: 'protocol' });
    await until(() => server.connections.size === 0, 'close');
  });

  it('applies back-pressure for a slow reader, and reuses the connection afterwards', async () => {
    const size = 8 * 1024 * 1024;
    let sentBytes = 0;
    const server = await script((socket) => {
      if (sentBytes > 0) {
        socket.write(HELLO);
        return;
      }
      socket.write(`${OK}Content-Length: ${size}\r\n\r\n`);
      const more = () => {
        while (sentBytes < size) {
          sentBytes += 64 * 1024;
          if (!socket.write(Buffer.alloc(64 * 1024, 'x'))) return;
        }
      };
      socket.on('drain', more);
      more();
    });
    const destination = to(server.address);
    const reply = await destination.send(outgoing().request);
    await settle(200);
    expect(reply.body).not.toBeInstanceOf(Uint8Array);
    expect((await textOf(reply)).length).toBe(size);
    expect(await ask(destination)).toBe('hello');
    expect(server.sockets).toHaveLength(1);
  });
});

describe('Http1Connection streamed responses', () => {
  it('passes small pieces in buffers of their own size', async () => {
    const server = await script((socket) => socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n`));
    const reply = await to(server.address).send(outgoing().request);
    const pieces: Uint8Array[] = [];
    (reply.body as BodyStream).attach({ write: (piece) => pieces.push(piece) > 0, end: () => {}, fail: () => {} });
    for (let i = 1; i <= 3; i++) {
      server.sockets[0]!.write(`1\r\n${i}\r\n`);
      await until(() => pieces.length === i, 'piece');
    }
    expect(Buffer.concat(pieces).toString()).toBe('123');
    expect(pieces.map((piece) => piece.buffer.byteLength)).toEqual([1, 1, 1]);
  });
});

describe('Http1Connection when the caller aborts', () => {
  it('cancels the dial while connecting', async () => {
    const silent = await serveTcp((socket) => socket.resume());
    cleanUps.push(silent.close);
    const destination = to(silent.address);
    const { request, leave } = outgoing({ method: 'POST' });
    const sent = failure(destination.send(request));
    await until(() => silent.connections.size === 1, 'connection');
    leave();
    expect(await sent).toMatchObject({ type: 'aborted' });
    await until(() => silent.connections.size === 0, 'close');
    expect(destination.inFlight).toBe(0);
  });

  it('reuses a reserved connection on which nothing was written', async () => {
    const server = await answering((count) => HELLO.replace('hello', `no. ${count}`));
    const destination = to(server.address);
    await ask(destination);
    const { request, leave } = outgoing({ target: '/left' });
    const sent = failure(destination.send(request));
    leave();
    expect(await sent).toMatchObject({ type: 'aborted' });
    const next = await Promise.all([ask(destination), ask(destination)]);
    expect(next.sort()).toEqual(['no. 1', 'no. 2']);
    expect(server.received()).not.toContain('/left');
  });

  it('closes the connection of a streaming response', async () => {
    const server = await script((socket) => socket.write(`${OK}Content-Length: 100\r\n\r\nsome`));
    const destination = to(server.address);
    const reply: Reply = await destination.send(outgoing().request);
    (reply.body as BodyStream).cancel(new Error('enough'));
    await until(() => server.connections.size === 0, 'close');
    expect(destination.inFlight).toBe(0);
  });
});

describe('Http1Connection head timeout', () => {
  it('fails a request without a response head as timeout and closes the connection', async () => {
    const server = await script(() => {});
    const error = await failure(to(server.address).send(outgoing({ headTimeoutMs: 40 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
    await until(() => server.connections.size === 0, 'close');
  });

  it('is not extended by informational responses', async () => {
    const server = await script((socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
    const error = await failure(to(server.address).send(outgoing({ headTimeoutMs: 40 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
  });
});
