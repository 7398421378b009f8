import type { JsonObject } from '../../kube/json.js';
import { addQuantities, type QuantityMap, quantities } from './amounts.js';
import { child, childOrNew, fill, flag, has, number, objects, text } from './fields.js';
import type { TypeDefaultsTable } from './type-defaults.js';

/** Defaults of pods and of the types inside them that depend on other members. */
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
    // `serviceAccount` is the deprecated name of `serviceAccountName`; both are always written.
    if (has(spec, 'serviceAccountName')) spec['serviceAccount'] = spec['serviceAccountName']!;
    else if (has(spec, 'serviceAccount')) spec['serviceAccountName'] = spec['serviceAccount']!;
  },
  'io.k8s.api.core.v1.Container': containerDefaults,
  'io.k8s.api.core.v1.EphemeralContainer': containerDefaults,
  'io.k8s.api.core.v1.Volume': (volume) => {
    if (Object.keys(volume).every((key) => key === 'name')) volume['emptyDir'] = {};
    const image = child(volume, 'image');
    if (image !== undefined) fill(image, { pullPolicy: pullPolicyOf(text(image, 'reference')) });
  },
};

function containerDefaults(container: JsonObject): void {
  fill(container, {
    imagePullPolicy: pullPolicyOf(text(container, 'image')),
    terminationMessagePath: '/dev/termination-log',
    terminationMessagePolicy: 'File',
  });
}

/** The tag `latest`, also when it is implied by a missing tag and digest, is pulled every time. */
function pullPolicyOf(image: string): string {
  const [name = '', digest] = image.split('@', 2);
  const tag = /:([^:/]+)$/.exec(name)?.[1];
  const isReference = /^[a-zA-Z0-9][a-zA-Z0-9._:/@-]*$/.test(image);
  return isReference && (tag === 'latest' || (tag === undefined && digest === undefined)) ? 'Always' : 'IfNotPresent';
}

/** Missing requests default to the limits. */
function requestWhatIsLimited(container: JsonObject): void {
  const resources = child(container, 'resources');
  const limits = child(resources, 'limits');
  if (resources !== undefined && limits !== undefined) fill(childOrNew(resources, 'requests'), limits);
}

function usePortsOfHost(container: JsonObject): void {
  for (const port of objects(container, 'ports')) fill(port, { hostPort: number(port, 'containerPort') ?? 0 });
}

const POD_LEVEL = /^(cpu|memory|hugepages-.+)$/;

/** Missing requests at the pod level default to the sum over its containers, or else to the limits of the pod. */
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
