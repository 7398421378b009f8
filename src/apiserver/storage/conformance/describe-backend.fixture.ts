import { afterAll, beforeAll, describe } from 'vitest';
import type { Backend } from '../backend.js';
import { describeCompaction } from './compaction.fixture.js';
import { describeLife } from './life.fixture.js';
import { describeReadsAndWrites } from './reads-and-writes.fixture.js';
import { describeSnapshots } from './snapshots.fixture.js';
import type { BackendUnderTest } from './subject.fixture.js';
import { describeWatches } from './watches.fixture.js';

/** Tests of the contract of `Backend`. The test file of every engine runs them; the store need not be empty. */
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
