import { expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { exchangeFor } from '../../proxy/discovery/exchange.fixture.js';
import { recordingLogger, text } from './listener.fixture.js';
import { OpenExchanges } from './open-exchanges.js';
import { ReplyWriter, type Wire } from './reply-writer.js';

const PROGRESS_MS = 30_000;
const MEGABYTE = 1024 * 1024;

/** A reply of 16 MB on a wire whose client has taken as much as a test says. */
async function writing() {
  const exchange = exchangeFor('/');
  const state = { unsentBytes: 16 * MEGABYTE, isCut: false };
  const wire: Wire = {
    head: () => {},
    write: () => false,
    end: () => {},
    complete: () => {},
    cut: () => {},
    unsentBytes: () => state.unsentBytes,
    cutStalled: () => {
      state.isCut = true;
    },
  };
  const writer = new ReplyWriter(exchange, wire, null);
  const { connection } = exchange;
  await writer.run({
    handler: async () => text('x'.repeat(state.unsentBytes)),
    clock: new ManualClock(),
    logger: recordingLogger([]),
    connection,
    draining: new OpenExchanges(),
  });
  return { writer, state };
}

it('gives a client that reads slowly the time in which the kernel takes its next large step', async () => {
  const { writer, state } = await writing();
  for (let nowMs = 0; nowMs < 600_000; nowMs += 7_500) {
    if (nowMs > 0 && nowMs % 37_500 === 0) state.unsentBytes -= 0.4 * MEGABYTE;
    expect(writer.endIfStalled(nowMs, PROGRESS_MS)).toBe(false);
  }
  expect(state.isCut).toBe(false);
});

it('ends a reply of which nothing is taken', async () => {
  const { writer, state } = await writing();
  expect(writer.endIfStalled(0, PROGRESS_MS)).toBe(false);
  expect(writer.endIfStalled(44_999, PROGRESS_MS)).toBe(false);
  expect(writer.endIfStalled(45_000, PROGRESS_MS)).toBe(true);
  expect(state.isCut).toBe(true);
});
