import { connect as connectTls, type TLSSocket } from 'node:tls';
import { afterEach, describe, expect, it } from 'vitest';
import { until } from '../../base/manual-clock.fixture.js';
import type { Exchange, Reply } from '../exchange.js';
import { block, FrameClient, frameBytes, GET } from '../http2/frame-client.fixture.js';
import { ErrorCode, Flag, FrameType } from '../http2/protocol.js';
import { LargeHeads } from './large-heads.js';
import {
  type Http2By,
  rawConnection,
  rawExchange,
  type StartedListener,
  serverCa,
  startListener,
  text,
} from './listener.fixture.js';
import type { CertificateOwner, ListenerLimits } from './listener.js';

const KIB = 1024;
const HEAD_BYTES = 120 * KIB;
/** Front proxies have three quarters. */
const totalFor = (frontProxyBytes: number) => (frontProxyBytes * 4) / 3;
/** Room for two heads of front proxies of HEAD_BYTES and not for three. */
const LIMITS = {
  headerBytesMax: 16 * KIB,
  headersCountMax: 100,
  authenticatedHead: { headerBytesMax: 256 * KIB, headersCountMax: 5_000 },
  largeHeadBytesMax: totalFor(300 * KIB),
};

let running: StartedListener | undefined;
let hits: string[];
let answers: ((reply: Reply) => void)[];
/** Of connections from now on. */
let owner: CertificateOwner;
let readsBodies = false;

afterEach(async () => {
  readsBodies = false;
  await running?.close();
  running = undefined;
});

/** Starts a listener for which every certificate is that of `owner`, and whose requests wait for `answers`, their bodies read or not. */
async function start(http2: Http2By = 'own', limits: Partial<ListenerLimits> = LIMITS): Promise<number> {
  hits = [];
  answers = [];
  const handler = ({ body }: Exchange) => {
    if (readsBodies) body?.resume();
    return new Promise<Reply>((resolve) => answers.push(resolve));
  };
  owner = 'front-proxy';
  const more = { certificateOwner: () => owner, onLimit: (limit: string) => void hits.push(limit) };
  running = await startListener(handler, limits, http2, more);
  return running.port;
}

const held = () => running!.listener.largeHeadBytes;

async function http2Client(port: number): Promise<FrameClient> {
  const socket: TLSSocket = connectTls({ port, host: '127.0.0.1', ca: serverCa.pem, ALPNProtocols: ['h2'] });
  socket.on('error', () => {});
  await new Promise<void>((resolve) => socket.once('secureConnect', () => resolve()));
  return new FrameClient(socket).greet([4, 0]);
}

/** Sends a request with a head of `bytes`, in frames of 16 KiB; `isWhole`: with END_HEADERS. */
function sendLarge(client: FrameClient, streamId: number, { bytes = HEAD_BYTES, isWhole = true } = {}): void {
  // nghttp2 takes fields of up to 64 KiB.
  const fields = Array.from({ length: 4 }, () => ['x-large', 'x'.repeat(bytes / 4)]);
  const whole = block(...GET, ...fields.flat());
  for (let at = 0; at < whole.length; at += 16_384) {
    const payload = whole.subarray(at, at + 16_384);
    const flags = isWhole && at + 16_384 >= whole.length ? Flag.endHeaders : 0;
    const first = { type: FrameType.headers, flags: flags | Flag.endStream, streamId, payload };
    client.socket.write(frameBytes(at === 0 ? first : { type: FrameType.continuation, flags, streamId, payload }));
  }
}

const large1 = (bytes = HEAD_BYTES) => `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(bytes)}\r\n\r\n`;

