import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Backend, KEY_BYTES_MAX, type KeyValue, type Watch, type WatchBatch, type WatchEvent } from './backend.js';
import { keyBytes } from './keys.js';
import { StorageError, type StorageErrorCode } from './storage-error.js';

export interface BackendUnderTest {
  /** Opens the store under test; may be called several times, for the same store. */
  open(): Promise<Backend>;
  /** The largest value that the store takes. */
  readonly valueBytesMax: number;
}

/** What `Backend` promises, checked. Every engine's own test file runs it; the store need not be empty. */
export function describeBackend(name: string, subject: BackendUnderTest): void {
  describe(`${name} keeps the storage contract`, () => {
    let store: Backend;
    beforeAll(async () => {
      store = await subject.open();
    });
    afterAll(() => store.close());
    describeReadsAndWrites(() => store, subject);
    describeSnapshots(() => store);
    describeWatches(() => store);
    describeCompaction(() => store);
    describeLife(subject);
  });
}

let prefixes = 0;
/** A corner of the store that no other test touches. */
export function ownPrefix(): string {
  return `/conformance-${process.pid}-${prefixes++}/`;
}

export const bytes = (text: string): Buffer => Buffer.from(text);
const keysOf = (items: readonly KeyValue[]): string[] => items.map((item) => item.key.toString());

export async function codeOf(attempt: Promise<unknown>): Promise<StorageErrorCode | 'no error'> {
  return (await errorOf(attempt))?.code ?? 'no error';
}

async function errorOf(attempt: Promise<unknown>): Promise<StorageError | undefined> {
  try {
    await attempt;
    return undefined;
  } catch (error) {
    expect(error).toBeInstanceOf(StorageError);
    return error as StorageError;
  }
}

/** Reads until there are that many events, or a batch says that this revision is reached. */
export async function collect(
  watch: Watch,
  until: { events: number } | { revision: number },
): Promise<{ events: WatchEvent[]; revision: number }> {
  const events: WatchEvent[] = [];
  let revision = 0;
  if ('revision' in until) watch.requestProgress();
  for await (const batch of watch) {
    expectInOrder(batch, revision);
    revision = batch.revision;
    events.push(...batch.events);
    if ('events' in until ? events.length >= until.events : revision >= until.revision) break;
    if ('revision' in until) watch.requestProgress();
  }
  return { events, revision };
}

function expectInOrder(batch: WatchBatch, after: number): void {
  let last = after;
  for (const event of batch.events) {
    expect(event.revision).toBeGreaterThanOrEqual(last);
    last = event.revision;
  }
  expect(batch.revision).toBeGreaterThanOrEqual(last);
}

function brief(event: WatchEvent): string {
  return event.type === 'put'
    ? `put ${event.current.key}=${event.current.value}${event.previous === undefined ? '' : ` was ${event.previous.value}`}`
    : `delete ${event.key} was ${event.previous?.value}`;
}

