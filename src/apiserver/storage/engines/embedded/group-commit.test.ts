import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { KeyEvent } from '../../backend.js';
import { bytes, codeOf } from '../../conformance/attempts.fixture.js';
import { StorageError } from '../../storage-error.js';
import { GroupCommit } from './group-commit.js';
import { snapshotGet } from './snapshot-reads.js';
import { freshen, openTables, readCounter, type SharedTables } from './tables.js';

let dir: string;
let shared: SharedTables;
let commits: number;
let told: readonly KeyEvent[];
let group: GroupCommit;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'straddle-commit-'));
  shared = openTables(join(dir, 'store.mdb'));
  commits = 0;
  const limits = { pendingWritesMax: 2000, pendingBytesMax: 2 ** 20 };
  group = new GroupCommit(
    shared.tables,
    () => 0,
    limits,
    (events) => {
      commits++;
      told = events;
    },
  );
});
afterEach(async () => {
  await group.close();
  await shared.close();
  await rm(dir, { recursive: true, force: true });
});

const create = (name: string, value = 'x') =>
  group.write(name.length, (transaction) => transaction.create(bytes(name), bytes(value), 0));
const newest = () => {
  freshen(shared.tables);
  return readCounter(shared.tables, 'revision');
};

describe('group commit', () => {
  it('commits concurrent writes in few transactions, in order', async () => {
    const written = await Promise.all(Array.from({ length: 1000 }, (_, i) => create(`/k/${i}`)));
    expect(written.map((item) => item.modRevision)).toEqual(Array.from({ length: 1000 }, (_, i) => i + 2));
    expect(commits).toBe(2);
  });

  it('reports the events of a small transaction, and only the last event of a large one', async () => {
    await create('/small');
    expect(told.map(({ revision }) => revision)).toEqual([2]);
    const large = 'x'.repeat(3 * 2 ** 20);
    for (let count = 0; count < 5; count++) await create(`/large/${count}`, large);
    // Deletes are small themselves, and so is what replaces a large value; what was there before is not.
    const remove = (name: string) => group.write(0, (transaction) => transaction.delete(bytes(name), undefined));
    await Promise.all(Array.from({ length: 5 }, (_, count) => remove(`/large/${count}`)));
    expect(newest()).toBe(12);
    expect(told.length).toBeLessThan(3);
    expect(told.at(-1)!.revision).toBe(12);
  });

  it('fails one write of a transaction without the others', async () => {
    const outcomes = await Promise.all([
      codeOf(create('/a')),
      codeOf(create('/a', 'again')),
      codeOf(
        group.write(0, () => {
          throw new StorageError('conflict', 'made up');
        }),
      ),
      codeOf(create('/b')),
    ]);
    expect(outcomes).toEqual(['no error', 'exists', 'conflict', 'no error']);
    expect(newest()).toBe(3);
  });

  it('rolls back the whole transaction after an unexpected exception, and continues', async () => {
    await create('/before');
    const outcomes = await Promise.all([
      codeOf(create('/a')),
      codeOf(
        group.write(0, (transaction) => {
          transaction.create(bytes('/half'), bytes('done'), 0);
          throw new Error('the disk is full');
        }),
      ),
    ]);
    expect(outcomes).toEqual(['unavailable', 'unavailable']);
    expect(newest()).toBe(2);
    for (const name of ['/a', '/half']) expect(snapshotGet(shared.tables, bytes(name), undefined)).toBeUndefined();
    expect((await create('/after')).modRevision).toBe(3);
  });

  it('finishes pending writes on close, and refuses new ones', async () => {
    const writing = codeOf(create('/a'));
    await group.close();
    expect(await writing).toBe('no error');
    expect(await codeOf(create('/b'))).toBe('closed');
  });
});
