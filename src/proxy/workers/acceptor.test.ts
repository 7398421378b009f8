import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock, until } from '../../base/manual-clock.fixture.js';
import { Acceptor, type Taker } from './acceptor.js';

class PlayedTaker implements Taker {
  readonly sockets: Socket[] = [];
  isTaking = true;
  connections = 0;

  take(socket: Socket): void {
    this.sockets.push(socket);
    this.connections += 1;
  }
}

const clients: Socket[] = [];
let acceptor: Acceptor | undefined;
let takers: PlayedTaker[] = [];

afterEach(() => {
  acceptor?.close();
  for (const client of clients.splice(0)) client.destroy();
  for (const { sockets } of takers) for (const socket of sockets) socket.destroy();
});

async function start(count: number, connectionsMax = 100) {
  takers = Array.from({ length: count }, () => new PlayedTaker());
  const clock = new ManualClock();
  acceptor = new Acceptor({
    host: '127.0.0.1',
    port: 0,
    connectionsMax,
    takers: () => takers,
    clock,
    logger: silentLogger,
  });
  const { port } = await acceptor.listen();
  const open = async (): Promise<Socket> => {
    const client = connect(port, '127.0.0.1');
    client.on('error', () => {});
    clients.push(client);
    await once(client, 'connect');
    return client;
  };
  return { open, clock, port };
}

const counts = () => takers.map(({ connections }) => connections);
const taken = (total: number) => until(() => counts().reduce((sum, each) => sum + each, 0) === total);

describe('Acceptor', () => {
  it('distributes connections evenly, also if they arrive at once', async () => {
    const { open } = await start(3);
    await Promise.all(Array.from({ length: 9 }, open));
    await taken(9);
    expect(counts()).toEqual([3, 3, 3]);
  });

  it('gives the next connections to the taker with the fewest', async () => {
    const { open } = await start(2);
    takers[0]!.connections = 4;
    for (let i = 0; i < 4; i++) await open();
    await taken(8);
    expect(counts()).toEqual([4, 4]);
  });

  it('skips takers that do not take connections', async () => {
    const { open } = await start(2);
    takers[0]!.isTaking = false;
    for (let i = 0; i < 3; i++) await open();
    await taken(3);
    expect(counts()).toEqual([0, 3]);
  });

  it('reads no byte of the client', async () => {
    const { open } = await start(1);
    const client = await open();
    client.write('hello');
    await taken(1);
    const [socket] = takers[0]!.sockets;
    expect(socket!.bytesRead).toBe(0);
    const heard = once(socket!, 'data');
    socket!.resume();
    expect(String((await heard)[0])).toBe('hello');
  });

  it('holds connections for a bounded time while no taker is available', async () => {
    const { open, clock } = await start(1);
    takers[0]!.isTaking = false;
    const early = await open();
    await until(() => clock.pending === 1);
    takers[0]!.isTaking = true;
    acceptor!.takerReady();
    await taken(1);
    takers[0]!.isTaking = false;
    const late = await open();
    await until(() => clock.pending === 2);
    const closed = once(late, 'close');
    late.resume();
    await clock.advance(6_000);
    await closed;
    expect(early.destroyed).toBe(false);
  });

  it('closes connections beyond the bound of all takers together', async () => {
    const { open } = await start(2, 3);
    for (let i = 0; i < 3; i++) await open();
    await taken(3);
    const refused = await open();
    refused.resume();
    await once(refused, 'close');
    expect(counts()).toEqual([2, 1]);
  });
});
