import { once } from 'node:events';
import { type ClientHttp2Session, constants } from 'node:http2';
import { Agent } from 'node:https';
import { type AddressInfo, connect as connectTcp, createServer as createTcp, Socket } from 'node:net';
import { connect as connectTls } from 'node:tls';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import type { Exchange, Handler } from '../exchange.js';
import { makeServer } from '../tls/pki.fixture.js';
import {
  ask1,
  ask2,
  type Http2By,
  rawConnection,
  rawExchange,
  readRequest,
  type StartedListener,
  serverCa,
  session2,
  startListener,
  startTakingListener,
  streamed,
  text,
} from './listener.fixture.js';
import type { ListenerLimits } from './listener.js';

let running: StartedListener | undefined;

afterEach(async () => {
  await running?.close(0);
  running = undefined;
});

async function startOn(handler: Handler, limits: Partial<ListenerLimits> = {}, http2?: Http2By): Promise<number> {
  running = await startListener(handler, limits, http2);
  return running.port;
}

const start = (handler: Handler, limits?: Partial<ListenerLimits>) => startOn(handler, limits);

const describeRequest: Handler = async (exchange) =>
  text(JSON.stringify({ method: exchange.method, target: exchange.target, headers: exchange.headers }));

describe.each([
  ['HTTP/1.1', 'own'],
  ['HTTP/2', 'own'],
  ['HTTP/2', 'node'],
] as const)('Listener over %s (http2: %s)', (protocol, http2) => {
  const start = (handler: Handler, limits?: Partial<ListenerLimits>) => startOn(handler, limits, http2);

  async function client(port: number) {
    if (protocol === 'HTTP/1.1') return { ask: (how: Parameters<typeof ask1>[1]) => ask1(port, how), end() {} };
    const session = session2(port);
    return { ask: (how: Parameters<typeof ask2>[1]) => ask2(session, how), end: () => session.destroy() };
  }

  it('passes method, raw target and headers to the handler, and its reply to the client', async () => {
    const { ask, end } = await client(await start(describeRequest));
    const answer = await ask({ path: '/api/v1/pods?labelSelector=a%3Db&x=%C3%A9', headers: { 'x-thing': 'one' } });
    const seen = JSON.parse(answer.body.toString());
    expect(seen).toMatchObject({ method: 'GET', target: '/api/v1/pods?labelSelector=a%3Db&x=%C3%A9' });
    expect(seen.headers.map((s: string) => s.toLowerCase())).toContain('x-thing');
    expect(seen.headers.map((s: string) => s.toLowerCase())).toContain('host');
    expect(answer).toMatchObject({ status: 200, headers: { 'content-type': 'text/plain' } });
    end();
  });

  describe('bounds request heads', () => {
    const limits = { headerBytesMax: 8_192, headersCountMax: 50 };
    const hits: string[] = [];
    const large = { headers: { 'x-large': 'x'.repeat(20_000) } };
    const many = { headers: Object.fromEntries(Array.from({ length: 100 }, (_, i) => [`x-${i}`, '1'])) };
    const startFor = async (authenticated: boolean) => {
      hits.length = 0;
      const onLimit = (limit: string) => void hits.push(limit);
      const more = { certificateOwner: () => (authenticated ? ('user' as const) : undefined), onLimit };
      running = await startListener(describeRequest, limits, http2, more);
      return client(running.port);
    };

    it('by authenticatedHead on connections whose certificate has an owner', async () => {
      const { ask, end } = await startFor(true);
      for (const head of [large, many]) {
        const answer = await ask(head);
        expect(answer.status).toBe(200);
        expect(JSON.parse(answer.body.toString()).headers).toEqual(expect.arrayContaining(Object.values(head.headers)));
      }
      const tooLarge = await ask({ headers: { 'x-large': 'x'.repeat(300_000) } }).catch(() => undefined);
      expect([431, 0, undefined]).toContain(tooLarge?.status);
      end();
    });

    it('by the smaller bounds on other connections, and reports each refusal as a limit', async () => {
      for (const head of [large, many]) {
        const { ask, end } = await startFor(false);
        const answer = await ask(head).catch(() => undefined);
        expect([431, 0, undefined]).toContain(answer?.status);
        // nghttp2 refuses by itself, unseen. Node.js 26 has one error of HTTP/1.1 for both bounds.
        if (http2 === 'own' && head === large) expect(hits).toEqual(['max-header-bytes']);
        else if (http2 === 'own') expect([['max-headers-count'], ['max-header-bytes']]).toContainEqual(hits);
        end();
        await running!.close(0);
      }
    });
  });

  it('passes bodies of 5 MiB unchanged in both directions', async () => {
    const sent = Buffer.alloc(5 * 1024 * 1024, 'abcdefghij');
    const port = await start(async (exchange) => {
      const body = await readRequest(exchange);
      return { status: 200, headers: ['Content-Length', String(body.byteLength)], body };
    });
    const { ask, end } = await client(port);
    const answer = await ask({ method: 'POST', body: sent });
    expect(answer.body.equals(sent)).toBe(true);
    end();
  });

  it.each([204, 304])('replies %i without a body', async (status) => {
    const { ask, end } = await client(await start(async () => ({ status, headers: ['ETag', '"x"'], body: null })));
    expect(await ask({})).toMatchObject({ status, body: Buffer.alloc(0), headers: { etag: '"x"' } });
    expect(await ask({})).toMatchObject({ status });
    end();
  });

  it('replies to HEAD with Content-Length and no body, streamed or not', async () => {
    let stream = false;
    const port = await start(async () => {
      if (!stream) return { ...text('four'), body: null };
      const { reply, body } = streamed(200, ['Content-Length', '4']);
      body.end();
      return reply;
    });
    const { ask, end } = await client(port);
    expect(await ask({ method: 'HEAD' })).toMatchObject({ headers: { 'content-length': '4' }, body: Buffer.alloc(0) });
    stream = true;
    expect(await ask({ method: 'HEAD' })).toMatchObject({ headers: { 'content-length': '4' }, body: Buffer.alloc(0) });
    end();
  });

  it('passes trailers to the client', async () => {
    const port = await start(async () => {
      const { reply, body } = streamed(200, ['Trailer', 'X-Sum', 'Content-Type', 'text/plain']);
      body.push(Buffer.from('hi'));
      body.end(['X-Sum', '42']);
      return reply;
    });
    const { ask, end } = await client(port);
    const answer = await ask({});
    expect(answer.body.toString()).toBe('hi');
    expect(answer.trailers).toMatchObject({ 'x-sum': '42' });
    end();
  });

  it('passes repeated fields, and only the first of a repeated single-valued field', async () => {
    const headers = [
      'Warning',
      '299 - "a"',
      'Warning',
      '299 - "b"',
      'Content-Type',
      'text/plain',
      'Content-Type',
      'x/y',
    ];
    const port = await start(async () => ({ status: 200, headers, body: Buffer.from('ok') }));
    const { ask, end } = await client(port);
    const answer = await ask({});
    expect(answer.body.toString()).toBe('ok');
    expect(String(answer.headers.warning)).toBe('299 - "a", 299 - "b"');
    expect(answer.headers['content-type']).toBe('text/plain');
    end();
  });

  it('aborts a reply whose body fails: the client never sees it as complete', async () => {
    const port = await start(async () => {
      const { reply, body } = streamed();
      body.push(Buffer.from('{"half'));
      setImmediate(() => body.fail(new Error('gone')));
      return reply;
    });
    const { ask, end } = await client(port);
    await expect(ask({})).rejects.toThrow();
    end();
  });

  it('aborts a reply that cannot be written, logs it, and serves the next request', async () => {
    let status = 999_999;
    const port = await start(async () => ({ ...text('x'), status }));
    const { ask, end } = await client(port);
    await expect(ask({})).rejects.toThrow();
    expect(running!.logged.map(({ message }) => message)).toContain('reply could not be written');
    status = 200;
    expect((await ask1(port)).status).toBe(200);
    end();
  });

  it('applies back-pressure to the reply body while the client does not read', async () => {
    const { reply, body, seen } = streamed();
    const port = await start(async () => reply);
    const chunk = Buffer.alloc(64 * 1024, 120);
    if (protocol === 'HTTP/1.1') {
      const { socket } = await rawConnection(port);
      socket.pause();
      socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
      await pushUntilPaused();
      socket.resume();
      await until(() => seen.resumed > 0, 'flow');
      socket.destroy();
      return;
    }
    const session = session2(port);
    const stream = session.request({ ':path': '/' });
    stream.pause();
    await pushUntilPaused();
    stream.resume();
    await until(() => seen.resumed > 0, 'flow');
    session.destroy();

    async function pushUntilPaused(): Promise<void> {
      let bytes = 0;
      for (; seen.paused === seen.resumed; await settle(1)) {
        body.push(chunk);
        bytes += chunk.byteLength;
        // More than the kernel's socket buffers on both sides.
        if (bytes > 64 * 1024 * 1024) throw new Error('no back-pressure after 64 MiB');
      }
    }
  });

  it('aborts the exchange and cancels the reply body when the client disconnects', async () => {
    const { reply, body, seen } = streamed();
    let exchange: Exchange | undefined;
    const port = await start(async (each) => {
      exchange = each;
      return reply;
    });
    const { socket } = protocol === 'HTTP/1.1' ? await rawConnection(port) : { socket: undefined };
    const session = socket ? undefined : session2(port);
    socket?.write('GET /api/v1/pods?watch=1 HTTP/1.1\r\nHost: x\r\n\r\n');
    const stream = session?.request({ ':path': '/api/v1/pods?watch=1' });
    stream?.on('error', () => {});
    await until(() => exchange !== undefined, 'request');
    body.push(Buffer.from('{}\n'));
    await settle();
    socket?.destroy();
    stream?.close(constants.NGHTTP2_CANCEL);
    await until(() => exchange!.aborted, 'abort');
    expect(seen.cancelled?.message).toMatch(/client left/);
    session?.destroy();
  });

  it('logs no error when a client disconnects in the middle of a request body that is not read', async () => {
    let refused = 0;
    const port = await start(async () => {
      refused++;
      return new Promise(() => {});
    });
    if (protocol === 'HTTP/1.1') {
      const { socket } = await rawConnection(port);
      socket.write('POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 100000\r\n\r\nsome');
      await until(() => refused === 1, 'request');
      socket.destroy();
    } else {
      const session = session2(port);
      const stream = session.request({ ':method': 'POST', ':path': '/' });
      stream.on('error', () => {});
      stream.write('some');
      await until(() => refused === 1, 'request');
      session.destroy();
    }
    await settle(20);
    expect(running!.logged.filter(({ level }) => level === 'error')).toEqual([]);
  });

  it('replies before the request body is read, and the connection stays usable', async () => {
    let asked = 0;
    const port = await start(async (exchange) => {
      asked++;
      if (exchange.target === '/refuse') return text('no', 403);
      return text(String((await readRequest(exchange)).byteLength));
    });
    const large = Buffer.alloc(2 * 1024 * 1024);
    if (protocol === 'HTTP/1.1') {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      expect((await ask1(port, { method: 'POST', path: '/refuse', body: large, agent })).status).toBe(403);
      expect((await ask1(port, { method: 'POST', path: '/read', body: large, agent })).body.toString()).toBe('2097152');
      agent.destroy();
    } else {
      const session = session2(port);
      for (let i = 0; i < 3; i++) {
        const refused = session.request({ ':method': 'POST', ':path': '/refuse' });
        refused.on('error', () => {});
        refused.resume();
        // The request never ends: only the server can close the stream.
        refused.write(Buffer.alloc(60_000));
        await new Promise<void>((resolve) => refused.once('close', () => resolve()));
      }
      const answer = await ask2(session, { method: 'POST', path: '/read', body: large });
      expect(answer.body.toString()).toBe('2097152');
      session.destroy();
    }
    expect(asked).toBeGreaterThan(1);
  });
});

