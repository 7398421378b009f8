import { eachBounded } from '../../base/each-bounded.js';
import { type Answerers, answerersAt } from './answerers.js';
import type { AskerOptions } from './ask.js';
import type { ClientPodFact } from './cluster-facts.js';
import type { InspectedServer, Inspection, InspectOptions } from './inspection.js';
import { protectionOf } from './protection.js';

export type ClientComponent = ClientPodFact['component'] | 'kubelet';

/** The kubeconfig of a component, as this machine has it. */
export interface ClientKubeconfig {
  readonly component: ClientComponent;
  readonly path: string;
  /** Undefined if it could not be read, with the reason in `problem`. */
  readonly access: Pick<AskerOptions, 'url' | 'serverName' | 'credentials'> | undefined;
  readonly problem: string | undefined;
}

/** What this machine shows of the clients of the API servers. */
export interface LocalClients {
  readonly kubeconfigs: readonly ClientKubeconfig[];
  /** The operator named their folder, so they are those of this cluster. */
  readonly areGiven: boolean;
  readonly hostname: string;
  readonly addresses: readonly string[];
}

/** One way of clients to the API servers, and who answers at its end. */
export interface Way {
  readonly kind: 'service' | 'kubeconfig' | ClientComponent;
  /** The server at its end or the node of the client; `*` for those of the control plane. */
  readonly server: string;
  /** Where the address was found: a file, or the name of an object. */
  readonly source: string;
  /** URL; null if it is not known. */
  readonly url: string | null;
  readonly found: Answerers | undefined;
  /** Why the address, or who answers there, is not known. */
  readonly unknown: string | undefined;
}

const CONNECTIONS_FOR_EACH_SERVER = 4;
const CONNECTIONS_MIN = 4;
const CONNECTIONS_MAX = 16;
const WAYS_AT_ONCE_MAX = 4;

interface WayToAsk extends Pick<Way, 'kind' | 'server' | 'source'> {
  readonly access: Pick<AskerOptions, 'url' | 'serverName' | 'credentials'> | undefined;
  readonly unknown?: string;
}

/** Finds out where the ways of clients lead; none where no Straddle is that they could miss. */
export async function readWays(
  { facts, servers }: Inspection,
  options: InspectOptions,
  local: LocalClients,
): Promise<readonly Way[]> {
  if (!hasStraddle({ facts, servers })) return [];
  const asked: readonly WayToAsk[] = [
    ...facts.endpointAddresses.map((address) => serviceWay(address, servers, options)),
    ...(facts.areEndpointsKnown && facts.endpointAddresses.length === 0 ? [NO_SERVICE] : []),
    { kind: 'kubeconfig', server: '*', source: 'this kubeconfig', access: options },
    ...clientWays({ facts, servers }, options, local),
  ];
  return eachBounded(asked, WAYS_AT_ONCE_MAX, ({ access, ...way }) => followed(way, access, servers, options));
}

/** Returns whether a Straddle answers in this control plane, or has a lease. */
function hasStraddle({ facts, servers }: Pick<Inspection, 'facts' | 'servers'>): boolean {
  return (
    facts.leases.some(({ kind }) => kind === 'straddle') ||
    servers.some(({ readings }) => readings.some((reading) => protectionOf(reading).kind !== 'kube-apiserver'))
  );
}

const SERVICE_SOURCE = 'the EndpointSlice of Service kubernetes';
const NO_SERVICE: WayToAsk = {
  kind: 'service',
  server: '*',
  source: SERVICE_SOURCE,
  access: undefined,
  unknown: `${SERVICE_SOURCE} has no address`,
};

function serviceWay(address: string, servers: readonly InspectedServer[], { credentials }: InspectOptions): WayToAsk {
  const owner = servers.find(({ server }) => server.endpoints.some((each) => each.address === address));
  const access = { url: `https://${address}`, credentials };
  return { kind: 'service', server: owner?.server.name ?? '*', source: SERVICE_SOURCE, access };
}

