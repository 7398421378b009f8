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

/** Answers each request (they have no bodies) with what `answer` says, by its number on that connection. */
const answering = (answer: (count: number) => string) =>
  script((socket, received) => socket.write(answer(received.split('\r\n\r\n').length - 1), 'latin1'));

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('went well');
    },
    (error) => error,
  );

const ask = async (destination: PooledDestination, more: Parameters<typeof outgoing>[0] = {}) =>
  textOf(await destination.send(outgoing(more).request));

const OK = 'HTTP/1.1 200 OK\r\n';
const HELLO = `${OK}Content-Length: 5\r\n\r\nhello`;

describe('a connection', () => {
  it('carries one request after another, whatever their answers look like', async () => {
    const answers = [HELLO, `${OK}Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n1\r\nc\r\n0\r\n\r\n`];
    const server = await answering((count) => answers[count % 2]!);
    const destination = to(server.address);
    const heard: string[] = [];
    for (let i = 0; i < 4; i++) heard.push(await ask(destination));
    expect(heard).toEqual(['abc', 'hello', 'abc', 'hello']);
    expect(server.sockets).toHaveLength(1);
  });

  it('carries one request at a time', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await Promise.all([ask(destination), ask(destination), ask(destination)]);
    expect(server.sockets).toHaveLength(3);
    await Promise.all([ask(destination), ask(destination), ask(destination)]);
    expect(server.sockets).toHaveLength(3);
  });

  it('that the server closes while idle is forgotten', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    server.sockets[0]!.end();
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination, { method: 'POST' })).toBe('hello');
    expect(server.sockets).toHaveLength(2);
  });

  it('that the server has just closed is found out before anything is sent', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    for (let round = 0; round < 5; round++) {
      const last = server.sockets.at(-1)!;
      // From within an immediate: the news is at the client's socket then, and nobody has looked there yet.
      await new Promise<void>((resolve) => last.end(() => setImmediate(resolve)));
      expect(await ask(destination, { method: 'POST' })).toBe('hello');
    }
  });

  it.each([
    ['says something between two requests', `${HELLO}HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil`],
    ['is of HTTP/1.0', 'HTTP/1.0 200 OK\r\nContent-Length: 5\r\n\r\nhello'],
    ['says that it closes', `${OK}Connection: close\r\nContent-Length: 5\r\n\r\nhello`],
    ['is about to close', `${OK}Keep-Alive: timeout=2\r\nContent-Length: 5\r\n\r\nhello`],
  ])('whose server %s is not used again', async (_, answer) => {
    const server = await answering(() => answer);
    const destination = to(server.address);
    expect(await ask(destination)).toBe('hello');
    expect(await ask(destination)).toBe('hello');
    expect(server.sockets).toHaveLength(2);
  });

  it('on which the server speaks unasked, later, is closed', async () => {
    const server = await answering(() => HELLO);
    const destination = to(server.address);
    await ask(destination);
    server.sockets[0]!.write(HELLO.replace('hello', 'wrong'));
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination)).toBe('hello');
  });

  it('is not used again after HEAD, whose answer some servers send a body with', async () => {
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
  ])('is not used again after an answer that announces a body it cannot have: %j', async (head) => {
    const server = await answering(() => head);
    const destination = to(server.address);
    expect(await ask(destination)).toBe('');
    await until(() => server.connections.size === 0, 'close');
    expect(await ask(destination)).toBe('');
    expect(server.sockets).toHaveLength(2);
  });

  it('is closed when idle for long enough', async () => {
    const server = await answering(() => HELLO);
    await ask(to(server.address, 30));
    await until(() => server.connections.size === 0, 'close');
  });
});

