import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ServerStream } from './server-stream.js';
import { StreamTable } from './stream-table.js';

const stream = (id: number): ServerStream => ({ id }) as ServerStream;

test('StreamTable finds, adds and deletes streams by id like a Map', () => {
  const step = fc.record({ id: fc.nat({ max: 200 }).map((n) => 2 * n + 1), remove: fc.boolean() });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400 }), (steps) => {
      const table = new StreamTable();
      const map = new Map<number, ServerStream>();
      for (const { id, remove } of steps) {
        const known = map.get(id);
        if (remove) {
          expect(table.delete(known ?? stream(id))).toBe(map.delete(id));
        } else if (known === undefined) {
          const added = stream(id);
          map.set(id, added);
          table.add(added);
        }
        expect(table.size).toBe(map.size);
        expect(table.get(id)).toBe(map.get(id));
      }
      for (let id = 1; id <= 401; id += 2) expect(table.get(id)).toBe(map.get(id));
      expect(new Set(table.all())).toEqual(new Set(map.values()));
    }),
  );
});

test('StreamTable keeps open streams while thousands of others are added and deleted', () => {
  const table = new StreamTable();
  const stays = [1, 17, 33, 65].map(stream);
  for (const each of stays) table.add(each);
  for (let id = 101; id < 20_000; id += 2) {
    const passing = stream(id);
    table.add(passing);
    expect(table.delete(passing)).toBe(true);
  }
  expect(table.size).toBe(stays.length);
  for (const each of stays) expect(table.get(each.id)).toBe(each);
});
