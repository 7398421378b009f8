import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ManualClock, until } from '../../../../base/manual-clock.fixture.js';
import { bytes, codeOf, collect } from '../../conformance/attempts.fixture.js';
import { type EmbeddedBackend, openEmbeddedBackend } from './embedded-backend.js';
import { freshen, openTables, type Tables } from './tables.js';

const compaction = { historyMs: 60_000, historyRevisionsMax: 1000 };
let dataDir: string;
let clock: ManualClock;
let store: EmbeddedBackend;

beforeEach(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'straddle-upkeep-'));
  clock = new ManualClock();
  store = await openEmbeddedBackend({ dataDir, clock, compaction });
});
afterEach(async () => {
  await store.close();
  await rm(dataDir, { recursive: true, force: true });
});

/** Moves time on in small steps, so that what each starts on real disks is over before the next. */
async function pass(ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 1000) {
    await clock.advance(1000);
    // A write goes through the same queue, so all before it are done.
    await codeOf(store.delete('/nothing'));
  }
}

/** Reads the tables of the store. */
async function inside<T>(look: (tables: Tables) => T): Promise<T> {
  const { tables, close } = openTables(join(await realpath(dataDir), 'store.mdb'));
  freshen(tables);
  const seen = look(tables);
  await close();
  return seen;
}

describe('the background work of the embedded store', () => {
  it('compacts only history that is older than the policy', async () => {
    const old = await store.create('/a', bytes('1'));
    const newer = await store.update('/a', bytes('2'), old.modRevision);
    await pass(30_000);
    expect(await store.get('/a', { revision: old.modRevision })).toEqual(old);
    await pass(50_000);
    expect(await codeOf(store.get('/a', { revision: old.modRevision }))).toBe('compacted');
    expect(await store.get('/a')).toEqual(newer);
  });

  it('keeps no more revisions than the policy, whatever their age', async () => {
    const first = await store.create('/first', bytes('1'));
    await Promise.all(Array.from({ length: 1200 }, (_, i) => store.create(`/k/${i}`, bytes(''))));
    await pass(13_000);
    expect(await codeOf(store.get('/first', { revision: first.modRevision }))).toBe('compacted');
    expect((await store.list('/k/')).items).toHaveLength(1200);
  });

  it('clears compacted revisions and keeps one entry for each key', async () => {
    let present = await store.create('/hot', bytes('0'));
    for (let i = 1; i < 600; i++) present = await store.update('/hot', bytes(String(i)), present.modRevision);
    await store.create('/gone', bytes('x'));
    const { revision } = await store.delete('/gone');
    await store.create('/kept', bytes('x'));
    await store.compact(revision);
    const logged = () => inside((tables) => tables.log.getKeysCount());
    await vi.waitUntil(async () => (await logged()) === 2, { timeout: 5_000, interval: 5 });
    expect(await inside((tables) => tables.history.getKeysCount())).toBe(2);
    expect((await store.list('/', { revision })).items).toEqual([present]);
  });

  it('deletes only expired keys, with ordinary events', async () => {
    const { modRevision } = await store.create('/short', bytes('x'), { ttlSeconds: 10 });
    await store.create('/long', bytes('x'), { ttlSeconds: 100 });
    const renewed = await store.create('/renewed', bytes('x'), { ttlSeconds: 10 });
    await store.update('/renewed', bytes('y'), renewed.modRevision, { ttlSeconds: 100 });
    await pass(9_000);
    expect((await store.list('/')).items).toHaveLength(3);
    await pass(3_000);
    const { events } = await collect(store.watch('/short', { fromRevision: modRevision + 1 }), { events: 1 });
    expect(events[0]!.type).toBe('delete');
    expect((await store.list('/')).items.map((item) => item.key.toString())).toEqual(['/long', '/renewed']);
  });

  it('sends progress to watches on quiet prefixes at intervals', async () => {
    const batches = store.watch('/quiet', { fromRevision: 2 })[Symbol.asyncIterator]();
    const next = batches.next();
    const { modRevision } = await store.create('/elsewhere', bytes('x'));
    let told: number | undefined;
    void next.then(({ value }) => {
      told = value?.revision;
    });
    await pass(6_000);
    await until(() => told !== undefined, 'a progress batch');
    expect(told).toBe(modRevision);
    await batches.return(undefined);
  });

  it('refuses writes beyond the limits of the queue, and continues', async () => {
    await store.close();
    const limits = { pendingWritesMax: 10, pendingBytesMax: 2 ** 20 };
    store = await openEmbeddedBackend({ dataDir, clock, compaction, limits });
    const outcomes = await Promise.all(
      Array.from({ length: 30 }, (_, i) => codeOf(store.create(`/k/${i}`, bytes('')))),
    );
    expect(outcomes.filter((outcome) => outcome === 'no error')).toHaveLength(10);
    expect(outcomes.filter((outcome) => outcome === 'unavailable')).toHaveLength(20);
    expect(await codeOf(store.create('/k/later', bytes('')))).toBe('no error');
  });
});
