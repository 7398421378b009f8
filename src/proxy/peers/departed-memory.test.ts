import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { silentLogger } from '../../base/logger.js';
import { ManualClock } from '../../base/manual-clock.fixture.js';
import { parseAggregated } from '../../kube/discovery-documents.js';
import { DepartedMemory } from './departed-memory.js';
import { aggregated } from './fake-server.fixture.js';
import { buildSurface } from './surface-documents.js';

const surface = (name: string) =>
  buildSurface({
    core: [],
    groups: parseAggregated(aggregated({ [name]: 'get' }), '/apis'),
    kubernetesVersion: 'v1.36.4',
  });
const b = { identity: 'b', addresses: ['10.0.0.2:6443'], surface: surface('only/v1/bs') };

let stateDir: string;
let clock: ManualClock;
beforeEach(async () => {
  stateDir = await mkdtemp(join(tmpdir(), 'straddle-memory-'));
  clock = new ManualClock();
});
afterEach(() => rm(stateDir, { recursive: true, force: true }));

const open = (more: { stateDir?: string; selfNames?: string[] } = {}) =>
  DepartedMemory.open({ clock, logger: silentLogger, graceMs: 60_000, ...more });
const names = (memory: DepartedMemory) => memory.departed().map((server) => server.identity);

describe('DepartedMemory', () => {
  it('keeps the surface of a departed server until the grace period is over', async () => {
    const memory = await open();
    let expired = 0;
    memory.onExpiry(() => expired++);
    memory.depart(b, clock.nowMs());
    await clock.advance(59_999);
    expect(names(memory)).toEqual(['b']);
    await clock.advance(1);
    expect(names(memory)).toEqual([]);
    expect(expired).toBe(1);
  });

  it('deletes a departed server once it is read again, also under another name', async () => {
    const memory = await open();
    memory.depart(b, clock.nowMs());
    memory.present({ ...b, surface: surface('other/v1/xs') });
    expect(names(memory)).toEqual([]);
    memory.depart({ ...b, identity: '10.0.0.9:1', addresses: ['10.0.0.9:1'] }, clock.nowMs());
    memory.present({ ...b, identity: 'named', addresses: ['10.0.0.9:1'] });
    expect(names(memory)).toEqual([]);
  });

  it('deletes a departed server with a forget mark, unless it departed after the mark', async () => {
    const memory = await open();
    memory.depart(b, clock.nowMs());
    memory.forget([
      { identity: 'b', atMs: clock.nowMs() - 1 },
      { identity: 'c', atMs: clock.nowMs() },
    ]);
    expect(names(memory)).toEqual(['b']);
    memory.forget([{ identity: 'b', atMs: clock.nowMs() }]);
    expect(names(memory)).toEqual([]);
  });

  it('removes resources of departed servers that a live server serves, even if it later stops', async () => {
    const memory = await open({ stateDir });
    const both = buildSurface({
      core: [],
      groups: parseAggregated(aggregated({ 'only/v1/bs': 'get', 'shared/v1/crds': 'get' }), '/apis'),
      kubernetesVersion: 'v1.36.4',
    });
    memory.depart({ ...b, surface: both }, clock.nowMs());
    memory.servedByOthers(surface('shared/v1/crds'));
    expect([...memory.departed()[0]!.surface.resources.keys()]).toEqual(['only/v1/bs']);
    await memory.close();
    const later = await open({ stateDir });
    expect([...later.departed()[0]!.surface.resources.keys()]).toEqual(['only/v1/bs']);
  });

  it('restores departed servers and their time of departure after a restart', async () => {
    const memory = await open({ stateDir });
    const departedAtMs = clock.nowMs();
    memory.depart(b, departedAtMs);
    await memory.close();
    await clock.advance(30_000);
    const later = await open({ stateDir });
    expect(later.departed()).toMatchObject([{ identity: 'b', departedAtMs }]);
    expect([...later.departed()[0]!.surface.resources.keys()]).toEqual(['only/v1/bs']);
    expect(later.departed()[0]!.surface.groups).toEqual(b.surface.groups);
  });
});

describe('DepartedMemory state file', () => {
  it('restores a server that was live at the stop as departed until it is found again', async () => {
    const memory = await open({ stateDir });
    memory.present(b);
    expect(names(memory)).toEqual([]);
    await memory.close();
    const later = await open({ stateDir });
    expect(names(later)).toEqual(['b']);
    later.present(b);
    expect(names(later)).toEqual([]);
    expect(names(await open({ stateDir, selfNames: ['B'] }))).toEqual([]);
  });

  it('stores every host name of a server', async () => {
    const memory = await open({ stateDir });
    memory.present({ ...b, hosts: ['b', 'straddle-b'] });
    await memory.close();
    const later = await open({ stateDir });
    expect([...later.servers()].map(({ hosts }) => hosts)).toEqual([['b', 'straddle-b']]);
  });

  it.each([
    '',
    '{',
    'null',
    '{"format":1,"servers":[{}]}',
    '{"format":1,"servers":[{"identity":"b","addresses":[],"groups":[4]}]}',
  ])('logs a corrupt file (%s) once, starts empty and replaces the file', async (text) => {
    await writeFile(join(stateDir, 'servers.json'), text);
    const warnings: string[] = [];
    const logger = { ...silentLogger, warn: (message: string) => void warnings.push(message) };
    const memory = await DepartedMemory.open({ clock, logger, stateDir });
    expect(memory.departed()).toEqual([]);
    expect(warnings).toHaveLength(1);
    memory.depart(b, clock.nowMs());
    await memory.close();
    expect(JSON.parse(await readFile(join(stateDir, 'servers.json'), 'utf8')).servers).toHaveLength(1);
  });
});
