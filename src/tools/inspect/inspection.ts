import { Asker, type Credentials } from './ask.js';
import { type ClusterFacts, readCluster } from './cluster-facts.js';
import { eachBounded } from './each-bounded.js';
import { type EndpointReading, readEndpoint } from './endpoint-reading.js';
import { knownServers, type ListedServer } from './servers.js';

/** All that was found out, for reports to be made of. */
export interface Inspection {
  readonly facts: ClusterFacts;
  readonly servers: readonly InspectedServer[];
  /** This machine's clock when it was over. */
  readonly nowMs: number;
}

export interface InspectedServer {
  readonly server: ListedServer;
  /** One for each endpoint, in their order. */
  readonly readings: readonly EndpointReading[];
}

export interface InspectOptions {
  /** What the kubeconfig names: one server, or a load balancer before several. */
  readonly url: string;
  readonly serverName: string | undefined;
  readonly credentials: Credentials;
  readonly peerCa?: string | undefined;
  /** Addresses, beside those that the cluster tells. */
  readonly given?: readonly string[];
  readonly nowMs: () => number;
  readonly timeoutMs?: number;
}

const ENDPOINTS_AT_ONCE_MAX = 16;

/** Rejects, with a sentence, only if the cluster cannot be asked at all. */
export async function inspect(options: InspectOptions): Promise<Inspection> {
  const { facts, servers } = await findServers(options);
  const { credentials, nowMs, timeoutMs } = options;
  const endpoints = servers.flatMap((server) => server.endpoints);
  const readings = await eachBounded(endpoints, ENDPOINTS_AT_ONCE_MAX, (endpoint) =>
    readEndpoint(endpoint, {
      credentials,
      peerCa: options.peerCa,
      nowMs,
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }),
  );
  return {
    facts,
    nowMs: nowMs(),
    servers: servers.map((server) => ({
      server,
      readings: readings.filter(({ endpoint }) => server.endpoints.includes(endpoint)),
    })),
  };
}

/** Who there is, before anyone but the door has been asked. */
export async function findServers(
  options: InspectOptions,
): Promise<{ readonly facts: ClusterFacts; readonly servers: readonly ListedServer[] }> {
  const { url, credentials, nowMs, timeoutMs, given } = options;
  const door = new Asker({
    url,
    credentials,
    serverName: options.serverName,
    nowMs,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
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
