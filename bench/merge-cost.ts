import { performance } from 'node:perf_hooks';
import { parseAggregated } from '../src/kube/discovery-documents.js';
import type { ServerSurface } from '../src/proxy/discovery/merge.js';
import { DiscoveryView } from '../src/proxy/discovery/view-cache.js';
import { buildSurface } from '../src/proxy/peers/surface-documents.js';
import type { Row } from './bench-case.js';
import { rowOf } from './statistics.js';

const ROUNDS = 7;

export interface ServerDocuments {
  readonly name: string;
  readonly core: Buffer;
  readonly groups: Buffer;
  readonly version: string;
}

/** Cost of a change of discovery for a Straddle: reading one surface, merging all, encoding. */
export async function measureMerge(name: string, documents: readonly ServerDocuments[]): Promise<Row[]> {
  const taken = { read: [] as number[], merge: [] as number[], bytes: [] as number[], gzip: [] as number[] };
  for (let round = 0; round < ROUNDS; round++) {
    const servers: ServerSurface[] = [];
    for (const each of documents) {
      taken.read.push(timed(() => void servers.push(surfaceOf(each))));
    }
    let view: DiscoveryView | undefined;
    taken.merge.push(
      timed(() => {
        view = new DiscoveryView(servers);
      }),
    );
    taken.bytes.push(timed(() => void view!.aggregated('groups', 'v2')));
    const startedMs = performance.now();
    await view!.aggregated('groups', 'v2').gzipped();
    taken.gzip.push(performance.now() - startedMs);
  }
  const row = (metric: string, figures: readonly number[]): Row =>
    rowOf({ case: name, contestant: 'Straddle', metric, unit: 'ms' }, figures);
  return [
    row("read one server's surface (parse, check, index)", taken.read),
    row(`merge ${documents.length} surfaces`, taken.merge),
    row('write and tag /apis', taken.bytes),
    row('compress /apis (off the main thread)', taken.gzip),
  ];
}

function surfaceOf({ name, core, groups, version }: ServerDocuments): ServerSurface {
  const parsed = (body: Buffer, path: string) => parseAggregated(JSON.parse(body.toString()), path);
  const surface = buildSurface({
    core: parsed(core, '/api'),
    groups: parsed(groups, '/apis'),
    kubernetesVersion: version,
  });
  return { identity: name, surface, departed: false };
}

function timed(work: () => void): number {
  const startedMs = performance.now();
  work();
  return performance.now() - startedMs;
}
