import { once } from 'node:events';
import type { Duplex } from 'node:stream';
import { afterEach, describe, expect, it } from 'vitest';
import { outgoing, serveTls, type TlsServer, textOf, tls } from '../tls/tls-server.fixture.js';
import { Destinations } from './destinations.js';
import type { PooledDestination } from './pooled-destination.js';
import type { Reach } from './reach.js';

const SWITCH = ['Host', 'client.example', 'Connection', 'Upgrade', 'Upgrade', 'SPDY/3.1'];

const ROUNDS = 8;

/** Reach that refuses connections while `refusing` is set, and records open sockets. */
class Rig implements Reach {
  readonly sockets: Duplex[] = [];
  refusing = false;
  asked = 0;

  async admit(address: string): Promise<void> {
    this.asked++;
    if (this.refusing) throw Object.assign(new Error(`connect ECONNREFUSED ${address}`), { code: 'ECONNREFUSED' });
  }

  opened(_address: string, socket: Duplex): void {
    this.sockets.push(socket);
  }
}

let server: TlsServer;
let destination: PooledDestination;
let rig: Rig;

async function start(): Promise<void> {
  rig = new Rig();
  server = await serveTls((req, res) => (req.url === '/hang' ? undefined : res.end('here')));
  server.http.on('upgrade', (_, socket: Duplex) => {
    socket.on('error', () => {});
    socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n');
  });
  destination = new Destinations(() => tls, rig).make(server.address);
}

afterEach(async () => {
  await destination.close();
  await server.close();
});

describe('Reach', () => {
  it('is called for each connection, not for each request', async () => {
    await start();
    for (let round = 0; round < ROUNDS; round++) {
      expect(await textOf(await destination.send(outgoing().request))).toBe('here');
    }
    expect(rig.sockets).toHaveLength(rig.asked);
    expect(rig.asked).toBeLessThan(ROUNDS);
  });

  it('makes requests fail as unsent when it refuses the connection', async () => {
    await start();
    rig.refusing = true;
    const refusal = { name: 'AttemptError', processed: 'unsent', type: 'connect' };
    await expect(destination.send(outgoing().request)).rejects.toMatchObject(refusal);
    await expect(destination.upgrade(outgoing({ headers: SWITCH }).request)).rejects.toMatchObject(refusal);
    expect(destination.inFlight).toBe(0);
    rig.refusing = false;
    expect(await textOf(await destination.send(outgoing().request))).toBe('here');
    expect(server.requests).toHaveLength(1);
  });

  it('can destroy an open connection', async () => {
    await start();
    const hanging = destination.send(outgoing({ target: '/hang' }).request);
    await once(server.http, 'request');
    rig.sockets[0]!.destroy(new Error('cut'));
    await expect(hanging).rejects.toMatchObject({ processed: 'maybe' });

    const { upgraded } = await destination.upgrade(outgoing({ headers: SWITCH }).request);
    expect(rig.sockets.at(-1)).toBe(upgraded!.socket);
  });
});
