import { describe, expect, it } from 'vitest';
import { DynamicTable } from './dynamic-table.js';

function entries(table: DynamicTable): string[] {
  const found: string[] = [];
  for (let index = 62; table.slotOf(index) >= 0; index++) {
    const slot = table.slotOf(index);
    found.push(`${table.nameAt(slot)}=${table.valueAt(slot)}`);
  }
  return found;
}

describe('DynamicTable', () => {
  it('has the newest entry first and evicts the oldest', () => {
    const table = new DynamicTable(34 * 3);
    for (const name of ['a', 'b', 'c', 'd']) table.add(name, '1');
    expect(entries(table)).toEqual(['d=1', 'c=1', 'b=1']);
    expect(table.sizeBytes).toBe(34 * 3);
  });

  it('is emptied by an entry larger than itself, which it does not store', () => {
    const table = new DynamicTable(100);
    table.add('a', '1');
    table.add('b', 'x'.repeat(100));
    expect(entries(table)).toEqual([]);
    expect(table.sizeBytes).toBe(0);
    table.add('c', '3');
    expect(entries(table)).toEqual(['c=3']);
  });

  it('keeps the order of its entries while the ring grows, at every offset', () => {
    for (let evicted = 0; evicted < 40; evicted++) {
      const table = new DynamicTable(34 * 10);
      for (let i = 0; i < evicted; i++) table.add('o', 'o');
      table.resize(34 * 100);
      const expected: string[] = [];
      for (let i = 10; i < 99; i++) {
        table.add(`${i}`, '');
        expected.unshift(`${i}=`);
      }
      expect(entries(table).slice(0, expected.length)).toEqual(expected);
    }
  });

  it('evicts the oldest entries when reduced, and all of them at 0 bytes', () => {
    const table = new DynamicTable(1000);
    for (const name of ['a', 'b', 'c']) table.add(name, '1');
    table.resize(70);
    expect(entries(table)).toEqual(['c=1', 'b=1']);
    table.resize(0);
    expect(entries(table)).toEqual([]);
    table.add('d', '');
    expect(entries(table)).toEqual([]);
  });
});
