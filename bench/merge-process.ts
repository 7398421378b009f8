/** Measures the cost of merging discovery, in a separate process with messages over IPC. */
import type { GroupDiscovery } from '../src/kube/discovery.js';
import { DiscoveryView } from '../src/proxy/discovery/view-cache.js';
import { buildSurface } from '../src/proxy/peers/surface-documents.js';
import { median } from './statistics.js';

export interface MergeOrder {
  readonly servers: number;
  readonly resources: number;
}

export interface MergeAnswer {
  readonly milliseconds: number;
}

const PER_GROUP = 10;
const TIMES = 9;

function groupsOf(resources: number): GroupDiscovery[] {
  return Array.from({ length: Math.ceil(resources / PER_GROUP) }, (_, group) => {
    const name = `g${group}.bench.example.com`;
    const served = Array.from({ length: PER_GROUP }, (_, i) => ({
      resource: `things${i}`,
      responseKind: { group: name, version: 'v1', kind: `Thing${i}` },
      scope: 'Namespaced' as const,
      singularResource: `thing${i}`,
      verbs: ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'],
    }));
    return { metadata: { name }, versions: [{ version: 'v1', resources: served, freshness: 'Current' as const }] };
  });
}

/** Every server has a separate surface object, as if each had been read from its server. */
function measure({ servers, resources }: MergeOrder): MergeAnswer {
  const surfaces = Array.from({ length: servers }, (_, i) => ({
    identity: `server-${i}`,
    surface: buildSurface({ core: [], groups: groupsOf(resources), kubernetesVersion: 'v1.36.4' }),
    departed: false,
  }));
  const taken: number[] = [];
  for (let i = 0; i < TIMES; i++) {
    const before = process.cpuUsage();
    new DiscoveryView(surfaces).aggregated('groups', 'v2');
    const { user, system } = process.cpuUsage(before);
    taken.push((user + system) / 1000);
  }
  return { milliseconds: median(taken) };
}

process.once('message', (order: MergeOrder) => {
  process.send!(measure(order), () => process.exit(0));
});