function describeReadsAndWrites(store: () => Backend, subject: BackendUnderTest): void {
  it('reads what was created, with its revisions', async () => {
    const key = `${ownPrefix()}a`;
    const before = await store().currentRevision();
    const created = await store().create(key, bytes('one'));
    expect(created.createRevision).toBe(created.modRevision);
    expect(created.modRevision).toBeGreaterThan(before);
    expect(await store().get(key)).toEqual({ ...created, key: bytes(key), value: bytes('one') });
    expect(await store().currentRevision()).toBeGreaterThanOrEqual(created.modRevision);
  });

  it('finds nothing where nothing was written', async () => {
    expect(await store().get(`${ownPrefix()}nothing`)).toBeUndefined();
  });

  it('creates a key once and tells the second creator what is there', async () => {
    const key = `${ownPrefix()}a`;
    const created = await store().create(key, bytes('one'));
    const refused = await errorOf(store().create(key, bytes('two')));
    expect(refused?.code).toBe('exists');
    expect(refused?.current).toEqual(created);
  });

  it('updates a key only at the expected revision and tells who lost what won', async () => {
    const key = `${ownPrefix()}a`;
    const created = await store().create(key, bytes('one'));
    const updated = await store().update(key, bytes('two'), created.modRevision);
    expect(updated.createRevision).toBe(created.createRevision);
    expect(updated.modRevision).toBeGreaterThan(created.modRevision);
    const lost = await errorOf(store().update(key, bytes('three'), created.modRevision));
    expect(lost?.code).toBe('conflict');
    expect(lost?.current).toEqual(updated);
    expect(await store().get(key)).toEqual(updated);
  });

  it('says not-found for updates and deletes of keys that are not there', async () => {
    const key = `${ownPrefix()}nothing`;
    expect(await codeOf(store().update(key, bytes('x'), 1))).toBe('not-found');
    expect(await codeOf(store().delete(key))).toBe('not-found');
    expect(await codeOf(store().delete(key, 1))).toBe('not-found');
  });

  it('deletes at the expected revision or whatever is there, and a key made again is a new one', async () => {
    const key = `${ownPrefix()}a`;
    const first = await store().create(key, bytes('one'));
    expect(await codeOf(store().delete(key, first.modRevision + 1))).toBe('conflict');
    const gone = await store().delete(key, first.modRevision);
    expect(gone.deleted).toEqual(first);
    expect(gone.revision).toBeGreaterThan(first.modRevision);
    expect(await store().get(key)).toBeUndefined();
    const second = await store().create(key, bytes('two'));
    expect(second.createRevision).toBeGreaterThan(gone.revision);
    expect((await store().delete(key)).deleted).toEqual(second);
  });

  it('lets exactly one of many concurrent updates win', async () => {
    const key = `${ownPrefix()}a`;
    const created = await store().create(key, bytes('0'));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => codeOf(store().update(key, bytes(`${i}`), created.modRevision))),
    );
    expect(outcomes.filter((outcome) => outcome === 'no error')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(19);
  });

  it('gives every write its own revision, in the order of acknowledgement', async () => {
    const prefix = ownPrefix();
    let last = 0;
    for (let i = 0; i < 5; i++) {
      const { modRevision } = await store().create(`${prefix}${i}`, bytes(''));
      expect(modRevision).toBeGreaterThan(last);
      last = modRevision;
    }
    const many = await Promise.all(Array.from({ length: 50 }, (_, i) => store().create(`${prefix}x${i}`, bytes(''))));
    expect(new Set(many.map((item) => item.modRevision)).size).toBe(50);
  });

  it('keeps empty values, binary keys and binary values byte for byte', async () => {
    const prefix = keyBytes(ownPrefix());
    const tails = [[0], [0, 0], [0, 1], [0, 255], [1], [127, 0, 128], [255], [255, 255], [255, 255, 0]];
    for (const tail of tails) await store().create(Buffer.from([...prefix, ...tail]), Buffer.from(tail));
    await store().create(Buffer.from([...prefix, 5]), Buffer.alloc(0));
    const { items } = await store().list(prefix);
    expect(items.map((item) => [...item.key.subarray(prefix.length)])).toEqual(
      [...tails, [5]].sort((a, b) => Buffer.from(a).compare(Buffer.from(b))),
    );
    for (const item of items.filter((found) => found.value.length > 0)) {
      expect(item.value).toEqual(item.key.subarray(prefix.length));
    }
  });

  it('takes the longest key and the largest value, and refuses longer and larger ones', async () => {
    const prefix = ownPrefix();
    const longest = prefix.padEnd(KEY_BYTES_MAX, 'k');
    await store().create(longest, bytes('long'));
    expect((await store().get(longest))?.value).toEqual(bytes('long'));
    expect(await codeOf(store().create(`${longest}k`, bytes('')))).toBe('too-large');
    const large = Buffer.alloc(subject.valueBytesMax, 7);
    const created = await store().create(`${prefix}large`, large);
    expect((await store().get(`${prefix}large`))?.value.equals(large)).toBe(true);
    const larger = Buffer.alloc(subject.valueBytesMax + 2 ** 20);
    expect(await codeOf(store().update(`${prefix}large`, larger, created.modRevision))).toBe('too-large');
    expect(await codeOf(store().create('', bytes('')))).toBe('invalid');
  });

  it('takes the longest key even if it is all zero bytes', async () => {
    const key = Buffer.alloc(KEY_BYTES_MAX);
    await store().delete(key).catch(() => {});
    const created = await store().create(key, bytes('zeros'));
    expect(await store().get(key, { revision: created.modRevision })).toEqual(created);
    await store().delete(key);
  });

  it('deletes a key when its time to live is over, not sooner, and an update can make it stay', async () => {
    const prefix = ownPrefix();
    const stays = await store().create(`${prefix}stays`, bytes('x'), { ttlSeconds: 1 });
    const startedMs = performance.now();
    const goes = await store().create(`${prefix}goes`, bytes('x'), { ttlSeconds: 2 });
    await store().update(`${prefix}stays`, bytes('y'), stays.modRevision);
    const watch = store().watch(`${prefix}goes`, { fromRevision: goes.modRevision + 1 });
    const { events } = await collect(watch, { events: 1 });
    expect(performance.now() - startedMs).toBeGreaterThanOrEqual(1_900);
    expect(events[0]).toMatchObject({ type: 'delete', key: bytes(`${prefix}goes`), previous: goes });
    expect(await store().get(`${prefix}goes`)).toBeUndefined();
    expect((await store().get(`${prefix}stays`))?.value).toEqual(bytes('y'));
    expect(await codeOf(store().create(`${prefix}never`, bytes(''), { ttlSeconds: 0 }))).toBe('invalid');
  });
}