async function followed(
  { kind, server, source, unknown }: Omit<WayToAsk, 'access'>,
  access: WayToAsk['access'],
  servers: readonly InspectedServer[],
  { nowMs, timeoutMs }: InspectOptions,
): Promise<Way> {
  const way = { kind, server, source, url: access?.url ?? null };
  if (!access) return { ...way, found: undefined, unknown };
  const connections = isOfServer(access.url, servers)
    ? 1
    : Math.min(CONNECTIONS_MAX, Math.max(CONNECTIONS_MIN, CONNECTIONS_FOR_EACH_SERVER * servers.length));
  return { ...way, found: await answerersAt({ ...access, nowMs, timeoutMs }, connections), unknown };
}

/** Returns whether an address is that of one server, and not of a load balancer. */
function isOfServer(url: string, servers: readonly InspectedServer[]): boolean {
  const { hostname, port } = new URL(url);
  const address = `${hostname}:${port || 443}`;
  return servers.some(({ server }) => server.endpoints.some((each) => each.address === address));
}

/** The ways of the components: by their kubeconfigs on this machine, by their pods on the others. */
function clientWays(
  { facts, servers }: Pick<Inspection, 'facts' | 'servers'>,
  { credentials }: InspectOptions,
  local: LocalClients,
): WayToAsk[] {
  const here = nodeOf(local, servers);
  const files = here === undefined && !local.areGiven ? [] : local.kubeconfigs;
  const node = here ?? local.hostname.toLowerCase();
  const byFile = files.map(
    ({ component, path, access, problem }): WayToAsk => ({
      kind: component,
      server: node,
      source: path,
      access,
      ...(problem === undefined ? {} : { unknown: problem }),
    }),
  );
  const others = facts.clientPods.filter(
    (pod) => !(pod.node === node && files.some((file) => file.component === pod.component)),
  );
  const byPod = others.map((pod): WayToAsk => podWay(pod, credentials));
  const known = new Set([...byFile, ...byPod].map(({ kind }) => kind));
  // The controllers of an embedded API server are in its process.
  const areEmbedded = servers.every(({ readings }) => readings.every(({ isEmbedded }) => isEmbedded));
  const missing = areEmbedded ? [] : COMPONENTS.filter((each) => !known.has(each));
  return [...byFile, ...byPod, ...missing.map(nowhere)];
}

const COMPONENTS = ['kube-controller-manager', 'kube-scheduler'] as const;

/** Returns the server whose machine this is. */
function nodeOf({ hostname, addresses }: LocalClients, servers: readonly InspectedServer[]): string | undefined {
  const own = new Set(addresses.map((each) => (each.includes(':') ? `[${each}]` : each)));
  const isHere = ({ server: { name, endpoints } }: InspectedServer) =>
    name === hostname.toLowerCase() ||
    endpoints.some(({ address }) => own.has(address.slice(0, address.lastIndexOf(':'))));
  return servers.find(isHere)?.server.name;
}

function podWay({ component, node, flags }: ClientPodFact, credentials: InspectOptions['credentials']): WayToAsk {
  const way = { kind: component, server: node };
  const master = flags.get('master');
  if (master !== undefined && /^https:\/\//.test(master) && URL.canParse(master)) {
    return { ...way, source: '--master of its pod', access: { url: master.replace(/\/+$/, ''), credentials } };
  }
  const file = flags.get('kubeconfig');
  const named =
    file === undefined ? 'its pod names no kubeconfig' : `its pod names a file of that machine only, ${file}`;
  return { ...way, source: 'its pod', access: undefined, unknown: `${named}: run straddle check on ${node}` };
}

function nowhere(component: ClientComponent): WayToAsk {
  const unknown = 'neither its kubeconfig nor its pod is seen from here: run straddle check on each control-plane node';
  return { kind: component, server: '*', source: 'nothing', access: undefined, unknown };
}