describe.each<[Http2By]>([['own'], ['node']])('Listener with many large heads over HTTP/2 (%s)', (by) => {
  it('refuses streams above largeHeadBytesMax, of all connections together, until others are closed', async () => {
    const port = await start(by);
    const [first, second] = [await http2Client(port), await http2Client(port)];
    sendLarge(first, 1);
    await until(() => answers.length === 1, 'the first request');
    sendLarge(second, 1);
    await until(() => answers.length === 2, 'the second request');
    sendLarge(first, 3);
    expect(await first.rstCode(3)).toBe(ErrorCode.refusedStream);
    expect(hits).toEqual(['held-heads']);
    // A reply that the client has no window for keeps the head.
    answers[1]!(text('x'.repeat(10)));
    sendLarge(first, 5);
    expect(await first.rstCode(5)).toBe(ErrorCode.refusedStream);
    // Usual heads are not refused.
    first.headers(7, GET);
    await until(() => answers.length === 3, 'a request with a usual head');
    second.socket.destroy();
    await until(() => held() < 1.5 * HEAD_BYTES, 'one head');
    sendLarge(first, 9);
    await until(() => answers.length === 4, 'the request in place of the closed one');
    first.socket.destroy();
    await until(() => held() === 0, 'no head');
  });

  it('has a part for users, who cannot keep that of front proxies', async () => {
    const port = await start(by, { ...LIMITS, largeHeadBytesMax: 4 * 1.5 * HEAD_BYTES });
    owner = 'user';
    const user = await http2Client(port);
    sendLarge(user, 1);
    await until(() => answers.length === 1, 'the request of a user');
    sendLarge(user, 3);
    expect(await user.rstCode(3)).toBe(ErrorCode.refusedStream);
    owner = 'front-proxy';
    const proxy = await http2Client(port);
    for (const [index, streamId] of [1, 3, 5, 7].entries()) {
      sendLarge(proxy, streamId);
      await until(() => answers.length === index + 2, `request ${index} of a front proxy`);
    }
    sendLarge(proxy, 9);
    expect(await proxy.rstCode(9)).toBe(ErrorCode.refusedStream);
    expect(held()).toBeGreaterThan(5 * HEAD_BYTES);
    for (const { socket } of [user, proxy]) socket.destroy();
    await until(() => held() === 0, 'no head');
  });
});

describe('Listener with many large heads over HTTP/1.1', () => {
  it('replies 429 above largeHeadBytesMax, until others have ended', async () => {
    const port = await start();
    const clients = [await rawConnection(port), await rawConnection(port)];
    for (const { socket } of clients) socket.write(large1());
    await until(() => answers.length === 2, 'both requests');
    expect(await rawExchange(port, large1())).toMatch(/^HTTP\/1\.1 429 [\s\S]*Retry-After: 1\r\n/);
    expect(hits).toEqual(['held-heads']);
    answers[0]!(text('done'));
    await until(() => held() < 1.5 * HEAD_BYTES, 'one head');
    const third = await rawConnection(port);
    third.socket.write(large1());
    await until(() => answers.length === 3, 'the third request');
    for (const { socket } of [...clients, third]) socket.destroy();
    await until(() => held() === 0, 'no head');
  });

  it('has a part for users, who cannot keep that of front proxies', async () => {
    const port = await start('own', { ...LIMITS, largeHeadBytesMax: 4 * 1.5 * HEAD_BYTES });
    owner = 'user';
    const user = await rawConnection(port);
    user.socket.write(large1());
    await until(() => answers.length === 1, 'the request of a user');
    expect(await rawExchange(port, large1())).toMatch(/^HTTP\/1\.1 429 /);
    owner = 'front-proxy';
    const proxy = await rawConnection(port);
    proxy.socket.write(large1());
    await until(() => answers.length === 2, 'the request of a front proxy');
    for (const { socket } of [user, proxy]) socket.destroy();
    await until(() => held() === 0, 'no head');
  });

  it('counts heads that wait behind an earlier request, and closes the connection of one without room', async () => {
    const port = await start();
    const { socket, closed } = await rawConnection(port);
    socket.write(large1() + large1());
    await until(() => held() > 2 * HEAD_BYTES, 'both heads');
    expect(answers).toHaveLength(1);
    socket.write(large1());
    await closed;
    expect(hits).toEqual(['held-heads']);
    await until(() => held() === 0, 'no head');
  });

  it('counts the head of an upgrade request until its connection closes', async () => {
    const port = await start();
    const { socket } = await rawConnection(port);
    socket.write(large1().replace('Host: x', 'Host: x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1'));
    await until(() => answers.length === 1, 'the upgrade request');
    expect(held()).toBeGreaterThan(HEAD_BYTES);
    socket.destroy();
    await until(() => held() === 0, 'no head');
  });
});

