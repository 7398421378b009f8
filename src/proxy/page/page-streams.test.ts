import { describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import type { BodyStream } from '../../http/body-stream.js';
import { NO_COUNTS } from './flow-seconds.js';
import { PageHub } from './page-hub.js';
import { type PageSnapshot, SECTION_NAMES } from './page-snapshot.js';
import {
  PAGE_STREAMS_MAX,
  PAGE_STREAMS_PER_CALLER_MAX,
  PageStreams,
  STREAM_LIFE_MS_MAX,
  STREAM_STALLED_MS_MAX,
} from './page-streams.js';

/** A page whose verdict changes each second, and what is built of it. */
function page({ changes = true }: { readonly changes?: boolean } = {}) {
  const clock = new ManualClock();
  let builds = 0;
  const state = { fails: false };
  const build = async (): Promise<PageSnapshot> => {
    if (state.fails) throw new Error('the head does not answer');
    builds += 1;
    const sections = SECTION_NAMES.map((name) => {
      const number = name === 'verdict' && changes ? builds : 1;
      return [name, { number, json: `"${name} ${number}"` }] as const;
    });
    return {
      about: { server: 'cp-1', product: 'sidecar', straddleVersion: '0.1.0', atMs: clock.nowMs() },
      sections: Object.fromEntries(sections) as unknown as PageSnapshot['sections'],
      flow: { recent: [], seconds: [], totals: NO_COUNTS, left: 0 },
    };
  };
  const hub = new PageHub({ build, clock, logger: silentLogger });
  const limits: string[] = [];
  const streams = new PageStreams({ hub, clock, onLimit: (limit) => limits.push(limit) });
  const open = (caller = 'jane') => streams.open(caller, () => undefined);
  return { state, clock, hub, streams, open, limits, builds: () => builds };
}

function read(body: BodyStream, takes: () => boolean = () => true) {
  const seen = { text: '', outcome: undefined as 'ended' | 'cut' | undefined };
  body.attach({
    write(chunk) {
      seen.text += Buffer.from(chunk).toString();
      return takes();
    },
    end: () => {
      seen.outcome = 'ended';
    },
    fail: () => {
      seen.outcome = 'cut';
    },
  });
  return seen;
}

const verdicts = (text: string) =>
  [...text.matchAll(/^event: verdict\ndata: "verdict (\d+)"$/gm)].map(([, n]) => Number(n));

describe('page streams', () => {
  it('sends the whole state, then only what has changed', async () => {
    const { clock, open } = page();
    const seen = read(await open());
    expect(seen.text).toMatch(/^retry: 2000\nevent: state\ndata: \{"kind":"StraddleState","formatVersion":1,.*\}\n\n$/);
    await clock.advance(2_000);
    expect(verdicts(seen.text)).toEqual([2, 3]);
    expect(seen.text).not.toContain('event: servers');
  });

  it('builds one state a second for all streams, and none while there is no stream', async () => {
    const { clock, open, builds, streams } = page();
    const bodies = await Promise.all([open('a'), open('b'), open('c')]);
    for (const body of bodies) read(body);
    await clock.advance(3_000);
    expect(builds()).toBe(4);
    for (const body of bodies) body.cancel(new Error('the client left'));
    await clock.advance(60_000);
    expect([builds(), streams.size, clock.pending]).toEqual([4, 0, 0]);
  });

  it('says that it is alive with an event, which scripts hear, when nothing has changed', async () => {
    const { clock, open } = page({ changes: false });
    const seen = read(await open());
    await clock.advance(1_000);
    const [, alive] = /\n\nevent: alive\ndata: (.*)\n\n$/.exec(seen.text)!;
    expect(JSON.parse(alive!)).toEqual({ atMs: clock.nowMs() });
  });

  it('ends all streams when no state can be built, so that nobody takes the last one for that of now', async () => {
    const { clock, open, state, streams } = page();
    const seen = [read(await open('a')), read(await open('b'))];
    state.fails = true;
    await clock.advance(1_000);
    expect(seen.map(({ outcome }) => outcome)).toEqual(['ended', 'ended']);
    expect([streams.size, clock.pending]).toEqual([0, 0]);
  });

  it('skips a slow reader to the newest state', async () => {
    const { clock, open } = page();
    let takes = true;
    const body = await open();
    const seen = read(body, () => takes);
    takes = false;
    await clock.advance(1_000);
    await clock.advance(10_000);
    expect(verdicts(seen.text)).toEqual([2]);
    takes = true;
    body.resume();
    await clock.advance(1_000);
    expect(verdicts(seen.text)).toEqual([2, 13]);
  });

  it('cuts the stream of a client that takes nothing', async () => {
    const { clock, open, limits, streams } = page();
    const seen = read(await open(), () => false);
    await clock.advance(STREAM_STALLED_MS_MAX);
    expect([seen.outcome, streams.size, limits]).toEqual(['cut', 0, ['page-stream-stalled']]);
    expect(seen.text.match(/^event:/gm)).toHaveLength(1);
  });

  it('ends a stream after its longest life, so that rights are checked again', async () => {
    const { clock, open, streams } = page();
    const seen = read(await open());
    await clock.advance(STREAM_LIFE_MS_MAX);
    expect([seen.outcome, streams.size]).toEqual(['ended', 0]);
  });

  it('bounds the streams of a caller and of all', async () => {
    const { open, limits, streams } = page();
    const own = await Promise.all(Array.from({ length: PAGE_STREAMS_PER_CALLER_MAX }, () => open('jane')));
    await expect(open('jane')).rejects.toMatchObject({ status: { code: 429 } });
    own[0]!.cancel(new Error('the client left'));
    await open('jane');
    for (let i = streams.size; i < PAGE_STREAMS_MAX; i++) await open(`user-${i}`);
    await expect(open('one-more')).rejects.toMatchObject({ status: { code: 429 } });
    expect(limits).toEqual(['page-streams', 'page-streams']);
  });

  it('encodes a state and its sections once for all streams, and counts the bytes of the first event', async () => {
    const { clock, streams } = page();
    const reserved: number[] = [];
    const chunks: Uint8Array[][] = [];
    for (const caller of ['a', 'b']) {
      const body = await streams.open(caller, (bytes) => void reserved.push(bytes));
      const taken: Uint8Array[] = [];
      chunks.push(taken);
      body.attach({ write: (chunk) => taken.push(chunk) > 0, end: () => {}, fail: () => {} });
    }
    const [a, b] = chunks as [Uint8Array[], Uint8Array[]];
    const bytesOf = (taken: Uint8Array[]) => taken.reduce((sum, { byteLength }) => sum + byteLength, 0);
    expect(reserved).toEqual([bytesOf(a), bytesOf(b)]);
    await clock.advance(1_000);
    const verdictOf = (taken: Uint8Array[]) => taken.find((each) => Buffer.from(each).includes('event: verdict'));
    expect(verdictOf(a)).toBeDefined();
    expect(verdictOf(a)).toBe(verdictOf(b));
    expect(a[1]).toBe(b[1]);
  });

  it('counts no stream that found no memory', async () => {
    const { streams } = page();
    for (let i = 0; i < PAGE_STREAMS_MAX; i++) {
      await expect(streams.open('jane', () => Promise.reject(new Error('no memory')))).rejects.toThrow('no memory');
    }
    expect(streams.size).toBe(0);
    await streams.open('jane', () => undefined);
  });

  it('ends all streams at a shutdown and opens no others', async () => {
    const { open, streams, clock } = page();
    const seen = read(await open());
    streams.close();
    expect([seen.outcome, streams.size, clock.pending]).toEqual(['ended', 0, 0]);
    await expect(open()).rejects.toMatchObject({ status: { code: 503 } });
  });
});

describe('page hub', () => {
  it('gives a state that is at most a second old, built once for readers at the same time', async () => {
    const { hub, clock, builds } = page();
    const [a, b] = await Promise.all([hub.snapshot(), hub.snapshot()]);
    expect(a).toBe(b);
    await clock.advance(999);
    expect(await hub.snapshot()).toBe(a);
    await clock.advance(1);
    expect(await hub.snapshot()).not.toBe(a);
    expect(builds()).toBe(2);
  });

  it('goes on after a state that could not be built', async () => {
    const clock = new ManualClock();
    let fails = true;
    const build = async () => {
      if (fails) throw new Error('the head does not answer');
      return {} as PageSnapshot;
    };
    const hub = new PageHub({ build, clock, logger: silentLogger });
    await expect(hub.snapshot()).rejects.toThrow('the head does not answer');
    let ticks = 0;
    let failures = 0;
    const stop = hub.subscribe({
      onSnapshot: () => {
        ticks += 1;
      },
      onFailure: () => {
        failures += 1;
      },
    });
    await clock.advance(2_000);
    expect([ticks, failures]).toEqual([0, 2]);
    fails = false;
    await clock.advance(1_000);
    expect(ticks).toBe(1);
    stop();
  });
});
