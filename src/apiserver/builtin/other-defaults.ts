import { type JsonObject, setMember } from '../../kube/json.js';
import { child, childOrNew, fill, flag, has, number, objects, remove, text, texts } from './fields.js';
import type { TypeDefaultsTable } from './type-defaults.js';

const RBAC_GROUP = 'rbac.authorization.k8s.io';
const AFFINITY_SECONDS = 10_800;

/** Defaults of kinds other than workloads that depend on other members, or on the version. */
export const OTHER_DEFAULTS: TypeDefaultsTable = {
  'io.k8s.api.core.v1.Service': serviceDefaults,
  'io.k8s.api.core.v1.Secret': (secret) => {
    takeTexts(secret);
    fill(secret, { type: 'Opaque' });
  },
  'io.k8s.api.core.v1.Namespace': (namespace) => {
    const metadata = childOrNew(namespace, 'metadata');
    const name = text(metadata, 'name');
    if (name !== '') childOrNew(metadata, 'labels')['kubernetes.io/metadata.name'] = name;
    fill(childOrNew(namespace, 'status'), { phase: 'Active' });
  },
  'io.k8s.api.core.v1.NodeSpec': (spec) => {
    const pair = firstAndAll(text(spec, 'podCIDR'), texts(spec, 'podCIDRs'));
    if (pair) Object.assign(spec, { podCIDR: pair.first, podCIDRs: pair.all });
  },
  'io.k8s.api.core.v1.PodStatus': (status) => {
    const present = objects(status, 'podIPs').map((each) => text(each, 'ip'));
    const pair = firstAndAll(text(status, 'podIP'), present);
    if (pair) Object.assign(status, { podIP: pair.first, podIPs: pair.all.map((ip) => ({ ip })) });
  },
  'io.k8s.api.core.v1.NodeStatus': (status) => {
    const capacity = child(status, 'capacity');
    if (capacity !== undefined) fill(status, { allocatable: structuredClone(capacity) });
  },
  'io.k8s.api.core.v1.PersistentVolume': (volume) => {
    fill(childOrNew(volume, 'status'), { phase: 'Pending' });
    fill(childOrNew(volume, 'spec'), { persistentVolumeReclaimPolicy: 'Retain', volumeMode: 'Filesystem' });
  },
  'io.k8s.api.core.v1.PersistentVolumeClaim': (claim) => fill(childOrNew(claim, 'status'), { phase: 'Pending' }),
  'io.k8s.api.core.v1.LimitRangeItem': (item) => {
    if (text(item, 'type') !== 'Container') return;
    const defaults = { ...child(item, 'default') };
    fill(defaults, child(item, 'max') ?? {});
    const requests = { ...child(item, 'defaultRequest') };
    fill(requests, defaults);
    fill(requests, child(item, 'min') ?? {});
    if (Object.keys(defaults).length > 0) item['default'] = defaults;
    if (Object.keys(requests).length > 0) item['defaultRequest'] = requests;
  },
  'io.k8s.api.autoscaling.v1.HorizontalPodAutoscaler': (scaler) => fill(childOrNew(scaler, 'spec'), { minReplicas: 1 }),
  'io.k8s.api.autoscaling.v2.HorizontalPodAutoscaler': (scaler) => {
    const spec = childOrNew(scaler, 'spec');
    const target = { type: 'Utilization', averageUtilization: 80 };
    fill(spec, { minReplicas: 1, metrics: [{ type: 'Resource', resource: { name: 'cpu', target } }] });
    const behavior = child(spec, 'behavior');
    if (behavior === undefined) return;
    fill(childOrNew(behavior, 'scaleUp'), scaleUp());
    fill(childOrNew(behavior, 'scaleDown'), scaleDown());
  },
  'io.k8s.api.networking.v1.NetworkPolicy': (policy) => {
    const spec = childOrNew(policy, 'spec');
    const hasEgress = objects(spec, 'egress').length > 0;
    fill(spec, { policyTypes: hasEgress ? ['Ingress', 'Egress'] : ['Ingress'] });
  },
  'io.k8s.api.rbac.v1.RoleBinding': roleReference,
  'io.k8s.api.rbac.v1.ClusterRoleBinding': roleReference,
  'io.k8s.api.rbac.v1.Subject': (subject) => {
    if (['User', 'Group'].includes(text(subject, 'kind'))) fill(subject, { apiGroup: RBAC_GROUP });
  },
  'io.k8s.api.storage.v1.CSIDriver': (driver, { minor }) =>
    fill(childOrNew(driver, 'spec'), {
      attachRequired: true,
      podInfoOnMount: false,
      storageCapacity: false,
      fsGroupPolicy: 'ReadWriteOnceWithFSType',
      volumeLifecycleModes: ['Persistent'],
      requiresRepublish: false,
      // The feature was off by default before.
      ...(minor >= 33 ? { seLinuxMount: false } : {}),
      ...(minor >= 37 ? { preventPodSchedulingIfMissing: false } : {}),
    }),
  'io.k8s.api.flowcontrol.v1.FlowSchemaSpec': (spec) => fillZeros(spec, { matchingPrecedence: 1_000 }),
  'io.k8s.api.flowcontrol.v1.QueuingConfiguration': (queuing) =>
    fillZeros(queuing, { handSize: 8, queues: 64, queueLengthLimit: 50 }),
  'io.k8s.api.resource.v1.ExactDeviceRequest': deviceRequestDefaults,
  'io.k8s.api.resource.v1.DeviceSubRequest': deviceRequestDefaults,
  'io.k8s.apiextensions-apiserver.pkg.apis.apiextensions.v1.CustomResourceDefinition': (definition) => {
    const spec = childOrNew(definition, 'spec');
    const names = childOrNew(spec, 'names');
    if (text(names, 'singular') === '') names['singular'] = text(names, 'kind').toLowerCase();
    if (text(names, 'listKind') === '' && text(names, 'kind') !== '') names['listKind'] = `${text(names, 'kind')}List`;
    fill(spec, { conversion: { strategy: 'None' } });
    if (!flag(spec, 'preserveUnknownFields')) delete spec['preserveUnknownFields'];
    const status = childOrNew(definition, 'status');
    if (!has(status, 'storedVersions')) {
      const stored = objects(spec, 'versions').find((version) => flag(version, 'storage'));
      if (stored !== undefined) status['storedVersions'] = [text(stored, 'name')];
    }
  },
};