describe('Listener with incomplete header blocks', () => {
  it('closes the connection of the oldest one when they exceed their part of largeHeadBytesMax', async () => {
    const port = await start('own', { ...LIMITS, largeHeadBytesMax: totalFor(4 * 300 * KIB) });
    const clients = [await http2Client(port), await http2Client(port), await http2Client(port)];
    for (const [i, client] of clients.entries()) {
      sendLarge(client, 1, { isWhole: false });
      if (i < 2) await until(() => held() > (i + 1) * HEAD_BYTES, `block ${i}`);
    }
    expect(await clients[0]!.goawayCode()).toBe(ErrorCode.enhanceYourCalm);
    await until(() => held() > 2 * HEAD_BYTES, 'the newest block');
    expect([clients[1]!.isClosed, clients[2]!.isClosed]).toEqual([false, false]);
    expect(hits).toEqual(['held-heads']);
    for (const { socket } of clients) socket.destroy();
    await until(() => held() === 0, 'no block');
  });
});

describe('Listener with incomplete HTTP/1.1 heads', () => {
  const part1 = large1().slice(0, -4);
  const roomFor = (heads: number) => ({ ...LIMITS, largeHeadBytesMax: totalFor(4 * (heads + 0.5) * HEAD_BYTES) });

  it('closes the connection of the oldest one when they exceed their part of largeHeadBytesMax', async () => {
    const port = await start('own', roomFor(2));
    const clients = [await rawConnection(port), await rawConnection(port)];
    for (const [i, { socket }] of clients.entries()) {
      socket.write(part1);
      await until(() => held() > (i + 1) * HEAD_BYTES, `head ${i}`);
    }
    const third = await rawConnection(port);
    third.socket.write(part1);
    await clients[0]!.closed;
    expect(hits).toEqual(['held-heads']);
    clients[1]!.socket.write('\r\n\r\n');
    await until(() => answers.length === 1, 'the request that was completed');
    third.socket.destroy();
    clients[1]!.socket.destroy();
    await until(() => held() === 0, 'no head');
  });

  it.each([
    ['a request', 'GET / HTTP/1.1\r\nHost: x\r\n\r\n'],
    ['a body of known length', 'POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc'],
    ['a body of unknown length', 'POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n'],
  ])('counts one that follows %s at once', async (_, before) => {
    const port = await start('own', roomFor(1));
    const clients = [await rawConnection(port), await rawConnection(port)];
    for (const { socket } of clients) socket.write(before + part1);
    await Promise.race(clients.map(({ closed }) => closed));
    expect(hits).toEqual(['held-heads']);
    for (const { socket } of clients) socket.destroy();
    await until(() => held() === 0, 'no head');
  });

  it.each([
    ['known', (body: string) => `Content-Length: ${body.length}\r\n\r\n${body}`, ''],
    [
      'unknown',
      (body: string) => `Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`,
      '0\r\n\r\n',
    ],
  ])('counts no body of %s length that is on its way', async (_, framed, end) => {
    const port = await start('own', roomFor(1));
    const { socket, received } = await rawConnection(port);
    const body = 'x'.repeat(HEAD_BYTES);
    socket.write(`POST / HTTP/1.1\r\nHost: x\r\n${framed(body).slice(0, -3)}`);
    await until(() => answers.length === 1, 'the request');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(held()).toBe(0);
    socket.write(framed(body).slice(-3) + end);
    answers[0]!(text('done'));
    await until(() => received().includes('done'), 'the reply');
    expect(held()).toBe(0);
    socket.destroy();
  });

  it('counts no body of unknown length that came in one go, while its requests are answered', async () => {
    const port = await start('own', roomFor(1));
    const clients = [await rawConnection(port), await rawConnection(port), await rawConnection(port)];
    readsBodies = true;
    const body = 'x'.repeat(2 * HEAD_BYTES);
    const chunked = `${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`;
    for (const { socket } of clients) {
      socket.write(`POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n${chunked}`);
    }
    await until(() => answers.length === clients.length, 'the requests');
    await new Promise((resolve) => setTimeout(resolve, 600));
    expect(hits).toEqual([]);
    expect(held()).toBe(0);
    for (const answer of answers) answer(text('done'));
    for (const { received } of clients) await until(() => received().includes('done'), 'the reply');
    for (const { socket } of clients) socket.destroy();
  });
});

it('LargeHeads counts nothing up to the usual size', () => {
  const heads = new LargeHeads({ usualBytesMax: 100, bytesMax: 400, onRefused: () => {} });
  const block = { displace: () => {} };
  for (let i = 0; i < 100; i++) expect(heads.take(100)).toBe(true);
  heads.blockGrew(block, 100);
  expect(heads.heldBytes).toBe(0);
  expect(heads.take(101)).toBe(true);
  heads.giveBack(100);
  heads.giveBack(101);
  heads.blockEnded(block);
  expect(heads.heldBytes).toBe(0);
});
