import { PassThrough } from 'node:stream';
import { describe, expect, it } from 'vitest';
import { Network, type Partition } from './network.js';

const A = '127.0.0.1:1';
const B = '127.0.0.1:2';

function network(hangMsMax?: number): Network {
  const made = new Network(hangMsMax);
  made.join('a', A);
  made.join('b', B);
  return made;
}

function between(one: string, other: string, hangs = false): Partition {
  return { sides: [new Set([one]), new Set([other])], hangs };
}

describe('the simulated network of a control plane', () => {
  it('refuses new connections across a partition, both ways, and cuts existing ones', async () => {
    const net = network();
    const socket = new PassThrough().on('error', () => {});
    net.reachFrom('a').opened(B, socket);
    const end = net.part(between('a', 'b'));
    expect(socket.destroyed).toBe(true);
    await expect(net.reachFrom('a').admit(B)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(net.reachFrom('b').admit(A)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await net.reachFrom('c').admit(A);
    end();
    await net.reachFrom('a').admit(B);
  });

  it('cuts a connection whose attempt began before the partition', async () => {
    const net = network();
    const reach = net.reachFrom('a');
    await reach.admit(B);
    net.part(between('b', 'a'));
    const socket = new PassThrough().on('error', () => {});
    reach.opened(B, socket);
    expect(socket.destroyed).toBe(true);
  });

  it('lets connection attempts hang until the partition ends', async () => {
    const net = network();
    const end = net.part(between('a', 'b', true));
    let admitted = false;
    const waiting = net.reachFrom('a').admit(B);
    void waiting.then(() => {
      admitted = true;
    });
    await new Promise((resolve) => setImmediate(resolve));
    expect(admitted).toBe(false);
    end();
    await waiting;
  });

  it('fails a hanging connection attempt with ETIMEDOUT', async () => {
    const net = network(20);
    net.part(between('a', 'b', true));
    await expect(net.reachFrom('a').admit(B)).rejects.toMatchObject({ code: 'ETIMEDOUT' });
  });

  it('refuses all connections of a killed member, hanging ones included', async () => {
    const net = network();
    net.part(between('a', 'b', true));
    const waiting = net.reachFrom('a').admit(B);
    net.silence('a');
    await expect(waiting).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    await expect(net.reachFrom('a').admit(A)).rejects.toMatchObject({ code: 'ECONNREFUSED' });
    net.unsilence('a');
    await net.reachFrom('a').admit(A);
  });
});
