import type { JsonObject } from '../../kube/json.js';
import { addQuantities, type QuantityMap, quantities } from './amounts.js';
import { child, childOrNew, fill, flag, has, number, objects, text } from './fields.js';
import type { TypeDefaultsTable } from './type-defaults.js';

const MODE_OF_FILES = 0o644;
const TOKEN_SECONDS = 3_600;

/** Types of pods and of everything below them. */
export const POD_DEFAULTS: TypeDefaultsTable = {
  'io.k8s.api.core.v1.Pod': (pod) => {
    const spec = childOrNew(pod, 'spec');
    const containers = [...objects(spec, 'containers'), ...objects(spec, 'initContainers')];
    for (const container of containers) requestWhatIsLimited(container);
    podLevelDefaults(spec);
    fill(spec, { enableServiceLinks: true });
    if (flag(spec, 'hostNetwork')) for (const container of containers) usePortsOfHost(container);
  },
  'io.k8s.api.core.v1.PodSpec': (spec) => {
    fill(spec, {
      dnsPolicy: 'ClusterFirst',
      restartPolicy: 'Always',
      securityContext: {},
      terminationGracePeriodSeconds: 30,
      schedulerName: 'default-scheduler',
    });
    // The old name of the same thing is always written along.
    if (has(spec, 'serviceAccountName')) spec['serviceAccount'] = spec['serviceAccountName']!;
    else if (has(spec, 'serviceAccount')) spec['serviceAccountName'] = spec['serviceAccount']!;
  },
  'io.k8s.api.core.v1.Container': containerDefaults,
  'io.k8s.api.core.v1.EphemeralContainer': containerDefaults,
  'io.k8s.api.core.v1.Probe': (probe) =>
    fill(probe, { timeoutSeconds: 1, periodSeconds: 10, successThreshold: 1, failureThreshold: 3 }),
  'io.k8s.api.core.v1.HTTPGetAction': (action) => fill(action, { path: '/', scheme: 'HTTP' }),
  'io.k8s.api.core.v1.GRPCAction': (action) => fill(action, { service: '' }),
  'io.k8s.api.core.v1.ObjectFieldSelector': (selector) => fill(selector, { apiVersion: 'v1' }),
  'io.k8s.api.core.v1.Volume': (volume) => {
    if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
    const image = child(volume, 'image');
    if (image !== undefined) fill(image, { pullPolicy: pullPolicyOf(text(image, 'reference')) });
  },
  'io.k8s.api.core.v1.SecretVolumeSource': (source) => fill(source, { defaultMode: MODE_OF_FILES }),
  'io.k8s.api.core.v1.ConfigMapVolumeSource': (source) => fill(source, { defaultMode: MODE_OF_FILES }),
  'io.k8s.api.core.v1.DownwardAPIVolumeSource': (source) => fill(source, { defaultMode: MODE_OF_FILES }),
  'io.k8s.api.core.v1.ProjectedVolumeSource': (source) => fill(source, { defaultMode: MODE_OF_FILES }),
  'io.k8s.api.core.v1.ServiceAccountTokenProjection': (token) => fill(token, { expirationSeconds: TOKEN_SECONDS }),
  'io.k8s.api.core.v1.HostPathVolumeSource': (source) => fill(source, { type: '' }),
};

function containerDefaults(container: JsonObject): void {
  fill(container, {
    imagePullPolicy: pullPolicyOf(text(container, 'image')),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
}

/** A tag that moves is pulled every time. No tag and no digest is `latest`. */
function pullPolicyOf(image: string): string {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^:/]+)$/.exec(name)?.[1];
  // What is no reference has no tag to be read.
  const isReference = /^[a-zA-Z0-9][a-zA-Z0-9._:/@-]*$/.test(image);
  return isReference && (tag === 'latest' || (tag === undefined && digest === undefined)) ? 'Always' : 'IfNotPresent';
}

function requestWhatIsLimited(container: JsonObject): void {
  const resources = child(container, 'resources');
  const limits = child(resources, 'limits');
  if (resources !== undefined && limits !== undefined) fill(childOrNew(resources, 'requests'), limits);
}

function usePortsOfHost(container: JsonObject): void {
  for (const port of objects(container, 'ports')) fill(port, { hostPort: number(port, 'containerPort') ?? 0 });
}

const POD_LEVEL = /^(cpu|memory|hugepages-.+)$/;

/** Requests of the pod as a whole come from its containers, or else from its limits. */
function podLevelDefaults(spec: JsonObject): void {
  const resources = child(spec, 'resources');
  const limits = child(resources, 'limits');
  if (resources === undefined || limits === undefined || Object.keys(limits).length === 0) return;
  const asked: QuantityMap = new Map();
  for (const container of objects(spec, 'containers')) {
    addQuantities(asked, quantities(child(container, 'resources'), 'requests'));
  }
  const requests: JsonObject = { ...child(resources, 'requests') };
  for (const [name, amount] of asked) if (/^(cpu|memory)$/.test(name)) fill(requests, { [name]: amount });
  for (const name of Object.keys(limits)) if (POD_LEVEL.test(name)) fill(requests, { [name]: limits[name]! });
  if (Object.keys(requests).length > 0) resources['requests'] = requests;
}
