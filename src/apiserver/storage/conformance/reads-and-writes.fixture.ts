import { expect, it } from 'vitest';
import { type Backend, KEY_BYTES_MAX } from '../backend.js';
import { keyBytes } from '../keys.js';
import { bytes, codeOf, collect, errorOf, uniquePrefix } from './attempts.fixture.js';
import type { BackendUnderTest } from './subject.fixture.js';

export function describeReadsAndWrites(store: () => Backend, subject: BackendUnderTest): void {
  it('reads what was created, with its revisions', async () => {
    const key = `${uniquePrefix()}a`;
    const before = await store().currentRevision();
    const created = await store().create(key, bytes('one'));
    expect(created.createRevision).toBe(created.modRevision);
    expect(created.modRevision).toBeGreaterThan(before);
    expect(await store().get(key)).toEqual({ ...created, key: bytes(key), value: bytes('one') });
    expect(await store().currentRevision()).toBeGreaterThanOrEqual(created.modRevision);
  });

  it('returns undefined for a key that was never written', async () => {
    expect(await store().get(`${uniquePrefix()}nothing`)).toBeUndefined();
  });

  it('returns whether a value is the newest of its key', async () => {
    const key = `${uniquePrefix()}a`;
    expect(await store().isNewest(key, 1)).toBe(false);
    const created = await store().create(key, bytes('one'));
    expect(await store().isNewest(key, created.modRevision)).toBe(true);
    const updated = await store().update(key, bytes('two'), created.modRevision);
    expect(await store().isNewest(key, created.modRevision)).toBe(false);
    expect(await store().isNewest(key, updated.modRevision)).toBe(true);
    await store().delete(key);
    expect(await store().isNewest(key, updated.modRevision)).toBe(false);
  });

  it('creates a key once, and fails the second create with the current value', async () => {
    const key = `${uniquePrefix()}a`;
    const created = await store().create(key, bytes('one'));
    const refused = await errorOf(store().create(key, bytes('two')));
    expect(refused?.code).toBe('exists');
    expect(refused?.current).toEqual(created);
  });

  it('updates a key only at the expected revision, and fails with the current value', async () => {
    const key = `${uniquePrefix()}a`;
    const created = await store().create(key, bytes('one'));
    const updated = await store().update(key, bytes('two'), created.modRevision);
    expect(updated.createRevision).toBe(created.createRevision);
    expect(updated.modRevision).toBeGreaterThan(created.modRevision);
    const lost = await errorOf(store().update(key, bytes('three'), created.modRevision));
    expect(lost?.code).toBe('conflict');
    expect(lost?.current).toEqual(updated);
    expect(await store().get(key)).toEqual(updated);
  });

  it('fails with not-found for updates and deletes of missing keys', async () => {
    const key = `${uniquePrefix()}nothing`;
    expect(await codeOf(store().update(key, bytes('x'), 1))).toBe('not-found');
    expect(await codeOf(store().delete(key))).toBe('not-found');
    expect(await codeOf(store().delete(key, 1))).toBe('not-found');
  });

  it('deletes with and without an expected revision, and gives a new key a new createRevision', async () => {
    const key = `${uniquePrefix()}a`;
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
    const key = `${uniquePrefix()}a`;
    const created = await store().create(key, bytes('0'));
    const outcomes = await Promise.all(
      Array.from({ length: 20 }, (_, i) => codeOf(store().update(key, bytes(`${i}`), created.modRevision))),
    );
    expect(outcomes.filter((outcome) => outcome === 'no error')).toHaveLength(1);
    expect(outcomes.filter((outcome) => outcome === 'conflict')).toHaveLength(19);
  });

  it('gives each write a revision, in the order of acknowledgement', async () => {
    const prefix = uniquePrefix();
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
    const prefix = keyBytes(uniquePrefix());
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

  it('accepts the longest key and the largest value, and refuses longer and larger ones', async () => {
    const prefix = uniquePrefix();
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

  it('accepts the longest key even if it is all zero bytes', async () => {
    const key = Buffer.alloc(KEY_BYTES_MAX);
    await store()
      .delete(key)
      .catch(() => {});
    const created = await store().create(key, bytes('zeros'));
    expect(await store().get(key, { revision: created.modRevision })).toEqual(created);
    await store().delete(key);
  });

  it('deletes a key after its time to live, not sooner, unless an update removes that', async () => {
    const prefix = uniquePrefix();
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
