import { expect, it } from 'vitest';
import { ManualClock, settle } from './manual-clock.fixture.js';
import { RepeatedTask } from './repeated-task.js';

/** A task whose turns end when the test calls the function that each adds to `ends`. */
function repeated(pauseMs = () => 100) {
  const clock = new ManualClock();
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  return { clock, ends, task: new RepeatedTask({ clock, run, pauseMs }) };
}

it('RepeatedTask begins the next turn one pause after the end of the last one', async () => {
  const { clock, ends, task } = repeated();
  const first = task.now();
  await clock.advance(1_000);
  expect(ends).toHaveLength(1);
  ends[0]!();
  await first;
  await clock.advance(99);
  expect(ends).toHaveLength(1);
  await clock.advance(1);
  expect(ends).toHaveLength(2);
});

it('RepeatedTask.now() joins the turn in progress, and anew() waits for a turn that begins after the call', async () => {
  const { ends, task } = repeated();
  void task.now();
  void task.now();
  let anewEnded = false;
  void task.anew().then(() => {
    anewEnded = true;
  });
  expect(ends).toHaveLength(1);
  ends[0]!();
  await settle();
  expect(ends).toHaveLength(2);
  expect(anewEnded).toBe(false);
  ends[1]!();
  await settle();
  expect(anewEnded).toBe(true);
});

it('RepeatedTask.pause() restarts the pause with its present length, except during a turn', async () => {
  let pauseMs = 1_000;
  const { clock, ends, task } = repeated(() => pauseMs);
  task.pause();
  pauseMs = 10;
  task.pause();
  await clock.advance(10);
  expect(ends).toHaveLength(1);
  task.pause();
  expect(clock.pending).toBe(0);
});

it('RepeatedTask begins no turn after close(), which resolves after the turn in progress', async () => {
  const { clock, ends, task } = repeated();
  void task.now();
  let closed = false;
  void task.close().then(() => {
    closed = true;
  });
  await settle();
  expect(closed).toBe(false);
  ends[0]!();
  await clock.advance(1_000);
  expect(closed).toBe(true);
  await task.now();
  expect(ends).toHaveLength(1);
});
