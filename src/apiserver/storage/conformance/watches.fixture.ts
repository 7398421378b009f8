import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Backend } from '../backend.js';
import { brief, bytes, codeOf, collect, uniquePrefix } from './attempts.fixture.js';

export function describeWatches(store: () => Backend): void {
  it('watches puts and deletes with previous values', async () => {
    const prefix = uniquePrefix();
    const watch = store().watch(prefix, { fromRevision: (await store().currentRevision()) + 1 });
    const collected = collect(watch, { events: 4 });
    const created = await store().create(`${prefix}a`, bytes('1'));
    await store().create(`${uniquePrefix()}beside`, bytes('x'));
    const updated = await store().update(`${prefix}a`, bytes('2'), created.modRevision);
    const gone = await store().delete(`${prefix}a`);
    await store().create(`${prefix}a`, bytes('3'));
    const { events } = await collected;
    expect(events.slice(0, 3)).toEqual([
      { type: 'put', revision: created.modRevision, current: created, previous: undefined },
      { type: 'put', revision: updated.modRevision, current: updated, previous: created },
      { type: 'delete', revision: gone.revision, key: bytes(`${prefix}a`), previous: updated },
    ]);
    expect(brief(events[3]!)).toBe(`put ${prefix}a=3`);
  });

  it('sends the written value even if the writer changes its buffers afterwards', async () => {
    const prefix = uniquePrefix();
    const key = bytes(`${prefix}a`);
    const value = bytes('mine');
    const { modRevision } = await store().create(key, value);
    key.fill(0);
    value.fill(0);
    const { events } = await collect(store().watch(prefix, { fromRevision: modRevision }), { events: 1 });
    expect(brief(events[0]!)).toBe(`put ${prefix}a=mine`);
  });

  it('sends all deletes of large values at one moment with previous values', async () => {
    const prefix = uniquePrefix();
    const keys = Array.from({ length: 12 }, (_, index) => `${prefix}${index}`);
    const values = keys.map((_, index) => Buffer.alloc(2 ** 20, index));
    for (const [index, key] of keys.entries()) await store().create(key, values[index]!);
    const fromRevision = (await store().currentRevision()) + 1;
    const early = collect(store().watch(prefix, { fromRevision }), { events: keys.length });
    await Promise.all(keys.map((key) => store().delete(key)));
    const late = collect(store().watch(prefix, { fromRevision }), { events: keys.length });
    for (const { events } of [await early, await late]) {
      expect(events.map((event) => event.type)).toEqual(keys.map(() => 'delete'));
      for (const { previous } of events) {
        expect(previous!.value.equals(values[keys.indexOf(previous!.key.toString())]!)).toBe(true);
      }
      expect(new Set(events.map(({ revision }) => revision)).size).toBe(keys.length);
    }
  });

  it('starts a watch at any past revision without gap or repetition', async () => {
    const prefix = uniquePrefix();
    const revisions: number[] = [];
    let present = await store().create(`${prefix}a`, bytes('0'));
    revisions.push(present.modRevision);
    for (let i = 1; i < 12; i++) {
      present = await store().update(`${prefix}a`, bytes(String(i)), present.modRevision);
      revisions.push(present.modRevision);
    }
    for (const [index, fromRevision] of revisions.entries()) {
      const { events } = await collect(store().watch(prefix, { fromRevision }), { revision: revisions.at(-1)! });
      expect(events.map((event) => event.revision)).toEqual(revisions.slice(index));
    }
  });

  it('starts a watch at a future revision', async () => {
    const prefix = uniquePrefix();
    const fromRevision = (await store().currentRevision()) + 3;
    const watch = store().watch(prefix, { fromRevision });
    const collected = collect(watch, { events: 1 });
    for (let i = 0; i < 4; i++) await store().create(`${prefix}${i}`, bytes(String(i)));
    const { events } = await collected;
    expect(events[0]!.revision).toBeGreaterThanOrEqual(fromRevision);
  });

  it('answers a progress request on a quiet prefix', async () => {
    const watch = store().watch(uniquePrefix(), { fromRevision: (await store().currentRevision()) + 1 });
    const { modRevision } = await store().create(`${uniquePrefix()}elsewhere`, bytes('x'));
    const { events, revision } = await collect(watch, { revision: modRevision });
    expect(events).toEqual([]);
    expect(revision).toBeGreaterThanOrEqual(modRevision);
  });

  it('neither loses nor repeats events for many watches during many writes (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 40 }), { minLength: 3, maxLength: 6 }),
        fc.integer({ min: 2, max: 5 }),
        async (starts, writers) => {
          const prefix = uniquePrefix();
          const start = await store().currentRevision();
          const early = starts.map(() => collectPrefix(store(), prefix, start + 1, writers * WRITES_EACH));
          await Promise.all(Array.from({ length: writers }, (_, writer) => storm(store(), `${prefix}${writer}`)));
          const truth = (await early[0]!).map((event) => event.revision);
          expect(new Set(truth).size).toBe(writers * WRITES_EACH);
          for (const events of await Promise.all(early)) expect(events.map((event) => event.revision)).toEqual(truth);
          for (const offset of starts) {
            const fromRevision = truth[Math.min(offset, truth.length - 1)]!;
            const { events } = await collect(store().watch(prefix, { fromRevision }), { revision: truth.at(-1)! });
            expect(events.map((event) => event.revision)).toEqual(truth.filter((revision) => revision >= fromRevision));
          }
        },
      ),
      { numRuns: 4 },
    );
  });

  it('lets a slow reader of a watch catch up in order', async () => {
    const prefix = uniquePrefix();
    const fromRevision = (await store().currentRevision()) + 1;
    const iterator = store().watch(prefix, { fromRevision })[Symbol.asyncIterator]();
    const count = 1500;
    const first = iterator.next();
    await Promise.all(Array.from({ length: count }, (_, i) => store().create(`${prefix}${i}`, Buffer.alloc(512))));
    const events = [...(await first).value!.events];
    while (events.length < count) events.push(...(await iterator.next()).value!.events);
    expect(new Set(events.map((event) => event.revision)).size).toBe(count);
    await iterator.return?.(undefined);
  });

  it('ends a closed watch without an error, also while it waits', async () => {
    const watch = store().watch(uniquePrefix(), { fromRevision: (await store().currentRevision()) + 1 });
    const reading = (async () => {
      for await (const batch of watch) expect(batch.events).toEqual([]);
    })();
    watch.close();
    watch.close();
    await reading;
    expect(await codeOf((async () => store().watch('x', { fromRevision: -1 }))())).toBe('invalid');
  });
}

const WRITES_EACH = 9;

/** Creates, updates and deletes, over and over, as one writer among several. */
async function storm(store: Backend, key: string): Promise<void> {
  for (let i = 0; i < WRITES_EACH / 3; i++) {
    const created = await store.create(key, bytes('created'));
    const updated = await store.update(key, bytes('updated'), created.modRevision);
    await store.delete(key, updated.modRevision);
  }
}

async function collectPrefix(store: Backend, prefix: string, fromRevision: number, count: number) {
  return (await collect(store.watch(prefix, { fromRevision }), { events: count })).events;
}
