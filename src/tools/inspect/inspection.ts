import { eachBounded } from '../../base/each-bounded.js';
import { Asker, type AskerOptions } from './ask.js';
import { type ClusterFacts, readCluster } from './cluster-facts.js';
import { type EndpointReading, readEndpoint } from './endpoint-reading.js';
import { knownServers, type ListedServer } from './servers.js';

/** Everything that was read of a control plane, as input of reports. */
export interface Inspection {
  readonly facts: ClusterFacts;
  readonly servers: readonly InspectedServer[];
  /** Time of this machine at the end of the reading. */
  readonly nowMs: number;
}

export interface InspectedServer {
  readonly server: ListedServer;
  /** One for each endpoint, in their order; none for one at which, as its Straddle says, nobody listens. */
  readonly readings: readonly EndpointReading[];
}

/** Options of an inspection; `url` is one server, or a load balancer before several. */
export interface InspectOptions extends AskerOptions {
  readonly peerCa?: string | undefined;
  /** Addresses in addition to those in the cluster. */
  readonly given?: readonly string[];
}

const ENDPOINTS_AT_ONCE_MAX = 16;

/** Reads all servers of a control plane. Rejects only if the URL gives no usable reply. */
export async function inspect(options: InspectOptions): Promise<Inspection> {
  const { facts, servers } = await findServers(options);
  const endpoints = servers.flatMap((server) => server.endpoints);
  const readings = await eachBounded(endpoints, ENDPOINTS_AT_ONCE_MAX, (endpoint) => readEndpoint(endpoint, options));
  return {
    facts,
    nowMs: options.nowMs(),
    servers: servers.map((server) => ({
      server,
      readings: readings.filter(
        ({ endpoint, isRefused }) => server.endpoints.includes(endpoint) && !(endpoint.isReserve && isRefused),
      ),
    })),
  };
}

/** Finds the servers of a control plane by requests to the URL alone. */
export async function findServers(
  options: InspectOptions,
): Promise<{ readonly facts: ClusterFacts; readonly servers: readonly ListedServer[] }> {
  const { url, nowMs, given } = options;
  const door = new Asker(options);
  try {
    const facts = await readCluster(door, nowMs);
    const servers = knownServers(facts, given);
    const isOnlyDoor =
      (given ?? []).length === 0 &&
      servers.every(({ leases, endpoints }) => leases.length === 0 && isDoor(endpoints, url));
    const note = `nothing in the cluster says where its servers are, so only whoever answers at ${url} is shown, which may be a load balancer; give the servers with --server`;
    return { facts: isOnlyDoor ? { ...facts, notes: [...facts.notes, note] } : facts, servers };
  } finally {
    door.close();
  }
}

function isDoor(endpoints: ListedServer['endpoints'], url: string): boolean {
  const { hostname, port } = new URL(url);
  return endpoints.every(({ address, pod }) => !pod && address === `${hostname}:${port || 443}`);
}
