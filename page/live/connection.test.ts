import { describe, expect, it } from 'vitest';
import { upgradeState } from '../../test/page/states.js';
import {
  Connection,
  type ConnectionSurroundings,
  FETCH_MS_MAX,
  FRESH_MS_MAX,
  isOld,
  type Live,
  POLL_EVERY_MS,
  RETRY_MS_MAX,
  SILENCE_MS_MAX,
  type StreamHandlers,
} from './connection.js';

/** A browser without a browser: timers by hand, streams and answers as the test wants them. */
class FakeBrowser implements ConnectionSurroundings {
  now = 1_000;
  sleptMs = 0;
  answer: () => string = () => {
    throw new Error('refused');
  };
  readonly streams: { readonly handlers: StreamHandlers; readonly atMs: number; isOpen: boolean }[] = [];
  refusesStreams = false;
  #timers: { readonly atMs: number; readonly run: () => void }[] = [];

  openStream(handlers: StreamHandlers): () => void {
    const stream = { handlers, atMs: this.now, isOpen: true };
    this.streams.push(stream);
    if (this.refusesStreams) this.later(0, () => handlers.onEnd());
    return () => {
      stream.isOpen = false;
    };
  }

  async fetchState(): Promise<string> {
    return this.answer();
  }

  later(ms: number, run: () => void): () => void {
    const timer = { atMs: this.now + ms, run };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }

  nowMs(): number {
    return this.now;
  }

  wallMs(): number {
    return this.now + this.sleptMs;
  }

  chance(): number {
    return 1;
  }

  get last(): StreamHandlers {
    return this.streams.at(-1)!.handlers;
  }

  /** Runs what is due until then, and what promises do after it. */
  async pass(ms: number): Promise<void> {
    const end = this.now + ms;
    for (;;) {
      const [next] = this.#timers.filter(({ atMs }) => atMs <= end).sort((left, right) => left.atMs - right.atMs);
      if (next === undefined) break;
      this.now = Math.max(this.now, next.atMs);
      this.#timers = this.#timers.filter((each) => each !== next);
      next.run();
      await settled();
    }
    this.now = end;
    await settled();
  }
}

/** After all promises that are resolved by now. */
const settled = () => new Promise<void>((resolve) => setImmediate(resolve));

function started(): { browser: FakeBrowser; connection: Connection; live: () => Live; old: () => boolean } {
  const browser = new FakeBrowser();
  const connection = new Connection(browser, () => {});
  connection.tryNow();
  const old = () => isOld(connection.live, { nowMs: browser.nowMs(), wallMs: browser.wallMs() });
  return { browser, connection, live: () => connection.live, old };
}

const text = JSON.stringify(upgradeState());

