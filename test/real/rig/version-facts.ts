import type { ServerVersions } from './chosen-servers.js';
import { type KubeVersion, minorNumber } from './pinned-versions.js';
import { type ResourceName, servedBy } from './surface-of.js';

/**
 * An API that some versions serve and older ones do not, with an object of it. Which version serves it is not said here: that
 * is read from the surfaces, which were captured from real servers.
 */
export interface NewerApi extends ResourceName {
  readonly kind: string;
  /** Gates without which no server serves it. */
  readonly gates: readonly string[];
  readonly spec: object;
  /** A field within `spec`, with its value as kubectl prints it. */
  readonly field: { readonly path: string; readonly value: string };
}

const POD_GROUP = {
  group: 'scheduling.k8s.io',
  resource: 'podgroups',
  kind: 'PodGroup',
  gates: ['GenericWorkload'],
  spec: { schedulingPolicy: { gang: { minCount: 2 } } },
  field: { path: 'schedulingPolicy.gang.minCount', value: '2' },
} as const;

/** Namespaced, all of them; the first one that fits the servers is used. */
export const NEWER_APIS: readonly NewerApi[] = [
  { ...POD_GROUP, version: 'v1beta1' },
  { ...POD_GROUP, version: 'v1alpha2' },
  {
    group: 'scheduling.k8s.io',
    version: 'v1alpha1',
    resource: 'workloads',
    kind: 'Workload',
    gates: ['GenericWorkload'],
    spec: {
      controllerRef: { kind: 'Job', name: 'one' },
      podGroups: [{ name: 'one', policy: { gang: { minCount: 2 } } }],
    },
    field: { path: 'controllerRef.kind', value: 'Job' },
  },
  {
    group: 'resource.k8s.io',
    version: 'v1',
    resource: 'resourceclaims',
    kind: 'ResourceClaim',
    gates: [],
    spec: { devices: { requests: [{ name: 'one', exactly: { deviceClassName: 'example.test' } }] } },
    field: { path: 'devices.requests[0].name', value: 'one' },
  },
];

/** A field of a pod's spec that came with a version; older servers do not know it and must not lose it. */
export const POD_FIELDS: readonly { readonly name: string; readonly value: unknown }[] = [
  { name: 'evictionResponders', value: [{ name: 'example.test/responder', priority: 10_000 }] },
  { name: 'schedulingGroup', value: { podGroupName: 'first' } },
  { name: 'hostnameOverride', value: 'other' },
];

/** Gates of features that are alpha, so that what a subresource writes is stored. */
const GATES_OF_SUBRESOURCES: readonly (ResourceName & { readonly gate: string })[] = [
  { group: 'storage.k8s.io', version: 'v1', resource: 'csinodes/status', gate: 'CSIVolumeHealth' },
];

/** UnknownVersionInteroperabilityProxy is on by default from here. */
export const NATIVE_BY_DEFAULT_SINCE = 36;
/** A lease names the address of its kube-apiserver from here, also where the native feature is off. */
export const ADDRESS_IN_LEASE_SINCE = 36;
/** kube-apiserver speaks WebSocket to kubelets that say they know it from here. */
export const WEBSOCKET_TO_KUBELETS_SINCE = 36;
/** pods/resize is served by default from here. */
export const RESIZE_SINCE = 33;
/** A server emulates versions up to so many before its own, and 1.32 if it is older than that allows. */
const EMULATED_BEFORE = 3;
const EMULATED_OLDEST = 32;

/** The oldest version that the rig has a server of this one emulate, as a number: 33 for 1.33. */
export function oldestEmulated(version: KubeVersion): number {
  return Math.max(EMULATED_OLDEST, minorNumber(version) - EMULATED_BEFORE);
}

/** The first API of the table that B and C can serve, and that A does not serve with default flags. */
export function newerApiOf({ a, b, c }: ServerVersions): NewerApi | undefined {
  return NEWER_APIS.find(
    (api) => servedBy(a, api) !== 'by default' && servedBy(b, api) !== undefined && servedBy(c, api) !== undefined,
  );
}

/** Flags with which a server of this version serves all of the table that it can. */
export function flagsForNewerApis(version: KubeVersion): string[] {
  const known = NEWER_APIS.filter((api) => servedBy(version, api) === 'if switched on');
  const subresources = GATES_OF_SUBRESOURCES.filter((each) => servedBy(version, each) !== undefined);
  const gates = new Set([...known.flatMap((api) => api.gates), ...subresources.map(({ gate }) => gate)]);
  const versions = new Set(known.map((api) => `${api.group}/${api.version}`));
  return [
    ...(gates.size === 0 ? [] : [`--feature-gates=${[...gates].map((gate) => `${gate}=true`).join(',')}`]),
    ...(versions.size === 0 ? [] : [`--runtime-config=${[...versions].map((each) => `${each}=true`).join(',')}`]),
  ];
}

export function isSince(version: KubeVersion, since: number): boolean {
  return minorNumber(version) >= since;
}

/** For texts: what A does not serve, of what scenarios use. */
export function newerApiText(servers: ServerVersions): string {
  const api = newerApiOf(servers);
  return api === undefined ? 'nothing that B serves is missing' : `no ${api.group}/${api.version} ${api.resource}`;
}