describe('an answer', () => {
  it.each([204, 304])('%i has no body', async (status) => {
    const server = await answering(() => `HTTP/1.1 ${status} X\r\nETag: "a"\r\n\r\n`);
    const destination = to(server.address);
    for (let i = 0; i < 2; i++) {
      const reply = await destination.send(outgoing().request);
      expect(reply).toMatchObject({ status, headers: ['ETag', '"a"'] });
      expect(await textOf(reply)).toBe('');
    }
    expect(server.sockets).toHaveLength(1);
  });

  it('without a length ends with its connection', async () => {
    const server = await script((socket) => {
      socket.write(`${OK}\r\nsome `);
      socket.end('more');
    });
    expect(await ask(to(server.address))).toBe('some more');
  });

  it('comes after informational ones, in any number of pieces', async () => {
    const text = `HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n${HELLO}`;
    const server = await script((socket) => {
      socket.setNoDelay(true);
      for (const character of text) socket.write(character);
    });
    expect(await ask(to(server.address))).toBe('hello');
  });

  it('keeps its fields as they came, but for what concerns the connection', async () => {
    const server = await answering(
      () =>
        `${OK}X-B: 1\r\nConnection: X-Hop\r\nx-b: 2\r\nX-Hop: 3\r\nTrailer: T\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
    );
    const reply = await to(server.address).send(outgoing().request);
    expect(reply.headers).toEqual(['X-B', '1', 'x-b', '2', 'Trailer', 'T']);
  });

  it.each([
    ['in its head', `${OK}Content-Le`, 'reset'],
    ['right away', '', 'reset'],
    ['with garbage', 'garbage\r\n\r\n', 'protocol'],
    ['with a head without end', `${OK}A: ${'a'.repeat(300 * 1024)}`, 'protocol'],
    ['with a protocol that nobody asked for', 'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n', 'protocol'],
  ])('that breaks off %s may have been processed', async (_, text, type) => {
    const server = await script((socket) => socket.end(text));
    const destination = to(server.address);
    const error = await failure(destination.send(outgoing({ method: 'POST' }).request));
    expect(error).toMatchObject({ name: 'AttemptError', processed: 'maybe', type });
    expect(destination.inFlight).toBe(0);
  });

  it.each([
    ['in its body', `${OK}Content-Length: 10\r\n\r\nhell`],
    ['in a chunk', `${OK}Transfer-Encoding: chunked\r\n\r\n5\r\nhell`],
    ['between chunks', `${OK}Transfer-Encoding: chunked\r\n\r\n4\r\nhell\r\n`],
  ])('that breaks off %s fails and never ends', async (_, text) => {
    const server = await script((socket) => socket.write(text));
    const destination = to(server.address);
    const reply = await destination.send(outgoing().request);
    server.sockets[0]!.end();
    expect(await failure(textOf(reply))).toMatchObject({ name: 'AttemptError', type: 'reset' });
    expect(destination.inFlight).toBe(0);
  });

  it('without a length that is cut by a reset fails and never ends', async () => {
    const server = await script((socket) => socket.write(`${OK}\r\nsome`));
    const reply = await to(server.address).send(outgoing().request);
    for (const socket of server.connections) socket.resetAndDestroy();
    expect(await failure(textOf(reply))).toMatchObject({ name: 'AttemptError', type: 'reset' });
  });

  it('that turns into garbage fails and ends its connection', async () => {
    const server = await script((socket) => socket.write(`${OK}Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n`));
    const reply = await to(server.address).send(outgoing().request);
    server.sockets[0]!.write('garbage');
    expect(await failure(textOf(reply))).toMatchObject({ type: 'protocol' });
    await until(() => server.connections.size === 0, 'close');
  });

  it('waits for a slow reader, and its connection takes another request after', async () => {
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

describe('a stream of small pieces', () => {
  it('keeps no more in memory for a slow reader than it has brought', async () => {
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

describe('a caller that leaves', () => {
  it('while the connection is made: nothing was sent, and it is not made further', async () => {
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

  it('before its request was written: the connection takes the next', async () => {
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

  it('while the answer streams: the connection ends', async () => {
    const server = await script((socket) => socket.write(`${OK}Content-Length: 100\r\n\r\nsome`));
    const destination = to(server.address);
    const reply: Reply = await destination.send(outgoing().request);
    (reply.body as BodyStream).cancel(new Error('enough'));
    await until(() => server.connections.size === 0, 'close');
    expect(destination.inFlight).toBe(0);
  });
});

describe('the time for an answer', () => {
  it('ends a request whose answer does not begin', async () => {
    const server = await script(() => {});
    const error = await failure(to(server.address).send(outgoing({ headTimeoutMs: 40 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
    await until(() => server.connections.size === 0, 'close');
  });

  it('is not stretched by informational answers', async () => {
    const server = await script((socket) => socket.write('HTTP/1.1 102 Processing\r\n\r\n'));
    const error = await failure(to(server.address).send(outgoing({ headTimeoutMs: 40 }).request));
    expect(error).toMatchObject({ processed: 'maybe', type: 'timeout' });
  });
});
