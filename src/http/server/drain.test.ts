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

/** Long enough that a test which has to wait for it fails. */
const NEVER_MS = 60_000;

describe.each([
  ['with a port of its own', startOnPort, 'own'],
  ['with a port of its own and Node’s HTTP/2', startOnPort, 'node'],
  ['that is handed connections', startTakingListener, 'own'],
  ['that is handed connections, with Node’s HTTP/2', startTakingListener, 'node'],
] as const)('a listener %s that closes', (_, start, http2) => {
  const startListener = (handler: Handler) => start(handler, {}, http2);

  it('closes at once what is idle: kept alive, never used, in the middle of a handshake', async () => {
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

  it('lets requests under way end, and asks the client to connect elsewhere', async () => {
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

  it('lets HTTP/2 streams under way end after GOAWAY', async () => {
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

  it('refuses new connections', async () => {
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

  it.each(['1.1', '2'])('ends a watch between two events over HTTP/%s, never inside one', async (protocol) => {
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

  it('ends a silent watch at once, and one whose head comes later with its head', async () => {
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
    // Both came before anyone could ask for an end; what follows the end must not be written after it.
    expect((await second).body.toString()).toBe('{}\n');
    await closing;
  });

  it('cuts what is left when the grace period is over, so that the client can tell', async () => {
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

  it('cuts connections that are in the middle of a handshake or of their headers when the grace period is over', async () => {
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
