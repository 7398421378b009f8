import { groupVersion } from '../../kube/gvr.js';
import { isObject, type Json, type JsonObject, objectMember } from '../../kube/json.js';
import type { Conversion } from './resource-type.js';

interface Place {
  readonly group: string;
  readonly version: string;
  readonly kind: string;
}

type Convert = (object: JsonObject) => JsonObject;

/** Returns the group and version in which a kind of two groups is stored. */
export function storedElsewhere({
  group,
  kind,
}: Place): { readonly group: string; readonly version: string } | undefined {
  return group === 'events.k8s.io' && kind === 'Event' ? { group: '', version: 'v1' } : undefined;
}

/** Conversion between versions of a built-in kind, of which most differ in `apiVersion` only. */
export function builtInConversion(place: Place, storedVersion: string): Conversion {
  const served = groupVersion(place.group, place.version);
  const pair = PAIRS[`${served}/${place.kind}`];
  if (!pair || served === storedVersion) return TRIVIAL_CONVERSION;
  return {
    isTrivial: false,
    toServed: async (objects) => objects.map((each) => (each['apiVersion'] === served ? each : pair.toServed(each))),
    toStored: async (objects) => objects.map((each) => ({ ...pair.toStored(each), apiVersion: storedVersion })),
  };
}

/** Conversion between versions that differ in `apiVersion` only. */
export const TRIVIAL_CONVERSION: Conversion = {
  isTrivial: true,
  toServed: async (objects) => [...objects],
  toStored: async (objects) => [...objects],
};

const PAIRS: Readonly<Record<string, { readonly toServed: Convert; readonly toStored: Convert }>> = {
  'events.k8s.io/v1/Event': {
    toServed: (object) => renamed(object, NEW_EVENT_NAMES),
    toStored: (object) => renamed(object, CORE_EVENT_NAMES),
  },
  'autoscaling/v1/HorizontalPodAutoscaler': { toServed: toSimpleAutoscaler, toStored: toFullAutoscaler },
};

/** Names of members in the core group, and in events.k8s.io. */
const NEW_EVENT_NAMES: ReadonlyMap<string, string> = new Map([
  ['involvedObject', 'regarding'],
  ['message', 'note'],
  ['source', 'deprecatedSource'],
  ['firstTimestamp', 'deprecatedFirstTimestamp'],
  ['lastTimestamp', 'deprecatedLastTimestamp'],
  ['count', 'deprecatedCount'],
  ['reportingComponent', 'reportingController'],
]);
const CORE_EVENT_NAMES: ReadonlyMap<string, string> = new Map(
  [...NEW_EVENT_NAMES].map(([core, newer]) => [newer, core]),
);

function renamed(object: JsonObject, names: ReadonlyMap<string, string>): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [names.get(key) ?? key, value]));
}

/** `autoscaling/v1` keeps the fields that it lacks in annotations, as in kube-apiserver. */
const METRICS = 'autoscaling.alpha.kubernetes.io/metrics';
const BEHAVIOR = 'autoscaling.alpha.kubernetes.io/behavior';
const CURRENT_METRICS = 'autoscaling.alpha.kubernetes.io/current-metrics';
const CONDITIONS = 'autoscaling.alpha.kubernetes.io/conditions';

function toSimpleAutoscaler(object: JsonObject): JsonObject {
  const { metrics, behavior, ...spec } = objectMember(object, 'spec');
  const { currentMetrics, conditions, ...status } = objectMember(object, 'status');
  const annotations = { ...objectMember(objectMember(object, 'metadata'), 'annotations') };
  const list = Array.isArray(metrics) ? metrics : [];
  const cpu = list.find(isCpuUtilization);
  const others = list.filter((each) => each !== cpu);
  const keep = (name: string, value: Json | undefined): void => {
    if (value !== undefined && (!Array.isArray(value) || value.length > 0)) annotations[name] = JSON.stringify(value);
  };
  keep(METRICS, others);
  keep(BEHAVIOR, behavior);
  keep(CURRENT_METRICS, currentMetrics);
  keep(CONDITIONS, conditions);
  const target =
    cpu === undefined ? undefined : objectMember(objectMember(cpu, 'resource'), 'target')['averageUtilization'];
  return {
    ...object,
    metadata: withAnnotations(objectMember(object, 'metadata'), annotations),
    spec: { ...spec, ...(target === undefined ? {} : { targetCPUUtilizationPercentage: target }) },
    ...(object['status'] === undefined ? {} : { status }),
  };
}

function toFullAutoscaler(object: JsonObject): JsonObject {
  const { targetCPUUtilizationPercentage: target, ...spec } = objectMember(object, 'spec');
  const annotations = { ...objectMember(objectMember(object, 'metadata'), 'annotations') };
  const take = (name: string): Json | undefined => {
    const text = annotations[name];
    delete annotations[name];
    try {
      return typeof text === 'string' ? (JSON.parse(text) as Json) : undefined;
    } catch {
      return undefined;
    }
  };
  const others = take(METRICS);
  const behavior = take(BEHAVIOR);
  const currentMetrics = take(CURRENT_METRICS);
  const conditions = take(CONDITIONS);
  const cpu: Json[] =
    typeof target === 'number'
      ? [{ type: 'Resource', resource: { name: 'cpu', target: { type: 'Utilization', averageUtilization: target } } }]
      : [];
  const metrics = [...(Array.isArray(others) ? others : []), ...cpu];
  const status = {
    ...objectMember(object, 'status'),
    ...(currentMetrics === undefined ? {} : { currentMetrics }),
    ...(conditions === undefined ? {} : { conditions }),
  };
  return {
    ...object,
    metadata: withAnnotations(objectMember(object, 'metadata'), annotations),
    spec: { ...spec, ...(metrics.length === 0 ? {} : { metrics }), ...(behavior === undefined ? {} : { behavior }) },
    ...(Object.keys(status).length === 0 && object['status'] === undefined ? {} : { status }),
  };
}

function isCpuUtilization(metric: Json): metric is JsonObject {
  if (!isObject(metric) || metric['type'] !== 'Resource') return false;
  const resource = objectMember(metric, 'resource');
  return resource['name'] === 'cpu' && objectMember(resource, 'target')['type'] === 'Utilization';
}

function withAnnotations(metadata: JsonObject, annotations: JsonObject): JsonObject {
  const { annotations: _, ...rest } = metadata;
  return Object.keys(annotations).length === 0 ? rest : { ...rest, annotations };
}
