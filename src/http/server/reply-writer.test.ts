import { expect, it } from 'vitest';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { exchangeFor } from '../../proxy/discovery/exchange.fixture.js';
import { recordingLogger, text } from './listener.fixture.js';
import { OpenExchanges } from './open-exchanges.js';
import { ReplyWriter, type Wire } from './reply-writer.js';

const PROGRESS_MS = 30_000;
const MEGABYTE = 1024 * 1024;

/** Writes a reply of 16 MiB; the test sets `unsentBytes`. */
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

it('ReplyWriter does not end a reply whose client reads slowly, in large steps of the kernel', async () => {
  const { writer, state } = await writing();
  for (let nowMs = 0; nowMs < 600_000; nowMs += 7_500) {
    if (nowMs > 0 && nowMs % 37_500 === 0) state.unsentBytes -= 0.4 * MEGABYTE;
    expect(writer.endIfStalled(nowMs, PROGRESS_MS)).toBe(false);
  }
  expect(state.isCut).toBe(false);
});

it('ReplyWriter ends a reply whose client reads nothing for 1.5 times the progress timeout', async () => {
  const { writer, state } = await writing();
  expect(writer.endIfStalled(0, PROGRESS_MS)).toBe(false);
  expect(writer.endIfStalled(44_999, PROGRESS_MS)).toBe(false);
  expect(writer.endIfStalled(45_000, PROGRESS_MS)).toBe(true);
  expect(state.isCut).toBe(true);
});