/** Moves `stringData`, which is never returned, to `data`. */
function takeTexts(secret: JsonObject): void {
  const given = child(secret, 'stringData');
  remove(secret, 'stringData');
  if (given === undefined || Object.keys(given).length === 0) return;
  const data = childOrNew(secret, 'data');
  for (const key of Object.keys(given)) setMember(data, key, Buffer.from(String(given[key])).toString('base64'));
}

/** Aligns a deprecated field with one value and its successor with several: the single value wins over another first one. */
function firstAndAll(single: string, several: readonly string[]): { first: string; all: string[] } | undefined {
  if (single !== '' && single !== several[0]) return { first: single, all: [single] };
  return several.length === 0 ? undefined : { first: several[0]!, all: [...several] };
}

function serviceDefaults(service: JsonObject): void {
  const spec = childOrNew(service, 'spec');
  fill(spec, { sessionAffinity: 'None', type: 'ClusterIP' });
  if (text(spec, 'sessionAffinity') === 'None') delete spec['sessionAffinityConfig'];
  if (text(spec, 'sessionAffinity') === 'ClientIP') {
    fill(childOrNew(childOrNew(spec, 'sessionAffinityConfig'), 'clientIP'), { timeoutSeconds: AFFINITY_SECONDS });
  }
  for (const port of objects(spec, 'ports')) {
    fill(port, { protocol: 'TCP' });
    const target = port['targetPort'];
    if (target === undefined || target === 0 || target === '') port['targetPort'] = number(port, 'port') ?? 0;
  }
  const type = text(spec, 'type');
  const isExternal = type === 'NodePort' || type === 'LoadBalancer';
  const hasExternalAddress =
    type === 'ClusterIP' && Array.isArray(spec['externalIPs']) && spec['externalIPs'].length > 0;
  if (isExternal || hasExternalAddress) fill(spec, { externalTrafficPolicy: 'Cluster' });
  if (isExternal || type === 'ClusterIP') fill(spec, { internalTrafficPolicy: 'Cluster' });
  if (type !== 'LoadBalancer') return;
  fill(spec, { allocateLoadBalancerNodePorts: true });
  for (const ingress of objects(child(child(service, 'status'), 'loadBalancer'), 'ingress')) {
    if (text(ingress, 'ip') !== '') fill(ingress, { ipMode: 'VIP' });
  }
}

const scaleUp = (): JsonObject => ({
  stabilizationWindowSeconds: 0,
  selectPolicy: 'Max',
  policies: [
    { type: 'Pods', value: 4, periodSeconds: 15 },
    { type: 'Percent', value: 100, periodSeconds: 15 },
  ],
});
const scaleDown = (): JsonObject => ({
  selectPolicy: 'Max',
  policies: [{ type: 'Percent', value: 100, periodSeconds: 15 }],
});

function roleReference(binding: JsonObject): void {
  const reference = childOrNew(binding, 'roleRef');
  if (text(reference, 'apiGroup') === '') reference['apiGroup'] = RBAC_GROUP;
}

/** Sets numbers that are missing or zero. */
function fillZeros(object: JsonObject, values: Readonly<Record<string, number>>): void {
  for (const [name, value] of Object.entries(values)) if (!number(object, name)) object[name] = value;
}

function deviceRequestDefaults(request: JsonObject): void {
  fill(request, { allocationMode: 'ExactCount' });
  if (text(request, 'allocationMode') === 'ExactCount') fill(request, { count: 1 });
}
