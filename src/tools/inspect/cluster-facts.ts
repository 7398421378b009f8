import { canonicalAddress, joinAddress } from '../../base/address.js';
import { isObject, type JsonObject, member, objectMember } from '../../kube/json.js';
import { ENDPOINT_SLICES_PATH } from '../../proxy/peers/endpoint-source.js';
import {
  HOSTNAME_LABEL,
  IDENTITY_LABEL,
  LEASES_PATH,
  ON_LOOPBACK,
  PEER_ADDRESS_ANNOTATION,
  SERVER_NAME_ANNOTATION,
  UPSTREAM_ANNOTATION,
  UPSTREAM_LISTENS_ANNOTATION,
} from '../../proxy/peers/lease-source.js';
import { type Asker, NoAnswer } from './ask.js';
import { commandLineFlags } from './command-line.js';

/** The content of an identity lease, as the server wrote it. */
export interface LeaseFact {
  readonly name: string;
  readonly kind: 'kube-apiserver' | 'straddle';
  readonly hostname: string | undefined;
  readonly address: string | undefined;
  /** Of a Straddle: the address of the API server behind it. */
  readonly upstreamAddress: string | undefined;
  /** Of a Straddle: nobody listens at `upstreamAddress`, because that API server listens on loopback. */
  readonly isBehindStraddle: boolean;
  readonly renewedAtMs: number | undefined;
  readonly durationSeconds: number;
}

/** The mirror pod of a server: the only object that has its command line. */
export interface PodFact {
  readonly name: string;
  readonly hostname: string | undefined;
  readonly address: string | undefined;
  readonly isStraddle: boolean;
  readonly flags: ReadonlyMap<string, string>;
}

/** The mirror pod of a component that is a client of the API servers. */
export interface ClientPodFact {
  readonly component: 'kube-controller-manager' | 'kube-scheduler';
  readonly node: string;
  readonly flags: ReadonlyMap<string, string>;
}

/** How servers authenticate front proxies, from the ConfigMap that they write. */
export interface AuthenticationFact {
  /** PEM; empty where no server has one. */
  readonly requestHeaderCa: string;
  /** Empty: any name. */
  readonly allowedNames: readonly string[];
}

export interface ClusterFacts {
  readonly door: string;
  /** The clock that leases are judged by: that of the replies, else this machine's. */
  readonly serverTimeMs: number;
  readonly leases: readonly LeaseFact[];
  readonly endpointAddresses: readonly string[];
  /** False if the EndpointSlices could not be read. */
  readonly areEndpointsKnown: boolean;
  readonly pods: readonly PodFact[];
  readonly clientPods: readonly ClientPodFact[];
  /** Undefined if the ConfigMap could not be read. */
  readonly authentication: AuthenticationFact | undefined;
  /** Reads that failed, with the missing right. */
  readonly notes: readonly string[];
}

const SECOND_HALF_MS = 500;
const ITEMS_MAX = 2_000;
const LEASES_SELECTOR = `${IDENTITY_LABEL} in (kube-apiserver,straddle)`;
const PODS_PATH = '/api/v1/namespaces/kube-system/pods';
const CLIENTS = ['kube-controller-manager', 'kube-scheduler'] as const;
const PODS_SELECTOR = `component in (kube-apiserver,straddle,${CLIENTS.join(',')})`;
const AUTHENTICATION_PATH = '/api/v1/namespaces/kube-system/configmaps/extension-apiserver-authentication';
const DEFAULT_PORT = 6443;

const selected = (path: string, selector: string): string =>
  `${path}?limit=${ITEMS_MAX}&labelSelector=${encodeURIComponent(selector)}`;

/** Reads the objects about the servers of a cluster. Rejects without a reply, or with 401. */
export async function readCluster(door: Asker, nowMs: () => number): Promise<ClusterFacts> {
  const notes: string[] = [];
  const read = new Reader(door, notes);
  // The first request alone: without a reply, one timeout is enough.
  const leases = await read.get(
    selected(LEASES_PATH, LEASES_SELECTOR),
    'list leases.coordination.k8s.io in kube-system',
  );
  const [slices, pods, authentication] = await Promise.all([
    read.get(
      selected(ENDPOINT_SLICES_PATH, 'kubernetes.io/service-name=kubernetes'),
      'list endpointslices.discovery.k8s.io in default',
    ),
    read.get(selected(PODS_PATH, PODS_SELECTOR), 'list pods in kube-system'),
    read.get(AUTHENTICATION_PATH, 'get configmaps extension-apiserver-authentication in kube-system'),
  ]);
  return {
    door: door.url,
    serverTimeMs: read.dateMs === undefined ? nowMs() : read.dateMs + SECOND_HALF_MS,
    leases: itemsOf(leases).flatMap(leaseFact),
    endpointAddresses: [...new Set(itemsOf(slices).flatMap(sliceAddresses))],
    areEndpointsKnown: slices !== 'unknown',
    pods: itemsOf(pods)
      .filter((pod) => componentOf(pod) === undefined)
      .flatMap(podFact),
    clientPods: itemsOf(pods).flatMap(clientPodFact),
    authentication: authenticationFact(authentication),
    notes,
  };
}

type Found = JsonObject | 'absent' | 'unknown';

class Reader {
  dateMs: number | undefined;

  constructor(
    readonly door: Asker,
    readonly notes: string[],
  ) {}

