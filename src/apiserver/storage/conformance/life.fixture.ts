import { expect, it } from 'vitest';
import { brief, bytes, codeOf, collect, uniquePrefix } from './attempts.fixture.js';
import type { BackendUnderTest } from './subject.fixture.js';

export function describeLife(subject: BackendUnderTest): void {
  it('returns all writes after it is opened again, and new writes of others at once', async () => {
    const [first, second] = [await subject.open(), await subject.open()];
    const prefix = uniquePrefix();
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

  it('refuses every call after close, and ends its watches with an error', async () => {
    const store = await subject.open();
    const watch = store.watch(uniquePrefix(), { fromRevision: (await store.currentRevision()) + 1 });
    const watching = codeOf(collect(watch, { events: 1 }));
    const writing = codeOf(store.create(`${uniquePrefix()}a`, bytes('a')));
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
