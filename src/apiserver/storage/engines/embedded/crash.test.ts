import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import type { Backend } from '../../backend.js';
import { collect } from '../../conformance/attempts.fixture.js';
import { openEmbeddedBackend } from './embedded-backend.js';
import { NeighbourProcess } from './processes.fixture.js';

/** Two a round. More for a thorough run: STRADDLE_CRASH_KILLS=50. */
const kills = Number(process.env['STRADDLE_CRASH_KILLS'] ?? 10);
const rounds = Math.ceil(kills / 2);
const dataDir = await mkdtemp(join(tmpdir(), 'straddle-crash-'));
afterAll(() => rm(dataDir, { recursive: true, force: true }));

interface Acknowledged {
  readonly key: string;
  readonly step: number;
  readonly revision: number;
  readonly traceRevision: number;
}

function parse(line: string): Acknowledged {
  const [key, step, revision, traceRevision] = line.split(' ') as [string, string, string, string];
  return { key, step: Number(step), revision: Number(revision), traceRevision: Number(traceRevision) };
}

/** Two writers on one store; one is killed while both write, the other must go on, and is killed too. */
async function crashRound(): Promise<Acknowledged[]> {
  const [first, second] = [new NeighbourProcess(dataDir, 'storm', 'a'), new NeighbourProcess(dataDir, 'storm', 'b')];
  await Promise.all([first.said(30), second.said(30)]);
  await first.said(first.lines.length + Math.floor(Math.random() * 60));
  await first.kill();
  await second.said(second.lines.length + 30);
  await second.kill();
  return [...first.lines, ...second.lines].map(parse);
}

async function expectAllThere(store: Backend, acknowledged: readonly Acknowledged[]): Promise<void> {
  for (const { key, step, revision, traceRevision } of acknowledged) {
    const present = await store.get(key);
    expect(Number(present?.value)).toBeGreaterThanOrEqual(step);
    expect((await store.get(key, { revision }))?.value.toString()).toBe(String(step));
    const trace = await store.get(`${key}/${step}-${revision}`);
    expect(trace?.modRevision).toBe(traceRevision);
    expect(trace?.value.equals(Buffer.alloc(step % 2000, step))).toBe(true);
  }
}

describe('a store whose writers are killed', () => {
  it(
    `keeps every acknowledged write, opens at once and never decreases its revision (${kills} kills)`,
    async () => {
      let newest = 1;
      for (let round = 0; round < rounds; round++) {
        const acknowledged = await crashRound();
        const startedMs = performance.now();
        const store = await openEmbeddedBackend({ dataDir });
        expect(performance.now() - startedMs).toBeLessThan(1_000);
        const revision = await store.currentRevision();
        expect(revision).toBeGreaterThan(newest);
        expect(revision).toBeGreaterThanOrEqual(Math.max(...acknowledged.map((write) => write.traceRevision)));
        await expectAllThere(store, acknowledged);
        // The log of this round has every revision once.
        const { events } = await collect(store.watch('', { fromRevision: newest + 1 }), { revision });
        expect(events.map((event) => event.revision)).toEqual(
          Array.from({ length: revision - newest }, (_, i) => newest + 1 + i),
        );
        newest = revision;
        await store.close();
      }
    },
    20_000 + rounds * 10_000,
  );
});
