import { EventEmitter } from 'node:events';
import type { Socket } from 'node:net';
import { beforeEach, describe, expect, it } from 'vitest';
import { ManualClock, settle } from '../../base/manual-clock.fixture.js';
import type { Admission } from './connection-table.js';
import { HANDSHAKES_PER_TURN_MAX, HandshakeQueue, RETRY_MS_MIN } from './handshake-queue.js';

const WAIT_MS = 10_000;

let clock: ManualClock;
let begun: string[];
let closed: string[];
let overflows: number;
let admission: (address: string) => Admission;
let queue: HandshakeQueue;

beforeEach(() => {
  clock = new ManualClock();
  begun = [];
  closed = [];
  overflows = 0;
  admission = () => 'admitted';
  // A queue of an earlier test may still begin connections in its next turn.
  const names = begun;
  queue = new HandshakeQueue({
    clock,
    waitMs: WAIT_MS,
    waitingMax: () => 20,
    admit: ({ remoteAddress }) => admission(remoteAddress!),
    begin: (socket) => names.push(nameOf(socket)),
    onOverflow: () => {
      overflows += 1;
    },
  });
});

const nameOf = (socket: Socket): string => (socket as unknown as { name: string }).name;

function enter(remoteAddress: string, count: number): void {
  for (let i = 0; i < count; i++) {
    const socket = new EventEmitter();
    const name = `${remoteAddress}#${i}`;
    const destroy = () => {
      closed.push(name);
      socket.emit('close');
    };
    queue.enter(Object.assign(socket, { remoteAddress, name, destroy }) as unknown as Socket);
  }
}

describe('HandshakeQueue', () => {
  it('begins a bounded number of handshakes in one turn of the event loop and the others in later turns', async () => {
    enter('10.0.0.1', HANDSHAKES_PER_TURN_MAX + 3);
    expect(begun).toHaveLength(HANDSHAKES_PER_TURN_MAX);
    expect(queue.size).toBe(3);
    await settle(1);
    expect(begun).toHaveLength(HANDSHAKES_PER_TURN_MAX + 3);
    expect(queue.size).toBe(0);
  });

  it('lets addresses take turns, so that one connection is not behind the flood of another address', async () => {
    enter('10.0.0.1', 3 * HANDSHAKES_PER_TURN_MAX);
    enter('10.0.0.2', 1);
    await settle(1);
    expect(begun.slice(HANDSHAKES_PER_TURN_MAX, 2 * HANDSHAKES_PER_TURN_MAX)).toContain('10.0.0.2#0');
    expect(begun.slice(HANDSHAKES_PER_TURN_MAX)[0]).toBe(`10.0.0.1#${HANDSHAKES_PER_TURN_MAX}`);
  });

  it('retries after the delay of the connection table, and serves other addresses meanwhile', async () => {
    admission = (address) => (address === '10.0.0.1' ? { retryMs: 500 } : 'admitted');
    enter('10.0.0.1', 2);
    enter('10.0.0.2', 1);
    await clock.advance(499);
    expect(begun).toEqual(['10.0.0.2#0']);
    admission = () => 'admitted';
    await clock.advance(1);
    expect(begun).toEqual(['10.0.0.2#0', '10.0.0.1#0', '10.0.0.1#1']);
  });

  it('retries at the earliest time at which one of the addresses may begin', async () => {
    admission = (address) => ({ retryMs: address === '10.0.0.1' ? 1_000 : 100 });
    enter('10.0.0.1', 1);
    enter('10.0.0.2', 1);
    admission = (address) => (address === '10.0.0.1' ? { retryMs: 900 } : 'admitted');
    await clock.advance(100);
    expect(begun).toEqual(['10.0.0.2#0']);
  });

  it('does not try again sooner than its least delay, however many addresses wait', async () => {
    let tries = 0;
    admission = () => {
      tries += 1;
      return { retryMs: 1 };
    };
    for (let i = 0; i < 20; i++) enter(`10.0.0.${i}`, 1);
    tries = 0;
    await clock.advance(RETRY_MS_MIN - 1);
    expect(tries).toBe(0);
    await clock.advance(1);
    expect(tries).toBe(20);
  });

  it('closes the newest of equally many connections when too many wait', () => {
    admission = () => ({ retryMs: 1_000 });
    for (let i = 0; i < 21; i++) enter(`10.0.0.${i}`, 1);
    expect(closed).toEqual(['10.0.0.20#0']);
  });

  it('closes a connection that the table of connections refuses', async () => {
    admission = () => 'refused';
    enter('10.0.0.1', 1);
    expect({ closed, size: queue.size }).toEqual({ closed: ['10.0.0.1#0'], size: 0 });
  });

  it('closes the newest connection of the address with the most when too many wait', () => {
    admission = () => ({ retryMs: 1_000 });
    enter('10.0.0.1', 19);
    enter('10.0.0.2', 2);
    expect({ closed, overflows, size: queue.size }).toEqual({ closed: ['10.0.0.1#18'], overflows: 1, size: 20 });
  });

  it('closes a connection that has waited for the longest permitted time', async () => {
    admission = () => ({ retryMs: 1_000 });
    enter('10.0.0.1', 1);
    await clock.advance(WAIT_MS - 1);
    expect(closed).toEqual([]);
    await clock.advance(1);
    expect({ closed, size: queue.size }).toEqual({ closed: ['10.0.0.1#0'], size: 0 });
  });

  it('keeps nothing of a connection that was closed while it waited', async () => {
    admission = () => ({ retryMs: 1_000 });
    enter('10.0.0.1', 2);
    queue.destroyAll();
    expect({ size: queue.size, alarms: clock.pending }).toEqual({ size: 0, alarms: 0 });
    admission = () => 'admitted';
    await clock.advance(2_000);
    expect(begun).toEqual([]);
  });
});
