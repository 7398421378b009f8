import { describe, expect, it } from 'vitest';
import { ManualClock } from '../base/manual-clock.fixture.js';
import { BodyStream } from './body-stream.js';
import { Deadline } from './deadline.js';
import type { Reply } from './exchange.js';

function hangingReply(): { reply: Reply; cancelled: string[] } {
  const cancelled: string[] = [];
  const body = new BodyStream({ pause() {}, resume() {}, cancel: ({ message }) => cancelled.push(message) });
  return { reply: { status: 200, headers: [], body }, cancelled };
}

describe('Deadline', () => {
  it('rejects work that does not settle in time and calls the abort listeners', async () => {
    const clock = new ManualClock();
    const deadline = new Deadline(clock, 100, 'GET /version');
    let aborted = 0;
    deadline.onAbort(() => aborted++);
    const work = deadline.race(new Promise(() => {}));
    const rejected = expect(work).rejects.toThrow('GET /version: timeout, no reply in 100 ms');
    await clock.advance(100);
    await rejected;
    expect([aborted, deadline.isOver]).toEqual([1, true]);
  });

  it('rejects with the error that its creator makes', async () => {
    const clock = new ManualClock();
    const deadline = new Deadline(clock, 100, () => new RangeError('too slow'));
    const work = deadline.race(new Promise(() => {}));
    const rejected = expect(work).rejects.toThrow(RangeError);
    await clock.advance(100);
    await rejected;
  });

  it('discards a reply that arrives after the time is up', async () => {
    const clock = new ManualClock();
    const deadline = new Deadline(clock, 100, 'GET /version');
    const { reply, cancelled } = hangingReply();
    let arrive: (reply: Reply) => void = () => {};
    const waited = deadline.reply(new Promise((resolve) => (arrive = resolve)));
    const rejected = expect(waited).rejects.toThrow('timeout');
    await clock.advance(100);
    await rejected;
    deadline.end();
    arrive(reply);
    await Promise.resolve();
    expect(cancelled).toEqual(['GET /version: timeout, no reply in 100 ms']);
  });

  it('cancels the body of a reply when the time is up, unless the deadline was ended', async () => {
    const clock = new ManualClock();
    const [first, second] = [hangingReply(), hangingReply()];
    const deadline = new Deadline(clock, 100, 'GET /a');
    const ended = new Deadline(clock, 100, 'GET /b');
    await deadline.reply(Promise.resolve(first.reply));
    await ended.reply(Promise.resolve(second.reply));
    ended.end();
    await clock.advance(100);
    expect([first.cancelled.length, second.cancelled.length]).toEqual([1, 0]);
  });
});
