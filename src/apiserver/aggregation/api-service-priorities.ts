/**
 * The order in which kube-apiserver (1.34 to 1.36) wants its own groups and versions shown: the higher, the earlier. By group and
 * version: `[groupPriorityMinimum, versionPriority]`.
 */
export const API_SERVICE_PRIORITIES: Readonly<Record<string, Readonly<Record<string, readonly [number, number]>>>> = {
  '': { v1: [18000, 1] },
  apps: { v1: [17800, 15] },
  'events.k8s.io': { v1: [17750, 15], v1beta1: [17750, 5] },
  'authentication.k8s.io': { v1: [17700, 15], v1beta1: [17700, 9], v1alpha1: [17700, 1] },
  'authorization.k8s.io': { v1: [17600, 15] },
  autoscaling: { v2: [17500, 30], v1: [17500, 15], v2beta1: [17500, 9], v2beta2: [17500, 1] },
  batch: { v1: [17400, 15], v1beta1: [17400, 9], v2alpha1: [17400, 9] },
  'certificates.k8s.io': { v1: [17300, 15], v1beta1: [17300, 9], v1alpha1: [17300, 1] },
  'networking.k8s.io': { v1: [17200, 15], v1beta1: [17200, 9] },
  policy: { v1: [17100, 15], v1beta1: [17100, 9] },
  'rbac.authorization.k8s.io': { v1: [17000, 15] },
  'storage.k8s.io': { v1: [16800, 15], v1beta1: [16800, 9], v1alpha1: [16800, 1] },
  'admissionregistration.k8s.io': { v1: [16700, 15], v1beta1: [16700, 12], v1alpha1: [16700, 9] },
  'apiextensions.k8s.io': { v1: [16700, 15] },
  'scheduling.k8s.io': { v1: [16600, 15], v1alpha2: [16600, 2], v1alpha1: [16600, 1] },
  'coordination.k8s.io': { v1: [16500, 15], v1beta1: [16500, 13], v1alpha2: [16500, 12] },
  'node.k8s.io': { v1: [16300, 15], v1beta1: [16300, 9], v1alpha1: [16300, 1] },
  'discovery.k8s.io': { v1: [16200, 15], v1beta1: [16200, 12] },
  'resource.k8s.io': { v1: [16200, 21], v1beta2: [16200, 15], v1beta1: [16200, 9], v1alpha3: [16200, 1] },
  'flowcontrol.apiserver.k8s.io': {
    v1: [16100, 21],
    v1beta3: [16100, 18],
    v1beta2: [16100, 15],
    v1beta1: [16100, 12],
    v1alpha1: [16100, 9],
  },
  'internal.apiserver.k8s.io': { v1alpha1: [16000, 9] },
  'storagemigration.k8s.io': { v1beta1: [15800, 9] },
};

/** Groups made by custom resource definitions stand behind all built-in ones. */
export const CUSTOM_PRIORITY: readonly [number, number] = [1000, 100];
/** The group of APIServices itself has no APIService, and stands first. */
export const API_REGISTRATION_PRIORITY: readonly [number, number] = [20_000, 0];