function describeSnapshots(store: () => Backend): void {
  it('lists a prefix in byte order and nothing beside it', async () => {
    const prefix = ownPrefix();
    const names = ['b', 'a', 'c/x', 'c', 'é', 'z', '\u{1F600}', 'Z', 'a0', 'a/'];
    await store().create(prefix.slice(0, -1), bytes('beside'));
    await store().create(`${prefix.slice(0, -1)}0`, bytes('beside'));
    for (const name of names) await store().create(prefix + name, bytes(name));
    const { items, remainingCount } = await store().list(prefix);
    expect(keysOf(items)).toEqual(
      names.map((name) => prefix + name).sort((a, b) => keyBytes(a).compare(keyBytes(b))),
    );
    expect(remainingCount).toBe(0);
  });

  it('reads keys and lists as they stood at an old revision', async () => {
    const prefix = ownPrefix();
    const a1 = await store().create(`${prefix}a`, bytes('a1'));
    const b1 = await store().create(`${prefix}b`, bytes('b1'));
    const a2 = await store().update(`${prefix}a`, bytes('a2'), a1.modRevision);
    const gone = await store().delete(`${prefix}b`);
    const at = async (revision: number) =>
      (await store().list(prefix, { revision })).items.map((item) => item.value.toString());
    expect(await at(a1.modRevision)).toEqual(['a1']);
    expect(await at(b1.modRevision)).toEqual(['a1', 'b1']);
    expect(await at(a2.modRevision)).toEqual(['a2', 'b1']);
    expect(await at(gone.revision)).toEqual(['a2']);
    expect(await store().get(`${prefix}a`, { revision: a1.modRevision })).toEqual(a1);
    expect(await store().get(`${prefix}b`, { revision: a2.modRevision })).toEqual(b1);
    expect(await store().get(`${prefix}b`, { revision: gone.revision })).toBeUndefined();
    expect(await store().get(`${prefix}b`, { revision: a1.modRevision })).toBeUndefined();
  });

  it('refuses revisions that do not exist yet or make no sense', async () => {
    const revision = (await store().currentRevision()) + 1_000_000;
    const future = await errorOf(store().get('x', { revision }));
    expect(future?.code).toBe('future-revision');
    expect(await codeOf(store().list('x', { revision }))).toBe('future-revision');
    expect(await codeOf(store().compact(revision))).toBe('future-revision');
    expect(await codeOf(store().get('x', { revision: -1 }))).toBe('invalid');
    expect(await codeOf(store().get('x', { revision: 1.5 }))).toBe('invalid');
    expect(await codeOf(store().list('x', { limit: 0 }))).toBe('invalid');
  });

  it('pages through one snapshot while keys come, go and change', async () => {
    const prefix = ownPrefix();
    const names = Array.from({ length: 25 }, (_, i) => `${prefix}${String(i).padStart(3, '0')}`);
    const created = await Promise.all(names.map((key) => store().create(key, bytes('old'))));
    const seen: string[] = [];
    let page = await store().list(prefix, { limit: 10 });
    const { revision } = page;
    for (let round = 0; ; round++) {
      seen.push(...keysOf(page.items));
      for (const item of page.items) expect(item.value).toEqual(bytes('old'));
      expect(page.revision).toBe(revision);
      expect(page.remainingCount).toBe(names.length - seen.length);
      if (page.remainingCount === 0) break;
      await store().create(`${prefix}${round}-new`, bytes('new'));
      await store().delete(names[20 + round]!);
      await store().update(names[15 + round]!, bytes('new'), created[15 + round]!.modRevision);
      page = await store().list(prefix, { limit: 10, revision, startAfter: page.items.at(-1)!.key });
    }
    expect(seen).toEqual(names);
  });

  it('agrees at every revision with a model of the store (property)', async () => {
    const step = fc.record({ key: fc.constantFrom('a', 'a\0', 'a\0b', 'b', 'b\u00ff'), remove: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { minLength: 1, maxLength: 25 }), async (steps) => {
        const prefix = ownPrefix();
        const model = new Map<string, KeyValue>();
        const past: { revision: number; state: KeyValue[] }[] = [];
        for (const [index, { key, remove }] of steps.entries()) {
          const full = prefix + key;
          const present = model.get(full);
          let revision: number;
          if (present !== undefined && remove) {
            revision = (await store().delete(full, present.modRevision)).revision;
            model.delete(full);
          } else {
            const value = bytes(String(index));
            const next = await (present === undefined
              ? store().create(full, value)
              : store().update(full, value, present.modRevision));
            model.set(full, next);
            revision = next.modRevision;
          }
          past.push({ revision, state: [...model.values()].sort((a, b) => a.key.compare(b.key)) });
        }
        for (const { revision, state } of past) {
          expect((await store().list(prefix, { revision })).items).toEqual(state);
        }
      }),
      { numRuns: 8 },
    );
  });
}

