import { type GroupVersionKind, groupVersion } from '../../kube/gvr.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';

/** The fields by which objects of one kind can be selected. */
export interface SelectableFields {
  /** The current name of a field; undefined for a field that cannot be used in selectors. */
  translate(field: string): string | undefined;
  /** kube-apiserver's message for an unknown field, which differs between kinds. */
  refusal(field: string): string;
  /** Reads a field that is not the text at its path; undefined for other fields. */
  read?(object: JsonObject, field: string): string | undefined;
}

const NAME = ['metadata.name'];
const NAMESPACED = ['metadata.name', 'metadata.namespace'];
const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const notSupported = (field: string): string => `field label not supported: ${field}`;

/** The fields of kinds without others. */
const METADATA_FIELDS: SelectableFields = {
  translate: (field) => (NAMESPACED.includes(field) ? field : undefined),
  refusal: (field) =>
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

/** By `group/Kind`, for all versions of a kind. */
const BUILT_IN: Readonly<Record<string, (kind: GroupVersionKind) => SelectableFields>> = {
  '/Pod': () => ({
    ...fields(
      [
        ...NAMESPACED,
        'spec.nodeName',
        'spec.restartPolicy',
        'spec.schedulerName',
        'spec.serviceAccountName',
        'spec.hostNetwork',
        'status.phase',
        'status.podIP',
        'status.podIPs',
        'status.nominatedNodeName',
      ],
      { 'spec.host': 'spec.nodeName' },
    ),
    read: readPodField,
  }),
  '/Node': () => ({
    ...fields([...NAME, 'spec.unschedulable']),
    read: withDefault('spec.unschedulable', 'unschedulable', false),
  }),
  '/ReplicationController': () => ({
    ...fields([...NAMESPACED, 'status.replicas']),
    read: withDefault('status.replicas', 'replicas', 0),
  }),
  '/Event': () => ({
    ...fields([
      ...NAMESPACED,
      ...INVOLVED.map((name) => `involvedObject.${name}`),
      'reason',
      'reportingComponent',
      'source',
      'type',
    ]),
    read: readEventField,
  }),
  'events.k8s.io/Event': () => ({
    ...fields(
      [...NAMESPACED, 'reason', 'type'],
      Object.fromEntries([
        ...INVOLVED.map((name) => [`regarding.${name}`, `involvedObject.${name}`]),
        ['reportingController', 'reportingComponent'],
      ]),
    ),
    read: readEventField,
  }),
  '/Namespace': () => fields([...NAME, 'status.phase']),
  '/Secret': () => fields([...NAMESPACED, 'type']),
  '/Service': () => fields([...NAMESPACED, 'spec.clusterIP', 'spec.type']),
  'batch/Job': () => ({
    ...fields(
      [...NAMESPACED, 'status.successful'],
      {},
      (field) => `field label ${JSON.stringify(field)} not supported for Job`,
    ),
    // The name of the selector and that of the status field differ.
    read: withDefault('status.successful', 'succeeded', 0),
  }),
  'certificates.k8s.io/CertificateSigningRequest': () => fields([...NAME, 'spec.signerName']),
  'certificates.k8s.io/ClusterTrustBundle': () => fields([...NAME, 'spec.signerName']),
  'certificates.k8s.io/PodCertificateRequest': () =>
    fields([...NAME, 'spec.signerName', 'spec.podName', 'spec.nodeName']),
  'resource.k8s.io/ResourceSlice': (kind) =>
    fields(
      [...NAME, 'spec.nodeName', 'spec.driver'],
      {},
      (field) =>
        `field label not supported for ${groupVersion(kind.group, kind.version)}, Kind=ResourceSlice: ${field}`,
    ),
};

export function selectableFieldsOf(kind: GroupVersionKind): SelectableFields {
  const key = `${kind.group}/${kind.kind}`;
  return Object.hasOwn(BUILT_IN, key) ? BUILT_IN[key]!(kind) : METADATA_FIELDS;
}

/** The fields of a custom resource; the JSON paths of its `selectableFields` have a leading dot. */
export function selectableFieldsOfCustomResource(
  scope: 'Namespaced' | 'Cluster',
  jsonPaths: readonly string[],
): SelectableFields {
  const metadata = scope === 'Namespaced' ? NAMESPACED : NAME;
  return fields([...metadata, ...jsonPaths.map((path) => path.replace(/^\./, ''))]);
}

function fields(
  known: readonly string[],
  renamed: Readonly<Record<string, string>> = {},
  refusal: (field: string) => string = notSupported,
): SelectableFields {
  return {
    translate: (field) => (known.includes(field) ? field : Object.hasOwn(renamed, field) ? renamed[field] : undefined),
    refusal,
  };
}

function part(object: JsonObject, outer: string, inner: string): unknown {
  const found = member(object, outer);
  return isObject(found) ? member(found, inner) : undefined;
}

function withDefault(field: string, inner: string, fallback: boolean | number): NonNullable<SelectableFields['read']> {
  const [outer = ''] = field.split('.');
  return (object, each) => (each === field ? String(part(object, outer, inner) ?? fallback) : undefined);
}

function readPodField(object: JsonObject, field: string): string | undefined {
  if (field === 'spec.hostNetwork') return String(part(object, 'spec', 'hostNetwork') ?? false);
  // The first of `podIPs`, else `podIP`.
  if (field === 'status.podIP') {
    const first = part(object, 'status', 'podIPs');
    const ip = Array.isArray(first) && isObject(first[0]) ? first[0]['ip'] : part(object, 'status', 'podIP');
    return typeof ip === 'string' ? ip : '';
  }
  return undefined;
}

/** Events of both groups are the same stored objects; fields have the names of core events here. */
function readEventField(object: JsonObject, field: string): string | undefined {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  if (field.startsWith('involvedObject.')) {
    const name = field.slice('involvedObject.'.length);
    return text(part(object, 'involvedObject', name) ?? part(object, 'regarding', name));
  }
  const reporting = text(member(object, 'reportingComponent') ?? member(object, 'reportingController'));
  if (field === 'reportingComponent') return reporting;
  if (field !== 'source') return undefined;
  return text(part(object, 'source', 'component') ?? part(object, 'deprecatedSource', 'component')) || reporting;
}