describe.each(['own', 'node'] as const)('Listener over HTTP/2 only (http2: %s)', (http2) => {
  const start = (handler: Handler, limits?: Partial<ListenerLimits>) => startOn(handler, limits, http2);

  it('joins cookie fields that were split for compression', async () => {
    const session = session2(await start(describeRequest));
    const { body } = await ask2(session, { headers: { cookie: ['a=1', 'b=2'] } });
    const { headers } = JSON.parse(body.toString()) as { headers: string[] };
    expect(headers.filter((name) => name === 'cookie')).toHaveLength(1);
    expect(headers[headers.indexOf('cookie') + 1]).toBe('a=1; b=2');
    session.destroy();
  });

  it.each([204, 304])('answers %i without Content-Length, after which Go clients miss a body', async (status) => {
    const { body, headers } = text('body of a 200', status, ['ETag', '"x"']);
    const whole = async () => ({ status, headers, body });
    const piecemeal = async () => streamed(status, headers).reply;
    for (const handler of [whole, piecemeal]) {
      const session = session2(await start(handler));
      const stream = session.request({ ':path': '/' });
      const [fields] = await once(stream, 'response');
      expect(fields).toMatchObject({ ':status': status, etag: '"x"' });
      expect(fields).not.toHaveProperty('content-length');
      session.destroy();
      await running?.close(0);
    }
  });

  it('sends 100 Continue for Expect: 100-continue when the body is read', async () => {
    const session = session2(await start(async (exchange) => text((await readRequest(exchange)).toString())));
    const asked = holdBack(session);
    const stream = asked.stream;
    stream.once('continue', () => stream.end('held back'));
    expect(await asked.answer).toEqual({ statuses: [100, 200], body: 'held back' });
    session.close();
  });

  it('sends no 100 Continue if the request is answered without reading its body', async () => {
    const session = session2(await start(async () => text('no', 401)));
    expect(await holdBack(session).answer).toEqual({ statuses: [401], body: 'no' });
    session.close();
  });

  it('gives all requests of one connection the same ClientConnection', async () => {
    const seen: Exchange[] = [];
    const port = await start(async (exchange) => {
      seen.push(exchange);
      return text('');
    });
    const sessions = [session2(port), session2(port)];
    for (const session of [sessions[0]!, sessions[0]!, sessions[1]!]) await ask2(session);
    expect(seen[0]!.connection).toBe(seen[1]!.connection);
    expect(seen[0]!.connection).not.toBe(seen[2]!.connection);
    expect(seen[0]!.connection.remoteAddress).toBe('127.0.0.1');
    for (const session of sessions) session.destroy();
  });

  it('starts no more concurrent streams than streamsPerConnectionMax', async () => {
    let open = 0;
    const port = await start(
      async () => {
        open++;
        return new Promise(() => {});
      },
      { streamsPerConnectionMax: 3 },
    );
    const session = session2(port);
    await new Promise<void>((resolve) => session.once('remoteSettings', () => resolve()));
    for (let i = 0; i < 10; i++) session.request({ ':path': '/' }).on('error', () => {});
    await until(() => open === 3, 'three streams');
    await settle(20);
    expect(open).toBe(3);
    session.destroy();
  });

  it('refuses too large headers, and serves the next request', async () => {
    const port = await start(describeRequest, { headerBytesMax: 4_096 });
    const session = session2(port);
    const { status } = await ask2(session, { headers: { 'x-large': 'x'.repeat(8_000) } });
    // node:http2 resets the stream by itself (status 0) once the client has acknowledged the setting.
    expect(http2 === 'own' ? [431] : [431, 0]).toContain(status);
    expect((await ask2(session)).status).toBe(200);
    session.destroy();
  });

  it('closes a connection on TLS 1.2 renegotiation (RFC 9113, 9.2.1)', async () => {
    const port = await start(describeRequest);
    const options = { ALPNProtocols: ['h2'], maxVersion: 'TLSv1.2' as const };
    const socket = connectTls({ port, host: '127.0.0.1', ca: serverCa.pem, ...options });
    socket.on('error', () => {}).resume();
    await once(socket, 'secureConnect');
    const ended = new Promise<string>((resolve) => {
      socket.once('close', () => resolve('closed'));
      socket.renegotiate({}, (error) => resolve(error ? 'refused' : 'renegotiated'));
    });
    expect(await ended).not.toBe('renegotiated');
    await until(() => socket.destroyed);
  });

  it('passes no target to the handler for CONNECT', async () => {
    const seen: string[] = [];
    const session = session2(
      await start(async ({ target }) => {
        seen.push(target);
        return text('no', 400);
      }),
    );
    const stream = session.request({ ':method': 'CONNECT', ':authority': 'elsewhere:443' });
    stream.on('error', () => {});
    stream.end();
    stream.resume();
    await new Promise<void>((resolve) => stream.once('close', () => resolve()));
    expect(seen.every((target) => target === '')).toBe(true);
    session.destroy();
  });
});

