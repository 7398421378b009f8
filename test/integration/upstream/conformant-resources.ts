/** Resources that every conformant cluster serves: `group/version/resource`, those of /api and those of /apis. */
export const CORE_RESOURCE = '/v1/namespaces';
export const NAMED_RESOURCES: readonly string[] = [
  'admissionregistration.k8s.io/v1/validatingwebhookconfigurations',
  'apiextensions.k8s.io/v1/customresourcedefinitions',
  'apiregistration.k8s.io/v1/apiservices',
  'apps/v1/deployments',
  'authentication.k8s.io/v1/tokenreviews',
  'authorization.k8s.io/v1/selfsubjectaccessreviews',
  'autoscaling/v1/horizontalpodautoscalers',
  'autoscaling/v2/horizontalpodautoscalers',
  'batch/v1/jobs',
  'certificates.k8s.io/v1/certificatesigningrequests',
  'coordination.k8s.io/v1/leases',
  'discovery.k8s.io/v1/endpointslices',
  'events.k8s.io/v1/events',
  'networking.k8s.io/v1/ingresses',
  'node.k8s.io/v1/runtimeclasses',
  'policy/v1/poddisruptionbudgets',
  'scheduling.k8s.io/v1/priorityclasses',
  'storage.k8s.io/v1/csinodes',
];
