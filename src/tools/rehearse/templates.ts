import type { JsonObject } from '../../kube/json.js';
import { apiVersionOf, type ResourceKind } from '../../kube/resource-kind.js';

/** In names of drivers, signers and groups that belong to nobody, so that no controller acts on an object. */
const NOBODY = 'rehearsal.example.com';

/** A PKCS#10 request without a subject. Servers check its signature, and nobody has its key. */
const CERTIFICATE_REQUEST =
  'MH8wMwIBADAAMCowBQYDK2VwAyEAUJrc7rXpCW+LZhtqjof2b7qLWiOkElqR9uhLnX6MCnWgADAFBgMrZXADQQCuYypZSx9/' +
  'vpfiMn+oQh0jZNip68Y0Pki0o54P2h9BLXVJegOrjogU/eAret4GOqsP9c4df+Drr2I4SKZWo9YP';

/** A self-signed CA certificate. Nobody has its key. */
const CA_CERTIFICATE = `-----BEGIN CERTIFICATE-----
MIIBLTCB4KADAgECAhQeBAAY8tgyOV3UGqUaKTxcv9WctjAFBgMrZXAwFDESMBAG
A1UEAwwJcmVoZWFyc2FsMCAXDTI2MTExODIwMTc1NFoYDzIxMjYxMDI1MjAxNzU0
WjAUMRIwEAYDVQQDDAlyZWhlYXJzYWwwKjAFBgMrZXADIQC9KCbEac6l40azNhL2
v4HYgktYDK1j6GR/QiuDob5dfKNCMEAwDwYDVR0TAQH/BAUwAwEB/zAOBgNVHQ8B
Af8EBAMCAgQwHQYDVR0OBBYEFEbTuoP/Jxg+dn49Yd/1RaTa/Q5hMAUGAytlcANB
AB9y06MhnXGjjFisYpeff/Y9IMD9jgksCmjq6R1BHm3KlW2TY4E9CD6YzJPl4stH
/DOsZV6wnAKAomXLVe5w8ws=
-----END CERTIFICATE-----
`;

const NO_DEVICE = { driver: NOBODY };
const NO_OBJECTS = { apiGroups: [NOBODY], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothings'] };
const GANG = { gang: { minCount: 2 } };

/**
 * Small valid objects, without metadata, of kinds for which metadata is not enough: by resource and group. Versions of a
 * resource may want different ones; the server is asked which of them it accepts. None has an effect in a cluster.
 */
const TEMPLATES: Readonly<Record<string, readonly JsonObject[]>> = {
  'clustertrustbundles.certificates.k8s.io': [{ spec: { trustBundle: CA_CERTIFICATE } }],
  'csinodes.storage.k8s.io': [{ spec: { drivers: [] } }],
  'deviceclasses.resource.k8s.io': [{ spec: {} }],
  'devicetaintrules.resource.k8s.io': [
    { spec: { deviceSelector: NO_DEVICE, taint: { key: NOBODY, effect: 'NoSchedule' } } },
  ],
  'mutatingadmissionpolicies.admissionregistration.k8s.io': [
    {
      spec: {
        failurePolicy: 'Ignore',
        reinvocationPolicy: 'Never',
        matchConstraints: { resourceRules: [NO_OBJECTS] },
        mutations: [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }],
      },
    },
  ],
  'mutatingadmissionpolicybindings.admissionregistration.k8s.io': [{ spec: { policyName: NOBODY } }],
  'podcertificaterequests.certificates.k8s.io': [
    {
      spec: {
        signerName: `${NOBODY}/nobody`,
        podName: 'nobody',
        podUID: 'nobody',
        serviceAccountName: 'nobody',
        serviceAccountUID: 'nobody',
        nodeName: 'nobody',
        nodeUID: 'nobody',
        maxExpirationSeconds: 86_400,
        stubPKCS10Request: CERTIFICATE_REQUEST,
      },
    },
  ],
  'podgroups.scheduling.k8s.io': [{ spec: { schedulingPolicy: GANG } }],
  // The name of a scheduler that does not run: the pod stays pending.
  pods: [{ spec: { schedulerName: NOBODY, containers: [{ name: 'nothing', image: NOBODY }] } }],
  'resourceclaims.resource.k8s.io': [{ spec: {} }],
  'resourceclaimtemplates.resource.k8s.io': [{ spec: { spec: {} } }],
  'resourceslices.resource.k8s.io': [
    { spec: { driver: NOBODY, pool: { name: 'nothing', generation: 1, resourceSliceCount: 1 }, allNodes: true } },
  ],
  'storageversionmigrations.storagemigration.k8s.io': [
    { spec: { resource: { group: NOBODY, resource: 'nothings' } } },
    { spec: { resource: { group: NOBODY, version: 'v1', resource: 'nothings' } } },
  ],
  'volumeattributesclasses.storage.k8s.io': [{ driverName: NOBODY, parameters: { of: 'nothing' } }],
  'workloads.scheduling.k8s.io': [
    { spec: { podGroupTemplates: [{ name: 'a', schedulingPolicy: GANG }] } },
    { spec: { podGroups: [{ name: 'a', policy: GANG }] } },
  ],
};

/** Returns objects to try, without metadata: that of the user alone, else those of the table, else nothing but metadata. */
export function templatesOf(kind: ResourceKind, manifests: readonly JsonObject[]): readonly JsonObject[] {
  const manifest = manifests.find((each) => each['apiVersion'] === apiVersionOf(kind) && each['kind'] === kind.kind);
  if (manifest) {
    const { metadata: _, status: __, ...rest } = manifest;
    return [rest];
  }
  return TEMPLATES[tableKey(kind.group, kind.resource)] ?? [{}];
}

/** Returns whether the table has an object of a kind. */
export function hasTemplate({ group, resource }: ResourceKind): boolean {
  return TEMPLATES[tableKey(group, resource)] !== undefined;
}

function tableKey(group: string, resource: string): string {
  return group === '' ? resource : `${resource}.${group}`;
}
