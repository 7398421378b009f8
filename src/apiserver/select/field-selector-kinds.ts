import { type GroupVersionKind, groupVersion } from '../../kube/gvr.js';
import { isObject, type JsonObject, member } from '../../kube/json.js';

/** What objects of one kind can be selected by. */
export interface SelectableFields {
  /** The field's own name, another for one with an older name, or undefined when it cannot be selected by. */
  translate(field: string): string | undefined;
  /** kube-apiserver's words for a field it does not know; they differ between kinds. */
  refusal(field: string): string;
  /** Fields that are not simply the text at their path; undefined leaves it to the path. */
  read?(object: JsonObject, field: string): string | undefined;
}

const NAME = ['metadata.name'];
const NAMESPACED = ['metadata.name', 'metadata.namespace'];
const INVOLVED = ['kind', 'namespace', 'name', 'uid', 'apiVersion', 'resourceVersion', 'fieldPath'];

const notSupported = (field: string): string => `field label not supported: ${field}`;

/** Of kinds that nothing is said about. */
export const METADATA_FIELDS: SelectableFields = {
  translate: (field) => (NAMESPACED.includes(field) ? field : undefined),
  refusal: (field) =>
    `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
};

/** By `group/Kind`; versions of one kind agree unless a name says otherwise. */
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
  '/Node': () => ({ ...fields([...NAME, 'spec.unschedulable']), read: falseWhenAbsent('spec', 'unschedulable') }),
  '/ReplicationController': () => ({
    ...fields([...NAMESPACED, 'status.replicas']),
    read: zeroWhenAbsent('status', 'replicas'),
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
    // The field's name and the status field differ; it has always been so.
    read: (object, field) =>
      field === 'status.successful' ? String(part(object, 'status', 'succeeded') ?? 0) : undefined,
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

/** A custom resource; the JSON paths of its `selectableFields` come with a leading dot. */
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

function falseWhenAbsent(outer: string, inner: string): NonNullable<SelectableFields['read']> {
  return (object, field) => (field === `${outer}.${inner}` ? String(part(object, outer, inner) ?? false) : undefined);
}

function zeroWhenAbsent(outer: string, inner: string): NonNullable<SelectableFields['read']> {
  return (object, field) => (field === `${outer}.${inner}` ? String(part(object, outer, inner) ?? 0) : undefined);
}

function readPodField(object: JsonObject, field: string): string | undefined {
  if (field === 'spec.hostNetwork') return String(part(object, 'spec', 'hostNetwork') ?? false);
  // Only the first address counts, under either name.
  if (field === 'status.podIP') {
    const first = part(object, 'status', 'podIPs');
    const ip = Array.isArray(first) && isObject(first[0]) ? first[0]['ip'] : part(object, 'status', 'podIP');
    return typeof ip === 'string' ? ip : '';
  }
  return undefined;
}

/** Both Event kinds are one stored object: fields are asked for by the older names. */
function readEventField(object: JsonObject, field: string): string | undefined {
  const text = (value: unknown): string => (typeof value === 'string' ? value : '');
  if (field.startsWith('involvedObject.')) {
    const name = field.slice('involvedObject.'.length);
    return text(part(object, 'involvedObject', name) ?? part(object, 'regarding', name));
  }
  if (field === 'reportingComponent') {
    return text(member(object, 'reportingComponent') ?? member(object, 'reportingController'));
  }
  if (field === 'source') {
    const component = text(part(object, 'source', 'component') ?? part(object, 'deprecatedSource', 'component'));
    return component !== ''
      ? component
      : text(member(object, 'reportingComponent') ?? member(object, 'reportingController'));
  }
  return undefined;
}
