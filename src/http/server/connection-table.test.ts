import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { ConnectionTable, DISPLACEABLE_AFTER_MS } from './connection-table.js';

/** Socket with a remote address and port; both are undefined after a reset before the accept. */
function socketFrom(remoteAddress?: string, remotePort?: number): Socket {
  const socket = new EventEmitter();
  return Object.assign(socket, {
    remoteAddress,
    remotePort,
    localAddress: '127.0.0.1',
    localPort: 6443,
    destroy: () => socket.emit('close'),
  }) as unknown as Socket;
}

function tableOf(connectionsMax: number, clock = new ManualClock()): ConnectionTable {
  return new ConnectionTable({ connectionsMax, connectionsPerAddressMax: connectionsMax }, clock, () => {});
}

it('ConnectionTable counts connections reset before the accept and removes each when it closes', () => {
  const table = tableOf(3);
  const reset = [socketFrom(), socketFrom()];
  for (const socket of reset) expect(table.admit(socket)).toBe('admitted');
  expect(table.size).toBe(2);
  for (const socket of reset) socket.destroy();
  expect(table.size).toBe(0);
});

it('ConnectionTable keeps its bound when a client reuses the port of a connection that is still open', () => {
  const table = tableOf(2);
  const first = socketFrom('10.0.0.1', 1000);
  table.admit(first);
  const second = socketFrom('10.0.0.1', 1000);
  const connection = { remoteAddress: '10.0.0.1', certificateChain: [], authenticated: true };
  table.admit(second);
  table.used(second, connection);
  first.destroy();
  expect(table.size).toBe(1);
  const third = socketFrom('10.0.0.1', 1001);
  table.admit(third);
  table.used(third, { ...connection });
  expect(table.admit(socketFrom('10.0.0.1', 1002))).toBe('refused');
});

it('ConnectionTable displaces a connection only after it had time to authenticate', async () => {
  const clock = new ManualClock();
  const table = tableOf(1, clock);
  let isClosed = false;
  const first = socketFrom('10.0.0.1', 1000).once('close', () => {
    isClosed = true;
  });
  table.admit(first);
  await clock.advance(DISPLACEABLE_AFTER_MS - 300);
  const second = socketFrom('10.0.0.1', 1001);
  expect(table.admit(second)).toEqual({ retryMs: 300 });
  expect({ isClosed, size: table.size }).toEqual({ isClosed: false, size: 1 });
  await clock.advance(300);
  expect(table.admit(second)).toBe('admitted');
  expect({ isClosed, size: table.size }).toEqual({ isClosed: true, size: 1 });
});