function describeWatches(store: () => Backend): void {
  it('tells what happens, with what was there before', async () => {
    const prefix = ownPrefix();
    const watch = store().watch(prefix, { fromRevision: (await store().currentRevision()) + 1 });
    const collected = collect(watch, { events: 4 });
    const created = await store().create(`${prefix}a`, bytes('1'));
    await store().create(`${ownPrefix()}beside`, bytes('x'));
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

  it('starts at any past revision without gap or repeat', async () => {
    const prefix = ownPrefix();
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

  it('waits for a revision that is still to come', async () => {
    const prefix = ownPrefix();
    const fromRevision = (await store().currentRevision()) + 3;
    const watch = store().watch(prefix, { fromRevision });
    const collected = collect(watch, { events: 1 });
    for (let i = 0; i < 4; i++) await store().create(`${prefix}${i}`, bytes(String(i)));
    const { events } = await collected;
    expect(events[0]!.revision).toBeGreaterThanOrEqual(fromRevision);
  });

  it('answers a progress request though nothing happens under the prefix', async () => {
    const watch = store().watch(ownPrefix(), { fromRevision: (await store().currentRevision()) + 1 });
    const { modRevision } = await store().create(`${ownPrefix()}elsewhere`, bytes('x'));
    const { events, revision } = await collect(watch, { revision: modRevision });
    expect(events).toEqual([]);
    expect(revision).toBeGreaterThanOrEqual(modRevision);
  });

  it('loses and repeats nothing for many watchers while many write (property)', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.nat({ max: 40 }), { minLength: 3, maxLength: 6 }),
        fc.integer({ min: 2, max: 5 }),
        async (starts, writers) => {
          const prefix = ownPrefix();
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

  it('lets a watcher that reads nothing for a long while catch up in order', async () => {
    const prefix = ownPrefix();
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

  it('ends without an error when closed, also while waiting', async () => {
    const watch = store().watch(ownPrefix(), { fromRevision: (await store().currentRevision()) + 1 });
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

function describeCompaction(store: () => Backend): void {
  it('forgets what is before a compaction, keeps what is after it, and says so', async () => {
    const prefix = ownPrefix();
    const a1 = await store().create(`${prefix}a`, bytes('a1'));
    const still = await store().create(`${prefix}still`, bytes('still'));
    const a2 = await store().update(`${prefix}a`, bytes('a2'), a1.modRevision);
    const b = await store().create(`${prefix}b`, bytes('b'));
    await store().delete(`${prefix}b`);
    const kept = await store().create(`${prefix}c`, bytes('c'));
    await store().compact(kept.modRevision);
    const a3 = await store().update(`${prefix}a`, bytes('a3'), a2.modRevision);

    for (const revision of [a1.modRevision, b.modRevision]) {
      const refused = await errorOf(store().list(prefix, { revision }));
      expect(refused?.code).toBe('compacted');
      expect(await codeOf(store().get(`${prefix}a`, { revision }))).toBe('compacted');
      const watch = store().watch(prefix, { fromRevision: revision });
      expect(await codeOf(collect(watch, { events: 1 }))).toBe('compacted');
    }
    const { items } = await store().list(prefix, { revision: kept.modRevision });
    expect(items).toEqual([a2, kept, still]);
    const { events } = await collect(store().watch(prefix, { fromRevision: kept.modRevision + 1 }), { events: 1 });
    expect(events).toEqual([{ type: 'put', revision: a3.modRevision, current: a3, previous: a2 }]);
    expect(await store().get(`${prefix}still`)).toEqual(still);
  });

  it('takes a repeated or older compaction as done', async () => {
    const { modRevision } = await store().create(`${ownPrefix()}a`, bytes('a'));
    await store().compact(modRevision);
    await store().compact(modRevision);
    await store().compact(modRevision - 1);
    expect(await codeOf(store().compact(0))).toBe('invalid');
  });
}

function describeLife(subject: BackendUnderTest): void {
  it('is all there for whoever opens it next, who sees new writes by others at once', async () => {
    const [first, second] = [await subject.open(), await subject.open()];
    const prefix = ownPrefix();
    const created = await first.create(`${prefix}a`, bytes('1'));
    expect(await second.get(`${prefix}a`)).toEqual(created);
    const collected = collect(second.watch(prefix, { fromRevision: created.modRevision }), { events: 2 });
    await first.update(`${prefix}a`, bytes('2'), created.modRevision);
    expect((await collected).events.map(brief)).toEqual([`put ${prefix}a=1`, `put ${prefix}a=2 was 1`]);
    await first.close();
    const third = await subject.open();
    expect((await third.get(`${prefix}a`))?.value).toEqual(bytes('2'));
    expect(await third.currentRevision()).toBeGreaterThan(created.modRevision);
    await Promise.all([second.close(), third.close()]);
  });

  it('refuses everything once closed and ends its watches with an error', async () => {
    const store = await subject.open();
    const watch = store.watch(ownPrefix(), { fromRevision: (await store.currentRevision()) + 1 });
    const watching = codeOf(collect(watch, { events: 1 }));
    const writing = codeOf(store.create(`${ownPrefix()}a`, bytes('a')));
    await Promise.all([store.close(), store.close()]);
    // A write under way at that moment is finished or refused, but not left hanging.
    expect(['no error', 'closed', 'uncertain']).toContain(await writing);
    expect(await watching).toBe('closed');
    const calls = [
      store.get('a'),
      store.list('a'),
      store.create('a', bytes('')),
      store.update('a', bytes(''), 1),
      store.delete('a'),
      store.currentRevision(),
      store.compact(1),
      collect(store.watch('a', { fromRevision: 1 }), { events: 1 }),
    ];
    for (const call of calls) expect(await codeOf(call)).toBe('closed');
  });
}
