import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Backend, KeyValue } from '../backend.js';
import { keyBytes } from '../keys.js';
import { bytes, codeOf, errorOf, keysOf, uniquePrefix } from './attempts.fixture.js';

export function describeSnapshots(store: () => Backend): void {
  it('lists the keys of a prefix in byte order, and no others', async () => {
    const prefix = uniquePrefix();
    const names = ['b', 'a', 'c/x', 'c', 'é', 'z', '\u{1F600}', 'Z', 'a0', 'a/'];
    await store().create(prefix.slice(0, -1), bytes('beside'));
    await store().create(`${prefix.slice(0, -1)}0`, bytes('beside'));
    for (const name of names) await store().create(prefix + name, bytes(name));
    const { items, remainingCount } = await store().list(prefix);
    expect(keysOf(items)).toEqual(names.map((name) => prefix + name).sort((a, b) => keyBytes(a).compare(keyBytes(b))));
    expect(remainingCount).toBe(0);
  });

  it('reads keys and lists at a past revision', async () => {
    const prefix = uniquePrefix();
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

  it('refuses future and invalid revisions', async () => {
    const revision = (await store().currentRevision()) + 1_000_000;
    const future = await errorOf(store().get('x', { revision }));
    expect(future?.code).toBe('future-revision');
    expect(await codeOf(store().list('x', { revision }))).toBe('future-revision');
    expect(await codeOf(store().compact(revision))).toBe('future-revision');
    expect(await codeOf(store().get('x', { revision: -1 }))).toBe('invalid');
    expect(await codeOf(store().get('x', { revision: 1.5 }))).toBe('invalid');
    expect(await codeOf(store().list('x', { limit: 0 }))).toBe('invalid');
  });

  it('pages through one snapshot during concurrent writes', async () => {
    const prefix = uniquePrefix();
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
        const prefix = uniquePrefix();
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