  async get(path: string, right: string): Promise<Found> {
    let answer: Awaited<ReturnType<Asker['get']>>;
    try {
      answer = await this.door.get(path);
    } catch (error) {
      if (!(error instanceof NoAnswer)) throw error;
      throw new Error(`${this.door.url} cannot be reached: ${error.message}.`);
    }
    this.dateMs = answer.dateMs ?? this.dateMs;
    if (answer.status === 401) {
      throw new Error(`${this.door.url} does not know this user (401); are the kubeconfig's credentials still valid?`);
    }
    if (answer.status === 404) return 'absent';
    if (answer.status !== 200) {
      this.notes.push(
        answer.status === 403
          ? `not allowed to ${right}: what it says is missing below`
          : `asked to ${right}, ${this.door.url} answered ${answer.status}`,
      );
      return 'unknown';
    }
    const body = parsed(answer.text);
    if (!isObject(body)) throw new Error(`${this.door.url} answered without JSON: is it an API server?`);
    return body;
  }
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function itemsOf(list: Found): JsonObject[] {
  const items = typeof list === 'string' ? undefined : list['items'];
  return Array.isArray(items) ? items.slice(0, ITEMS_MAX).filter(isObject) : [];
}

function textAt(parent: JsonObject, key: string): string | undefined {
  const value = member(parent, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}

export function leaseFact(lease: JsonObject): LeaseFact[] {
  const metadata = objectMember(lease, 'metadata');
  const labels = objectMember(metadata, 'labels');
  const annotations = objectMember(metadata, 'annotations');
  const spec = objectMember(lease, 'spec');
  const kind = textAt(labels, IDENTITY_LABEL);
  if (kind !== 'kube-apiserver' && kind !== 'straddle') return [];
  const renewedAtMs = Date.parse(textAt(spec, 'renewTime') ?? '');
  const seconds = spec['leaseDurationSeconds'];
  return [
    {
      name: textAt(metadata, 'name') ?? '',
      kind,
      hostname: (textAt(annotations, SERVER_NAME_ANNOTATION) ?? textAt(labels, HOSTNAME_LABEL))?.toLowerCase(),
      address: canonicalAddress(textAt(annotations, PEER_ADDRESS_ANNOTATION) ?? ''),
      upstreamAddress:
        kind === 'straddle' ? canonicalAddress(textAt(annotations, UPSTREAM_ANNOTATION) ?? '') : undefined,
      isBehindStraddle: annotations[UPSTREAM_LISTENS_ANNOTATION] === ON_LOOPBACK,
      renewedAtMs: Number.isNaN(renewedAtMs) ? undefined : renewedAtMs,
      durationSeconds: typeof seconds === 'number' ? seconds : 0,
    },
  ];
}

function sliceAddresses(slice: JsonObject): string[] {
  const ports = Array.isArray(slice['ports']) ? slice['ports'].filter(isObject) : [];
  const port = (ports.find((each) => each['name'] === 'https') ?? ports[0])?.['port'];
  const endpoints = Array.isArray(slice['endpoints']) ? slice['endpoints'].filter(isObject) : [];
  return endpoints.flatMap((endpoint) => {
    const addresses = Array.isArray(endpoint['addresses']) ? endpoint['addresses'] : [];
    return joinAddress(String(addresses[0]), Number(port)) ?? [];
  });
}

export function podFact(pod: JsonObject): PodFact[] {
  const metadata = objectMember(pod, 'metadata');
  const spec = objectMember(pod, 'spec');
  const status = objectMember(pod, 'status');
  if (!Array.isArray(spec['containers']) || !spec['containers'].some(isObject)) return [];
  const texts = wordsOf(pod);
  const flags = commandLineFlags(texts);
  const wildcard = ['0.0.0.0', '::'];
  const ip = [flags.get('peer-advertise-ip'), flags.get('advertise-address'), flags.get('bind-address')]
    .concat(textAt(status, 'hostIP'), textAt(status, 'podIP'))
    .find((each) => each !== undefined && !wildcard.includes(each));
  const port = Number(flags.get('peer-advertise-port') ?? flags.get('secure-port') ?? DEFAULT_PORT);
  return [
    {
      name: textAt(metadata, 'name') ?? '',
      hostname: (flags.get('server-name') ?? textAt(spec, 'nodeName'))?.toLowerCase(),
      address: ip === undefined ? undefined : joinAddress(ip, port),
      isStraddle: texts.some((word) => /(^|\/)straddle(\.js)?$/.test(word)),
      flags,
    },
  ];
}

/** Returns the component of the pod of a client of the API servers. */
function componentOf(pod: JsonObject): ClientPodFact['component'] | undefined {
  const label = textAt(objectMember(objectMember(pod, 'metadata'), 'labels'), 'component');
  return CLIENTS.find((each) => each === label);
}

function clientPodFact(pod: JsonObject): ClientPodFact[] {
  const component = componentOf(pod);
  const node = textAt(objectMember(pod, 'spec'), 'nodeName')?.toLowerCase();
  return component && node !== undefined ? [{ component, node, flags: commandLineFlags(wordsOf(pod)) }] : [];
}

/** Returns the command line of the first container. */
function wordsOf(pod: JsonObject): string[] {
  const { containers } = objectMember(pod, 'spec');
  const [container] = Array.isArray(containers) ? containers.filter(isObject) : [];
  const words = [container?.['command'], container?.['args']].flatMap((list) => (Array.isArray(list) ? list : []));
  return words.filter((word) => typeof word === 'string');
}

function authenticationFact(map: Found): AuthenticationFact | undefined {
  if (map === 'unknown') return undefined;
  if (map === 'absent') return { requestHeaderCa: '', allowedNames: [] };
  const data = objectMember(map, 'data');
  const names = parsed(textAt(data, 'requestheader-allowed-names') ?? '[]');
  return {
    requestHeaderCa: textAt(data, 'requestheader-client-ca-file') ?? '',
    allowedNames: Array.isArray(names) ? names.map(String) : [],
  };
}
