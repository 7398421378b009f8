/** Measures the time of a routing decision, in a separate process with messages over IPC. */
import { gvrKey } from '../src/kube/gvr.js';
import { parseRequestInfo } from '../src/kube/request-info.js';
import type { ServedResource, Surface } from '../src/kube/surface.js';
import type { Peer, PeerEndpoint } from '../src/proxy/peers/peer-table.js';
import { buildPeerTable } from '../src/proxy/peers/table-index.js';
import { route } from '../src/proxy/routing/route.js';
import { selectEndpoint } from '../src/proxy/routing/select-endpoint.js';

export interface DecisionOrder {
  readonly peers: number;
  readonly resources: number;
  /** Every peer serves them all, or each resource is served by two. */
  readonly capable: 'all' | 'two';
}

export interface DecisionAnswer {
  readonly nanoseconds: number;
}

const DECISIONS = 400_000;
const WARM_DECISIONS = 100_000;
/** Different requests, asked over and over: more than a processor's fastest cache holds, fewer than clients of a day. */
const TARGETS = 1_000;
const SERVED: ServedResource = {
  verbs: new Set(['create', 'delete', 'get', 'list', 'patch', 'update', 'watch']),
  subresources: new Map([['status', new Set(['get', 'patch', 'update'])]]),
};

function surfaceOf(names: readonly number[]): Surface {
  const resources = new Map(names.map((name) => [gvrKey(groupOf(name), 'v1', `things${name}`), SERVED]));
  return { resources, core: [], groups: [], kubernetesVersion: 'v1.36.4' };
}

const groupOf = (name: number): string => `g${Math.floor(name / 10)}.bench.example.com`;

function endpoint(i: number): PeerEndpoint {
  return {
    kind: 'kube-apiserver',
    destination: { address: `10.0.0.${i}:6443`, inFlight: i % 3 } as PeerEndpoint['destination'],
    usable: () => true,
    report: () => {},
  };
}

function measure({ peers, resources, capable }: DecisionOrder): DecisionAnswer {
  const names = Array.from({ length: resources }, (_, i) => i);
  const served = (peer: number): number[] =>
    capable === 'all' ? names : names.filter((name) => name % peers === peer || (name + 1) % peers === peer);
  const table = buildPeerTable({
    peers: Array.from(
      { length: peers },
      (_, i): Peer => ({ identity: `server-${i}`, endpoints: [endpoint(i)], surface: surfaceOf(served(i)) }),
    ),
    unread: [],
    departed: [],
  });
  const local = { surface: surfaceOf([]), ready: true };
  const targets = Array.from({ length: TARGETS }, (_, i) => {
    const name = (i * 7919) % resources;
    return `/apis/${groupOf(name)}/v1/namespaces/default/things${name}/one`;
  });
  const none: ReadonlySet<PeerEndpoint> = new Set();
  const decide = (count: number): void => {
    for (let i = 0; i < count; i++) {
      const info = parseRequestInfo('GET', targets[i % TARGETS]!);
      const way = route(info!, local, table);
      if (way.kind !== 'reroute' || selectEndpoint(way.peers, none) === undefined)
        throw new Error('no peer was chosen');
    }
  };
  decide(WARM_DECISIONS);
  // Collects the garbage of building the tables before the measurement.
  globalThis.gc?.();
  // Time of the processor, which another process that uses it meanwhile does not lengthen.
  const before = process.cpuUsage();
  decide(DECISIONS);
  const { user, system } = process.cpuUsage(before);
  return { nanoseconds: ((user + system) * 1000) / DECISIONS };
}

process.once('message', (order: DecisionOrder) => {
  process.send!(measure(order), () => process.exit(0));
});
