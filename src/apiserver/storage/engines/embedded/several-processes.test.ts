import { mkdtemp, readdir, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { bytes, codeOf, collect } from '../../conformance/attempts.fixture.js';
import { openEmbeddedBackend } from './embedded-backend.js';
import { NeighbourProcess } from './processes.fixture.js';

const dirs: string[] = [];
afterEach(() => Promise.all(dirs.splice(0).map((dir) => rm(dir, { recursive: true, force: true }))));

async function makeDir(): Promise<string> {
  const dir = await mkdtemp(join(tmpdir(), 'straddle-several-'));
  dirs.push(dir);
  return dir;
}

/** The middle of a number of round trips through the other process: two commits and two nudges each. */
async function medianRoundTripMs(dataDir: string, trips: number): Promise<number> {
  const store = await openEmbeddedBackend({ dataDir });
  const other = new NeighbourProcess(dataDir, 'echo', '/e/');
  await other.said(1);
  const pongs = store.watch('/e/pong/', { fromRevision: (await store.currentRevision()) + 1 });
  const answers = pongs[Symbol.asyncIterator]();
  const tripsMs: number[] = [];
  for (let trip = 0; trip < trips; trip++) {
    const startedMs = performance.now();
    await store.create(`/e/ping/${trip}`, bytes(String(trip)));
    const { value } = await answers.next();
    tripsMs.push(performance.now() - startedMs);
    expect(value!.events.map((event) => event.type === 'put' && event.current.value.toString())).toEqual([`${trip}`]);
  }
  await other.finish();
  await store.close();
  return tripsMs.sort((a, b) => a - b)[Math.floor(trips / 2)]!;
}

describe('processes that share a store', () => {
  it("see each other's writes within milliseconds", async () => {
    // Far below the second after which a process looks at the store by itself.
    expect(await medianRoundTripMs(await makeDir(), 20)).toBeLessThan(250);
  });

  it('see writes in a directory whose path is too long for a socket', async () => {
    const dataDir = join(await makeDir(), 'd'.repeat(120));
    expect(await medianRoundTripMs(dataDir, 5)).toBeLessThan(250);
  });

  it('remove the socket files of killed processes', async () => {
    const dataDir = await makeDir();
    const killed = new NeighbourProcess(dataDir, 'echo', '/e/');
    await killed.said(1);
    expect(await readdir(join(dataDir, 'neighbours'))).toHaveLength(1);
    await killed.kill();
    const store = await openEmbeddedBackend({ dataDir });
    const [left, ...more] = await readdir(join(dataDir, 'neighbours'));
    expect(left).toMatch(new RegExp(`^${process.pid}-`));
    expect(more).toEqual([]);
    await store.close();
    expect(await readdir(join(dataDir, 'neighbours'))).toEqual([]);
  });
});

describe('a data directory', () => {
  it('of a newer format is refused with a message that names both formats', async () => {
    const dataDir = await makeDir();
    await (await openEmbeddedBackend({ dataDir })).close();
    await writeFile(join(dataDir, 'format.json'), '{"format":"straddle-embedded-store","version":99}');
    await expect(openEmbeddedBackend({ dataDir })).rejects.toThrow(/newer version.*its format is 99/);
  });

  it('without the format of this program is refused', async () => {
    const dataDir = await makeDir();
    await writeFile(join(dataDir, 'format.json'), 'not json');
    expect(await codeOf(openEmbeddedBackend({ dataDir }))).toBe('invalid');
    await rm(join(dataDir, 'format.json'));
    await writeFile(join(dataDir, 'store.mdb'), 'something');
    expect(await codeOf(openEmbeddedBackend({ dataDir }))).toBe('invalid');
  });

  it('can be opened by several processes at the same time', async () => {
    const dataDir = await makeDir();
    const stores = await Promise.all([1, 2, 3].map(() => openEmbeddedBackend({ dataDir })));
    await Promise.all(stores.map((store, i) => store.create(`/k/${i}`, bytes(''))));
    for (const store of stores) expect((await store.list('/k/')).items).toHaveLength(3);
    const { events } = await collect(stores[0]!.watch('/k/', { fromRevision: 2 }), { events: 3 });
    expect(events.map((event) => event.revision)).toEqual([2, 3, 4]);
    await Promise.all(stores.map((store) => store.close()));
  });

  it('sends every write to all its openers, once and in order', async () => {
    const dataDir = await makeDir();
    const stores = await Promise.all([1, 2].map(() => openEmbeddedBackend({ dataDir })));
    const watches = stores.map((store) => collect(store.watch('/k/', { fromRevision: 2 }), { events: 60 }));
    for (let round = 0; round < 10; round++) {
      // Three of one opener in a row, then three of the other, some of them in one transaction.
      for (const [index, store] of stores.entries()) {
        await store.create(`/k/${round}/${index}/first`, bytes(''));
        await Promise.all(['a', 'b'].map((name) => store.create(`/k/${round}/${index}/${name}`, bytes(''))));
      }
    }
    const all = Array.from({ length: 60 }, (_, index) => index + 2);
    for (const { events } of await Promise.all(watches)) expect(events.map((event) => event.revision)).toEqual(all);
    await Promise.all(stores.map((store) => store.close()));
  });
});
