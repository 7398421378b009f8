import { afterEach, describe, expect, it } from 'vitest';
import { inspectDiff } from './diff-inspection.js';
import { diffText } from './diff-text.js';
import { FakePlane } from './inspected-plane.fixture.js';

let plane: FakePlane;

afterEach(() => plane.close());

const OLD = { '/v1/pods': 'get list', 'old.k8s.io/v1/things': 'get' };
const NEW = { '/v1/pods': 'get list patch', '/v1/pods/resize': 'patch', 'batch/v1/jobs': 'get list' };

describe('straddle diff', () => {
  it('shows which server serves which subresources and verbs, and what clients miss', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'plain', version: 'v1.35.8', serves: OLD },
      { name: 'b', kind: 'native', version: 'v1.36.4', serves: NEW },
    );
    const report = await inspectDiff(plane.door('a'), false);
    expect(report.resources).toEqual([
      { name: 'pods.v1', servedBy: { a: ['get', 'list'], b: ['get', 'list', 'patch'] } },
      { name: 'pods.v1/resize', servedBy: { a: null, b: ['patch'] } },
      { name: 'jobs.v1.batch', servedBy: { a: null, b: ['get', 'list'] } },
      { name: 'things.v1.old.k8s.io', servedBy: { a: ['get'], b: null } },
    ]);
    expect(report.changes).toEqual([
      {
        from: 'v1.35.8',
        to: 'v1.36.4',
        added: ['pods.v1 (patch)', 'pods.v1/resize', 'jobs.v1.batch'],
        removed: ['things.v1.old.k8s.io'],
      },
    ]);
    expect(report.clients).toEqual([
      {
        server: 'a',
        missing: ['pods.v1 (patch)', 'pods.v1/resize', 'jobs.v1.batch'],
        uncovered: ['pods.v1 (patch)', 'pods.v1/resize', 'jobs.v1.batch'],
      },
      { server: 'b', missing: ['things.v1.old.k8s.io'], uncovered: [] },
    ]);
    const text = diffText(report, false);
    expect(text).toMatch(/^RESOURCE +a +b\n +v1\.35\.8 +v1\.36\.4\npods\.v1 +no patch +yes\n {2}\/resize +- +yes\n/);
    expect(text).toContain('A client of a misses pods.v1 (patch), pods.v1/resize, jobs.v1.batch.\n');
    expect(text).toContain('A client of b misses nothing: its proxy makes up for what it does not serve.\n');
  });

  it('shows resources that all servers serve alike only with --all', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'plain' }, { name: 'b', kind: 'plain' });
    expect((await inspectDiff(plane.door('a'), false)).resources).toEqual([]);
    const all = await inspectDiff(plane.door('a'), true);
    expect(all.resources).toEqual([{ name: 'pods.v1', servedBy: { a: ['get', 'list'], b: ['get', 'list'] } }]);
    expect(all.common).toBe(1);
  });

  it('names a server whose surface is not known', async () => {
    plane = new FakePlane();
    await plane.start({ name: 'a', kind: 'plain' }, { name: 'b', kind: 'plain', down: true });
    const report = await inspectDiff(plane.door('a'), false);
    expect(report.notes).toContainEqual(`what b serves is not known (${plane.address('b')}: connection refused)`);
  });

  it('does not say that clients miss nothing while only one server answers, and names what is held', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'straddle', serves: { '/v1/pods': 'get' }, remembers: { 'x.example/v1/widgets': 'get' } },
      { name: 'b', kind: 'straddle', down: true, serves: {} },
    );
    const report = await inspectDiff(plane.door('a'), false);
    expect(report.notes).toContainEqual(
      'no server that could be asked serves widgets.v1.x.example: clients get 503 for it while b cannot be reached by the others either',
    );
    const text = diffText(report, false);
    expect(text).not.toContain('misses nothing');
    expect(text).toMatch(/^Only a answered: it serves 1 resources and subresources, and there is nothing to compare/);
  });

  it('shows objects stored in versions that a server cannot decode', async () => {
    plane = new FakePlane();
    await plane.start(
      { name: 'a', kind: 'plain', serves: { 'x.example/v1/widgets': 'get' } },
      { name: 'b', kind: 'plain', serves: { '/v1/pods': 'get' } },
    );
    const definition = (plural: string, versions: readonly string[], storedVersions: readonly string[]) => ({
      spec: {
        group: 'x.example',
        names: { plural },
        versions: versions.map((name) => ({ name, served: true })),
      },
      status: { storedVersions: [...storedVersions] },
    });
    plane.definitions.push(definition('widgets', ['v1'], ['v1']), definition('gadgets', ['v1'], ['v1beta1']));
    plane.storageVersions.push({
      metadata: { name: 'apps.deployments' },
      status: {
        storageVersions: [
          { apiServerID: 'lease-a', encodingVersion: 'apps/v2', decodableVersions: ['apps/v1', 'apps/v2'] },
          { apiServerID: 'lease-b', encodingVersion: 'apps/v1', decodableVersions: ['apps/v1'] },
        ],
      },
    });
    const { stored } = await inspectDiff(plane.door('a'), false);
    expect(stored).toMatchObject([
      { resource: 'deployments.apps', storedIn: 'apps/v2', servers: ['b'] },
      { resource: 'widgets.x.example', storedIn: 'x.example/v1', servers: ['b'] },
      { resource: 'gadgets.x.example', storedIn: 'x.example/v1beta1', servers: ['a', 'b'] },
    ]);
  });
});
