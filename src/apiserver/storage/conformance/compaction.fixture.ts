import { expect, it } from 'vitest';
import type { Backend } from '../backend.js';
import { bytes, codeOf, collect, errorOf, readOn, uniquePrefix } from './attempts.fixture.js';

export function describeCompaction(store: () => Backend): void {
  it('fails reads before a compacted revision with compacted, and serves later ones', async () => {
    const prefix = uniquePrefix();
    const onlooker = readOn(store().watch(prefix, { fromRevision: (await store().currentRevision()) + 1 }));
    const a1 = await store().create(`${prefix}a`, bytes('a1'));
    const still = await store().create(`${prefix}still`, bytes('still'));
    const a2 = await store().update(`${prefix}a`, bytes('a2'), a1.modRevision);
    const b = await store().create(`${prefix}b`, bytes('b'));
    await store().delete(`${prefix}b`);
    const kept = await store().create(`${prefix}c`, bytes('c'));
    await onlooker.seen(6);
    await store().compact(kept.modRevision);
    const a3 = await store().update(`${prefix}a`, bytes('a3'), a2.modRevision);

    for (const revision of [a1.modRevision, b.modRevision]) {
      const refused = await errorOf(store().list(prefix, { revision }));
      expect(refused?.code).toBe('compacted');
      expect(await codeOf(store().get(`${prefix}a`, { revision }))).toBe('compacted');
      const watch = store().watch(prefix, { fromRevision: revision });
      expect(await codeOf(collect(watch, { events: 1 }))).toBe('compacted');
    }
    // Whoever was at the end of the log all the while lost nothing.
    expect((await onlooker.seen(7)).at(-1)).toMatchObject({ revision: a3.modRevision });
    onlooker.close();
    const { items } = await store().list(prefix, { revision: kept.modRevision });
    expect(items).toEqual([a2, kept, still]);
    const { events } = await collect(store().watch(prefix, { fromRevision: kept.modRevision + 1 }), { events: 1 });
    expect(events).toEqual([{ type: 'put', revision: a3.modRevision, current: a3, previous: a2 }]);
    expect(await store().get(`${prefix}still`)).toEqual(still);
  });

  it('ignores a repeated or older compaction', async () => {
    const { modRevision } = await store().create(`${uniquePrefix()}a`, bytes('a'));
    await store().compact(modRevision);
    await store().compact(modRevision);
    await store().compact(modRevision - 1);
    expect(await codeOf(store().compact(0))).toBe('invalid');
  });
}
