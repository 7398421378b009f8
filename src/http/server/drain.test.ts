import { Agent } from 'node:https';
import { connect as connectTcp } from 'node:net';
import { describe, expect, it } from 'vitest';
import { settle, until } from '../../base/manual-clock.fixture.js';
import type { Handler, Reply } from '../exchange.js';
import {
  ask1,
  ask2,
  rawConnection,
  session2,
  startListener as startOnPort,
  startTakingListener,
  streamed,
  text,
} from './listener.fixture.js';

/** Longer than the test timeout: a test that waits for the grace period fails. */
const NEVER_MS = 60_000;

describe.each([
  ['on its own port', startOnPort, 'own'],
  ['on its own port, with node:http2', startOnPort, 'node'],
  ['on connections accepted elsewhere', startTakingListener, 'own'],
  ['on connections accepted elsewhere, with node:http2', startTakingListener, 'node'],
] as const)('Listener.close %s', (_, start, http2) => {
  const startListener = (handler: Handler) => start(handler, {}, http2);

  it('closes at once connections that are idle, unused or in a TLS handshake', async () => {
    const server = await startListener(async () => text('ok'));
    const agent = new Agent({ keepAlive: true });
    await ask1(server.port, { agent });
    const unused = await rawConnection(server.port);
    const handshaking = connectTcp(server.port, '127.0.0.1');
    handshaking.on('error', () => {});
    await new Promise<void>((resolve) => handshaking.once('connect', () => resolve()));
    const session = session2(server.port);
    await ask2(session);
    await server.close(NEVER_MS);
    await unused.closed;
    agent.destroy();
  });

  it('lets an open HTTP/1.1 request end and replies with Connection: close', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const server = await startListener(() => new Promise((resolve) => answers.push(resolve)));
    const agent = new Agent({ keepAlive: true });
    const asked = ask1(server.port, { agent });
    await until(() => answers.length === 1, 'request');
    const closing = server.close(NEVER_MS);
    await settle();
    answers[0]!(text('late'));
    expect(await asked).toMatchObject({ status: 200, headers: { connection: 'close' }, body: Buffer.from('late') });
    await closing;
    agent.destroy();
  });

  it('lets open HTTP/2 streams end after GOAWAY', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const server = await startListener(() => new Promise((resolve) => answers.push(resolve)));
    const session = session2(server.port);
    const asked = ask2(session);
    await until(() => answers.length === 1, 'request');
    let goaway = false;
    session.on('goaway', () => {
      goaway = true;
    });
    const closing = server.close(NEVER_MS);
    await until(() => goaway, 'GOAWAY');
    answers[0]!(text('late'));
    expect((await asked).body.toString()).toBe('late');
    await closing;
  });

  it('refuses new connections while it drains', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const server = await startListener(() => new Promise((resolve) => answers.push(resolve)));
    const asked = ask1(server.port);
    await until(() => answers.length === 1, 'request');
    const closing = server.close(NEVER_MS);
    await expect(ask1(server.port)).rejects.toThrow(/ECONNREFUSED|disconnected before secure TLS/);
    answers[0]!(text(''));
    await asked;
    await closing;
  });

  it.each(['1.1', '2'])('ends a watch over HTTP/%s at an event boundary, never inside an event', async (protocol) => {
    const { reply, body, seen } = streamed();
    const server = await startListener(async () => reply);
    const path = '/api/v1/pods?watch=true';
    const session = protocol === '2' ? session2(server.port) : undefined;
    const asked = session ? ask2(session, { path }) : ask1(server.port, { path });
    await settle(20);
    body.push(Buffer.from('{"type":"ADDED"}\n{"type":'));
    await settle(20);
    const closing = server.close(NEVER_MS);
    await settle(5);
    expect(seen.cancelled).toBeUndefined();
    body.push(Buffer.from('"MODIFIED"}\n'));
    expect((await asked).body.toString()).toBe('{"type":"ADDED"}\n{"type":"MODIFIED"}\n');
    expect(seen.cancelled).toBeDefined();
    await closing;
    session?.destroy();
  });

  it('ends a watch without events at once, and a watch whose reply starts later after its first event', async () => {
    const silent = streamed();
    const late = streamed();
    let answerLate: (reply: Reply) => void = () => {};
    const server = await startListener(async ({ target }) =>
      target.includes('late')
        ? new Promise((resolve) => {
            answerLate = resolve;
          })
        : silent.reply,
    );
    const first = ask1(server.port, { path: '/api/v1/pods?watch=1' });
    const second = ask1(server.port, { path: '/api/v1/pods?watch=1&late' });
    await settle(50);
    const closing = server.close(NEVER_MS);
    expect((await first).body.toString()).toBe('');
    late.body.push(Buffer.from('{}\n'));
    late.body.push(Buffer.from('{}\n'));
    answerLate(late.reply);
    // Both events were in the body before it was attached; the second must not be written after the
    // end.
    expect((await second).body.toString()).toBe('{}\n');
    await closing;
  });

  it('aborts open replies after the grace period, and the client sees an error', async () => {
    const streams = [1, 2].map(() => streamed(200, ['Content-Type', 'text/plain']));
    const left = [...streams];
    const server = await startListener(async () => left.shift()!.reply);
    const asked = ask1(server.port).catch((error: Error) => error);
    const session = session2(server.port);
    const asked2 = ask2(session).catch((error: Error) => error);
    await until(() => left.length === 0, 'both requests');
    for (const { body } of streams) body.push(Buffer.from('begun'));
    await settle(20);
    await server.close(50);
    expect(await asked).toBeInstanceOf(Error);
    expect(await asked2).toBeInstanceOf(Error);
    for (const { seen } of streams) expect(seen.cancelled).toBeDefined();
    expect(server.logged.map(({ message }) => message).join()).toMatch(/grace period/);
  });

  it('closes connections with an incomplete TLS handshake or incomplete headers after the grace period', async () => {
    const answers: ((reply: Reply) => void)[] = [];
    const server = await startListener(() => new Promise((resolve) => answers.push(resolve)));
    const asked = ask1(server.port).catch(() => undefined);
    const half = await rawConnection(server.port);
    half.socket.write('GET / HTTP/1.1\r\n');
    const handshaking = connectTcp(server.port, '127.0.0.1');
    handshaking.on('error', () => {});
    await until(() => answers.length === 1, 'request');
    await server.close(50);
    await half.closed;
    await asked;
  });
});