describe('the connection of the page', () => {
  it('is live with the first state of the stream, and has the clock of the server', () => {
    const { browser, live } = started();
    expect(live().phase).toBe('connecting');
    browser.last.onEvent('state', text);
    expect(live()).toMatchObject({ phase: 'live', clockOffsetMs: upgradeState().atMs - 1_000, problem: undefined });
  });

  it('takes a section of the stream as a whole', () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    browser.last.onEvent('checks', '[]');
    expect(live().state?.checks).toEqual([]);
    expect(live().state?.servers).toHaveLength(3);
  });

  it('ignores a section before the first state', () => {
    const { browser, live } = started();
    browser.last.onEvent('checks', '[]');
    expect(live().state).toBeUndefined();
  });

  it('sets its clock by an event that says that the stream is alive', () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    browser.now += 500;
    browser.last.onEvent('alive', '{"atMs":90000}');
    expect(live()).toMatchObject({ clockOffsetMs: 90_000 - 1_500, heardAtMs: 1_500 });
  });

  it('polls the state where there is no stream, and goes on trying to have one', async () => {
    const { browser, live } = started();
    browser.answer = () => text;
    browser.last.onEnd();
    await settled();
    expect(live().phase).toBe('polling');
    await browser.pass(3_000);
    expect(browser.streams).toHaveLength(2);
    browser.last.onEvent('state', text);
    expect(live().phase).toBe('live');
  });

  it('reads the state again and again while it polls', async () => {
    const { browser, live } = started();
    let asked = 0;
    browser.answer = () => {
      asked += 1;
      return text;
    };
    browser.refusesStreams = true;
    browser.last.onEnd();
    await browser.pass(10 * RETRY_MS_MAX);
    const before = asked;
    await browser.pass(4 * POLL_EVERY_MS);
    expect(asked - before).toBeGreaterThanOrEqual(3);
    expect(live().phase).toBe('polling');
  });

  it('keeps the last state and says why when there is neither stream nor state', async () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    browser.last.onEnd();
    await settled();
    expect(live()).toMatchObject({ phase: 'lost', problem: 'refused', heardAtMs: 1_000 });
    expect(live().state?.server).toBe('cp-1');
  });

  it('waits twice as long after each failure, up to a bound', async () => {
    const { browser } = started();
    browser.refusesStreams = true;
    browser.last.onEnd();
    await browser.pass(6 * RETRY_MS_MAX);
    const waits = browser.streams.slice(1).map(({ atMs }, index) => atMs - browser.streams[index]!.atMs);
    expect(waits.slice(0, 7)).toEqual([1_000, 2_000, 4_000, 8_000, 16_000, RETRY_MS_MAX, RETRY_MS_MAX]);
  });

  it('replaces a stream that is silent for long, and is live meanwhile', async () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    await browser.pass(SILENCE_MS_MAX);
    expect(browser.streams.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    expect(live().phase).toBe('live');
    browser.last.onEvent('state', text);
    expect(live().heardAtMs).toBe(1_000 + SILENCE_MS_MAX);
  });

  it('is lost when the new stream is silent too, and the state cannot be had', async () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    await browser.pass(SILENCE_MS_MAX + FETCH_MS_MAX);
    expect(live()).toMatchObject({ phase: 'lost', heardAtMs: 1_000 });
  });

  it('has no verdict any more when a stream is silent for seconds, though nobody heard its end', async () => {
    const { browser, live, old } = started();
    browser.last.onEvent('state', text);
    await browser.pass(FRESH_MS_MAX);
    expect([live().phase, old()]).toEqual(['live', false]);
    await browser.pass(1);
    expect([live().phase, old()]).toEqual(['live', true]);
    browser.last.onEvent('alive', '{"atMs":90000}');
    expect(old()).toBe(false);
  });

  it('keeps the verdict between two polls, and not after one that gets no answer', async () => {
    const { browser, live, old } = started();
    browser.answer = () => text;
    browser.refusesStreams = true;
    browser.last.onEnd();
    await settled();
    expect([live().phase, old()]).toEqual(['polling', false]);
    browser.fetchState = () => new Promise(() => {});
    await browser.pass(POLL_EVERY_MS);
    expect(old()).toBe(false);
    await browser.pass(FRESH_MS_MAX + 1);
    expect(old()).toBe(true);
  });

  it('opens another stream when the machine wakes up, though the last one looks alive', () => {
    const { browser, connection, old } = started();
    browser.last.onEvent('state', text);
    connection.tryNow();
    expect([browser.streams.length, old()]).toEqual([1, false]);
    browser.sleptMs = 3_600_000;
    expect(old()).toBe(true);
    connection.tryNow();
    expect(browser.streams.map(({ isOpen }) => isOpen)).toEqual([false, true]);
    browser.last.onEvent('state', text);
    expect(old()).toBe(false);
  });

  it('gives up a stream with data that cannot be read', async () => {
    const { browser, live } = started();
    browser.last.onEvent('state', text);
    browser.last.onEvent('servers', '{');
    await settled();
    expect(browser.streams[0]!.isOpen).toBe(false);
    expect(live().phase).toBe('lost');
  });

  it('says that the page must be loaded anew for a format of another version', async () => {
    const { browser, live } = started();
    browser.last.onEvent('state', JSON.stringify({ ...upgradeState(), formatVersion: 2 }));
    await settled();
    expect(live()).toMatchObject({ phase: 'lost', state: undefined });
    expect(live().problem).toContain('reload the page');
  });

  it('hears nothing any more of a stream that it closed', async () => {
    const { browser, live } = started();
    const old = browser.last;
    browser.last.onEnd();
    await settled();
    old.onEvent('state', text);
    expect(live().state).toBeUndefined();
  });

  it('has nothing left to do after its end', async () => {
    const { browser, connection } = started();
    connection.close();
    await browser.pass(10 * RETRY_MS_MAX);
    expect(browser.streams.map(({ isOpen }) => isOpen)).toEqual([false]);
  });
});
