import { PassThrough, Readable } from 'node:stream';
import type { TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import { outgoing, serveScript, serveTcp, textOf, tls } from '../tls/tls-server.fixture.js';
import { PooledDestination } from './pooled-destination.js';

const cleanUps: (() => Promise<void>)[] = [];

afterEach(async () => {
  for (const cleanUp of cleanUps.splice(0).reverse()) await cleanUp();
});

function to(address: string): PooledDestination {
  const destination = new PooledDestination({ address, tls, connectTimeoutMs: 3_000, keepAliveMs: 10_000 });
  cleanUps.push(() => destination.close());
  return destination;
}

async function script(...args: Parameters<typeof serveScript>) {
  const server = await serveScript(...args);
  cleanUps.push(server.close);
  return server;
}

const failure = (work: Promise<unknown>) =>
  work.then(
    () => {
      throw new Error('expected a failure');
    },
    (error) => error,
  );

const DONE = 'HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ndone';
const answerAfter = (end: string) =>
  script((socket, received) => {
    if (received.endsWith(end)) socket.write(DONE);
  });
const upload = (body: Readable | Uint8Array, headers: readonly string[] = [], method = 'POST') =>
  outgoing({ method, body, headers: ['Host', 'x', ...headers] }).request;

describe('PooledDestination request bodies', () => {
  it('sends a body of known length with Content-Length, whole or streamed, and reuses the connection', async () => {
    const server = await answerAfter('bytes');
    const destination = to(server.address);
    const length = ['Content-Length', '5'];
    await textOf(await destination.send(upload(Buffer.from('bytes'))));
    await textOf(await destination.send(upload(Buffer.from('bytes'), length, 'DELETE')));
    await textOf(await destination.send(upload(Readable.from([Buffer.from('by'), Buffer.from('tes')]), length)));
    expect(server.received().split('\r\ncontent-length: 5\r\n\r\nbytes')).toHaveLength(4);
    expect(server.sockets).toHaveLength(1);
  });

  it('sends a body of unknown length chunked', async () => {
    const server = await answerAfter('\r\n0\r\n\r\n');
    const body = Readable.from([Buffer.from('a'), Buffer.from(''), Buffer.from('bc'.repeat(10))]);
    expect(await textOf(await to(server.address).send(upload(body)))).toBe('done');
    const [, sent] = server.received().split('\r\ntransfer-encoding: chunked\r\n\r\n');
    expect(sent).toBe(`1\r\na\r\n14\r\n${'bc'.repeat(10)}\r\n0\r\n\r\n`);
    expect(server.received()).not.toContain('content-length');
  });

  it('sends Content-Length: 0 for an empty body of POST, and none for DELETE', async () => {
    const server = await answerAfter('\r\n\r\n');
    const destination = to(server.address);
    await textOf(await destination.send(upload(Readable.from([]))));
    await textOf(await destination.send(upload(Buffer.alloc(0))));
    await textOf(await destination.send(outgoing({ method: 'POST' }).request));
    expect(server.received().split('content-length: 0')).toHaveLength(4);
    await textOf(await destination.send(outgoing({ method: 'DELETE' }).request));
    expect(server.received().split('content-length')).toHaveLength(4);
  });

  it('sends a large body in memory unchanged', async () => {
    const server = await answerAfter('!');
    const body = Buffer.concat([Buffer.alloc(200_000, 'x'), Buffer.from('!')]);
    expect(await textOf(await to(server.address).send(upload(body)))).toBe('done');
    expect(server.received().endsWith(`content-length: 200001\r\n\r\n${body}`)).toBe(true);
  });

  it('does not reuse the connection after a GET with a body', async () => {
    const server = await answerAfter('bytes');
    const destination = to(server.address);
    await textOf(await destination.send(upload(Buffer.from('bytes'), [], 'GET')));
    await textOf(await destination.send(upload(Buffer.from('bytes'), [], 'GET')));
    expect(server.sockets).toHaveLength(2);
  });

  it.each([
    ['longer', ['toolong', 'by far'], '4'],
    ['shorter', ['ab'], '4'],
    ['empty and so shorter', [], '4'],
  ])('rejects a streamed body %s than Content-Length with StatusError 400', async (_, parts, length) => {
    const server = await script(() => {});
    const destination = to(server.address);
    const body = Readable.from(parts.map((part) => Buffer.from(part)));
    const error = await failure(destination.send(upload(body, ['Content-Length', length])));
    expect(error).toMatchObject({ name: 'StatusError', status: { code: 400 } });
    expect(destination.inFlight).toBe(0);
    await until(() => server.connections.size === 0, 'close');
    expect(server.received()).not.toContain('toolong');
  });

  it('rejects a body in memory whose length differs from Content-Length with StatusError 400', async () => {
    const server = await script(() => {});
    const error = await failure(to(server.address).send(upload(Buffer.from('abc'), ['Content-Length', '2'])));
    expect(error).toMatchObject({ name: 'StatusError', status: { code: 400 } });
  });

  it('applies back-pressure to the request body while the server does not read', async () => {
    let reader: TLSSocket | undefined;
    const server = await script((socket) => {
      reader ??= socket.pause();
    });
    let given = 0;
    const total = 256 * 1024 * 1024;
    const body = new Readable({
      read() {
        given += 64 * 1024;
        this.push(given > total ? null : Buffer.alloc(64 * 1024));
      },
    });
    const destination = to(server.address);
    const sent = failure(destination.send(upload(body)));
    await until(() => reader !== undefined, 'first bytes');
    let before = -1;
    while (before !== given) {
      before = given;
      await settle(200);
    }
    expect(given).toBeLessThan(total / 4);
    await destination.close();
    expect(await sent).toMatchObject({ processed: 'maybe', type: 'closed' });
    expect(body.destroyed).toBe(true);
  });

  it('rejects as aborted and closes the connection when the request body is destroyed', async () => {
    const server = await script(() => {});
    const body = new PassThrough();
    const sent = failure(to(server.address).send(upload(body)));
    body.write('some');
    await until(() => server.received().endsWith('some'), 'first bytes');
    body.destroy();
    expect(await sent).toMatchObject({ processed: 'maybe', type: 'aborted' });
    await until(() => server.connections.size === 0, 'close');
  });

  it('does not read the request body if the request is abandoned while connecting', async () => {
    const silent = await serveTcp(() => {});
    cleanUps.push(silent.close);
    const destination = to(silent.address);
    const body = Readable.from([Buffer.from('x')]);
    const sent = failure(destination.send(upload(body)));
    destination.abandonWaiting('it hangs');
    expect(await sent).toMatchObject({ processed: 'unsent', type: 'hang' });
    expect(body.readableDidRead || body.destroyed).toBe(false);
  });
});

describe('PooledDestination with a response before the end of the request body', () => {
  const refusing = (head: string) =>
    script((socket, received) => {
      if (received.includes('more')) return;
      socket.write(`HTTP/1.1 413 Too Large\r\n${head}Content-Length: 4\r\n\r\nmuch`);
    });

  it.each(['', 'Connection: close\r\n'])(
    'returns the response, destroys the request body and closes the connection (head: %j)',
    async (head) => {
      const server = await refusing(head);
      const body = new PassThrough();
      const destination = to(server.address);
      const sent = destination.send(upload(body, ['Content-Length', '1000000']));
      body.write('some');
      const reply = await sent;
      expect(reply.status).toBe(413);
      expect(await textOf(reply)).toBe('much');
      expect(destination.inFlight).toBe(0);
      expect(body.destroyed).toBe(true);
      await until(() => server.connections.size === 0, 'close');
    },
  );

  it('stops sending after a refusal with Connection: close, and reads the rest of the response', async () => {
    const server = await script((socket) => {
      socket.write('HTTP/1.1 413 Too Large\r\nConnection: close\r\nContent-Length: 8\r\n\r\nmuch');
    });
    const body = new PassThrough();
    const sent = to(server.address).send(upload(body));
    body.write('some');
    const reply = await sent;
    expect(body.destroyed).toBe(true);
    server.sockets[0]!.end(' too');
    expect(await textOf(reply)).toBe('much too');
  });

  it('does not reuse the connection while a body in memory is still unsent', async () => {
    const server = await script((socket, received) => {
      if (received.startsWith('POST')) socket.pause();
      socket.write(DONE);
    });
    const destination = to(server.address);
    expect(await textOf(await destination.send(upload(Buffer.alloc(32 * 1024 * 1024))))).toBe('done');
    expect(await textOf(await destination.send(outgoing().request))).toBe('done');
    expect(server.sockets).toHaveLength(2);
  });

  it('streams request and response bodies at the same time', async () => {
    const server = await script((socket, received) => {
      if (received.endsWith('\r\n0\r\n\r\n')) socket.write('0\r\n\r\n');
      else if (received.endsWith('a')) socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nA\r\n');
      else if (received.endsWith('b')) socket.write('1\r\nB\r\n');
    });
    const body = new PassThrough();
    const destination = to(server.address);
    const sent = destination.send(upload(body));
    body.write('a');
    const reply = await sent;
    body.end('b');
    expect(await textOf(reply)).toBe('AB');
    await textOf(await destination.send(upload(Readable.from([Buffer.from('a')]))));
    expect(server.sockets).toHaveLength(1);
  });
});

describe('PooledDestination head timeout of a streamed request', () => {
  it('fails as timeout without a response after the end of the body', async () => {
    const server = await script(() => {});
    const request = { ...upload(Readable.from([Buffer.from('x')])), headTimeoutMs: 30 };
    expect(await failure(to(server.address).send(request))).toMatchObject({ processed: 'maybe', type: 'timeout' });
  });
});