/** A POST whose client sends no body before it is asked for it. */
function holdBack(session: ClientHttp2Session) {
  const stream = session.request({ ':method': 'POST', ':path': '/', expect: '100-continue' });
  const statuses: number[] = [];
  let body = '';
  stream.on('headers', (fields) => statuses.push(fields[':status']!));
  stream.on('response', (fields) => statuses.push(fields[':status']!));
  stream.on('data', (chunk: Buffer) => {
    body += chunk.toString();
  });
  const answer = new Promise<{ statuses: number[]; body: string }>((resolve, reject) => {
    stream.once('error', reject);
    stream.once('end', () => resolve({ statuses, body }));
  });
  return { stream, answer };
}

describe('Listener on malformed HTTP/1.1', () => {
  const refused = (answer: string) => {
    expect(answer).toMatch(/^HTTP\/1\.1 4\d\d /);
    expect(answer).toMatch(/Connection: close/);
    expect(JSON.parse(answer.slice(answer.indexOf('\r\n\r\n') + 4))).toMatchObject({
      kind: 'Status',
      status: 'Failure',
    });
  };

  it.each([
    [
      'Content-Length with Transfer-Encoding',
      'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
    ],
    ['two Content-Lengths', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\nContent-Length: 5\r\n\r\nabcde'],
    [
      'an unknown last transfer coding',
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n',
    ],
    ['a header without a colon', 'GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n'],
    ['a space before the colon', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length : 4\r\n\r\nabcd'],
    ['a folded header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\r\n c\r\n\r\n'],
    ['NUL in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\0c\r\n\r\n'],
    ['a bare CR in a header', 'GET / HTTP/1.1\r\nHost: x\r\nX-A: b\rX-B: c\r\n\r\n'],
    ['a space in the target', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['bytes that are not HTTP', '\x16\x03 hello\r\n\r\n'],
  ])('refuses %s with a Status and closes the connection', async (_, bytes) => {
    let reached = 0;
    const port = await start(async () => {
      reached++;
      return text('reached');
    });
    const answer = await rawExchange(port, bytes);
    expect(reached).toBe(0);
    refused(answer);
  });

  it('replies 400 to a request without Host', async () => {
    const port = await start(describeRequest);
    expect(await rawExchange(port, 'GET / HTTP/1.1\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 /);
  });

  it('replies 431 to too large headers', async () => {
    const port = await start(describeRequest, { headerBytesMax: 4_096 });
    const answer = await rawExchange(port, `GET / HTTP/1.1\r\nHost: x\r\nX-A: ${'a'.repeat(8_000)}\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1\.1 431 /);
    refused(answer);
  });

  it('refuses too many header fields, and never serves a request with some of them dropped', async () => {
    let reached = 0;
    const handler: Handler = async () => {
      reached++;
      return text('reached');
    };
    const port = await start(handler, { headersCountMax: 100 });
    const many = Array.from({ length: 150 }, (_, i) => `X-${i}: 1\r\n`).join('');
    expect(await rawExchange(port, `GET / HTTP/1.1\r\nHost: x\r\n${many}\r\n`)).toMatch(/^HTTP\/1\.1 431 /);
    const upgrade = `GET / HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: x\r\n${many}\r\n`;
    // Node.js 26 refuses the head before it sees an upgrade.
    expect(await rawExchange(port, upgrade)).toMatch(/^$|^HTTP\/1\.1 431 /);
    const session = session2(port);
    const fields = Object.fromEntries(Array.from({ length: 150 }, (_, i) => [`x-${i}`, '1']));
    await expect(ask2(session, { headers: fields })).rejects.toThrow();
    session.destroy();
    expect(reached).toBe(0);
  });

  it('replies 408 to headers that are incomplete after the header timeout', async () => {
    const port = await start(describeRequest, { headerTimeoutMs: 200 });
    const { socket, received, closed } = await rawConnection(port);
    socket.write('GET / HTTP/1.1\r\nHost: ');
    await closed;
    expect(received()).toMatch(/^HTTP\/1\.1 408 /);
  });

  it('closes a connection whose TLS handshake is incomplete after the timeout', async () => {
    const port = await start(describeRequest, { headerTimeoutMs: 200 });
    const socket = connectTcp(port, '127.0.0.1');
    socket.on('error', () => {});
    await new Promise<void>((resolve) => socket.once('close', () => resolve()));
  });

  it('fails a chunked request body at its first malformed chunk: it never seems complete', async () => {
    let outcome: unknown;
    const port = await start(async (exchange) => {
      outcome = await readRequest(exchange).catch((error: Error) => error);
      return text('read');
    });
    const { socket, closed, received } = await rawConnection(port);
    socket.write(
      'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nabcd\r\nZZ\r\nboom\r\n0\r\n\r\n',
    );
    await closed;
    await until(() => outcome !== undefined, 'the body to fail');
    expect(outcome).toBeInstanceOf(Error);
    expect(received()).not.toContain('200 OK');
  });

  it('writes no error reply into the middle of another reply', async () => {
    const { reply, body } = streamed(200, ['Content-Type', 'text/plain']);
    const port = await start(async () => reply);
    const { socket, closed, received } = await rawConnection(port);
    socket.write('GET / HTTP/1.1\r\nHost: x\r\n\r\n');
    await until(() => received().includes('\r\n\r\n'), 'head');
    body.push(Buffer.from('first'));
    await until(() => received().includes('first'), 'first bytes');
    socket.write('garbage garbage garbage\r\n\r\n');
    await closed;
    expect(received()).not.toContain('400');
  });

  it('passes absolute-form targets unchanged to the handler', async () => {
    let target = '';
    const port = await start(async (exchange) => {
      target = exchange.target;
      return text('', 400);
    });
    await rawExchange(port, 'GET http://other/api HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    expect(target).toBe('http://other/api');
  });

  it('keeps bytes above 127 in header values unchanged, and refuses them in targets', async () => {
    let seen: Exchange | undefined;
    const port = await start(async (exchange) => {
      seen = exchange;
      return text('');
    });
    refused(await rawExchange(port, 'GET /caf\xc3\xa9 HTTP/1.1\r\nHost: x\r\n\r\n'));
    await rawExchange(port, 'GET / HTTP/1.1\r\nHost: x\r\nX-A: \xc3\xa9\r\nConnection: close\r\n\r\n');
    expect(seen!.headers).toContain('\xc3\xa9');
  });

  it('enables TCP keep-alive after 60 s', async () => {
    const kept = vi.spyOn(Socket.prototype, 'setKeepAlive');
    const { socket } = await rawConnection(await start(describeRequest));
    expect(kept.mock.calls).toEqual([[true, 60_000]]);
    kept.mockRestore();
    socket.destroy();
  });
});

describe('Listener.replaceTls', () => {
  it('uses the new certificate for new connections and keeps open connections', async () => {
    const port = await start(describeRequest);
    const old = await rawConnection(port);
    const renewed = makeServer(serverCa, { cn: 'renewed' });
    running!.listener.replaceTls({ cert: renewed.pem, key: renewed.keyPem, clientCas: [] });
    const socket = connectTls({ port, host: '127.0.0.1', ca: serverCa.pem });
    await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
    expect(socket.getPeerCertificate().subject.CN).toBe('renewed');
    socket.destroy();
    old.socket.write('GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n');
    await old.closed;
    expect(old.received()).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe('Listener.take', () => {
  it('serves connections accepted elsewhere over both protocols', async () => {
    running = await startTakingListener(describeRequest);
    const session = session2(running.port);
    expect((await ask2(session, { path: '/two' })).body.toString()).toContain('/two');
    expect((await ask1(running.port, { path: '/one' })).body.toString()).toContain('/one');
    session.destroy();
  });

  it('closes both connections of a client that uses one local port for two ports of the server', async () => {
    const { listener, close } = await startTakingListener(describeRequest, { headerTimeoutMs: 60_000 });
    const doors = [1, 2, 3].map(() => createTcp({ pauseOnConnect: true }, (socket) => listener.take(socket)));
    for (const door of doors) await new Promise<void>((resolve) => door.listen(0, '127.0.0.1', resolve));
    const [localPort, ...ports] = doors.map((door) => (door.address() as AddressInfo).port);
    await new Promise((resolve) => doors[0]!.close(resolve));
    const sockets = ports.map((port) =>
      connectTcp({ port, host: '127.0.0.1', localAddress: '127.0.0.1', localPort: localPort! }),
    );
    for (const socket of sockets) socket.on('error', () => {}).resume();
    await Promise.all([...sockets.map((socket) => once(socket, 'connect')), once(doors[1]!, 'connection')]);
    await settle();
    await close(0);
    await until(() => sockets.every(({ destroyed }) => destroyed));
    for (const door of doors) door.close();
  });
});
