import type { JsonObject } from '../../src/kube/json.js';
import {
  type AuthorizationCase,
  CORE,
  CUSTOM,
  deployment,
  meta,
  NAMESPACE,
  patchType,
  post,
} from './record-authorization-case.js';
import { MORE_TABLE_OBJECTS } from './record-tables-more-objects.js';
import { TABLE_OBJECTS } from './record-tables-objects.js';

/** A class of resources on which every verb is tried. */
interface ResourceClass {
  readonly resource: string;
  /** Of the collection. */
  readonly path: string;
  readonly apiVersion: string;
  readonly kind: string;
  object(name: string): JsonObject;
  readonly isCustom?: boolean;
  readonly hasStatus?: boolean;
  /** In the namespace of all cases nothing else may be deleted with it. */
  readonly isCollectionSafe?: boolean;
}

const CLASSES: readonly ResourceClass[] = [
  {
    resource: 'configmaps',
    path: `${CORE}/configmaps`,
    apiVersion: 'v1',
    kind: 'ConfigMap',
    object: (name) => meta(name, { labels: { app: name } }),
    isCollectionSafe: true,
  },
  {
    resource: 'deployments',
    path: `/apis/apps/v1/namespaces/${NAMESPACE}/deployments`,
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    object: deployment,
    hasStatus: true,
  },
  { resource: 'nodes', path: '/api/v1/nodes', apiVersion: 'v1', kind: 'Node', object: meta, hasStatus: true },
  { resource: 'namespaces', path: '/api/v1/namespaces', apiVersion: 'v1', kind: 'Namespace', object: meta },
  {
    resource: 'leases',
    path: `/apis/coordination.k8s.io/v1/namespaces/${NAMESPACE}/leases`,
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    object: (name) => meta(name, { labels: { app: name } }),
    isCollectionSafe: true,
  },
  {
    resource: 'widgets',
    path: `${CUSTOM}/namespaces/${NAMESPACE}/widgets`,
    apiVersion: 'example.test/v1',
    kind: 'Widget',
    object: (name) => ({ ...meta(name, { labels: { app: name } }), spec: { replicas: 1 } }),
    isCustom: true,
    hasStatus: true,
    isCollectionSafe: true,
  },
  {
    resource: 'gadgets',
    path: `${CUSTOM}/gadgets`,
    apiVersion: 'example.test/v1',
    kind: 'Gadget',
    object: (name) => ({ ...meta(name), spec: { replicas: 1 } }),
    isCustom: true,
    hasStatus: true,
  },
];

const LABELS = { metadata: { labels: { changed: 'yes' } } };

function reads({ resource, path, object }: ResourceClass): AuthorizationCase[] {
  const there = [post(path, object('read'))];
  const of = (name: string, target: string, more: Partial<AuthorizationCase> = {}): AuthorizationCase => ({
    name: `${resource}: ${name}`,
    method: 'GET',
    path: target,
    ...more,
  });
  return [
    of('get', `${path}/read`, { setup: there }),
    of('get without the right', `${path}/read`, { deny: [`get ${resource}`] }),
    of('get of a missing object', `${path}/missing`),
    of('list', path),
    of('list without the right', path, { deny: [`list ${resource}`] }),
    of('list by label', `${path}?labelSelector=app%3Dx,tier%20in%20(a,b),!gone`),
    of('list by name', `${path}?fieldSelector=metadata.name%3Dread`),
    of('watch', `${path}?watch=1&timeoutSeconds=1`),
    of('watch without the right', `${path}?watch=1&timeoutSeconds=1`, { deny: [`watch ${resource}`] }),
    of('watch by name', `${path}?watch=1&timeoutSeconds=1&fieldSelector=metadata.name%3Dread`),
    of(
      'watch of one object in the old way',
      `${path.replace(/^(\/api\/v1|\/apis\/[^/]+\/[^/]+)/, '$1/watch')}/read?timeoutSeconds=1`,
    ),
  ];
}

function writes({ resource, path, object, isCustom }: ResourceClass): AuthorizationCase[] {
  const of = (
    name: string,
    method: string,
    target: string,
    body: AuthorizationCase['body'],
    more: Partial<AuthorizationCase> = {},
  ): AuthorizationCase => ({
    name: `${resource}: ${name}`,
    method,
    path: target,
    ...(body === undefined ? {} : { body }),
    ...more,
  });
  const deny = [`create ${resource}`];
  const apply = { headers: patchType('apply') };
  const there = (name: string) => [post(path, object(name))];
  return [
    of('create', 'POST', path, object('created')),
    of('create without the right', 'POST', path, object('refused'), { deny }),
    of('create of an existing object', 'POST', path, object('created')),
    of('create with a generated name', 'POST', path, { ...object(''), metadata: { generateName: 'made-' } }),
    of('create as a dry run', 'POST', `${path}?dryRun=All&fieldManager=me`, object('dry')),
    of('update', 'PUT', `${path}/updated`, object('updated'), { setup: there('updated') }),
    of('update as a dry run', 'PUT', `${path}/updated?dryRun=All`, object('updated')),
    of('update without the right', 'PUT', `${path}/updated`, object('updated'), { deny: [`update ${resource}`] }),
    of('update of a missing object', 'PUT', `${path}/put`, object('put')),
    of('update of a missing object without create', 'PUT', `${path}/put-refused`, object('put-refused'), { deny }),
    of('update of a missing object as a dry run', 'PUT', `${path}/put-dry?dryRun=All`, object('put-dry')),
    of('JSON patch', 'PATCH', `${path}/patched`, [{ op: 'add', path: '/metadata/labels', value: { a: 'b' } }], {
      setup: there('patched'),
      headers: patchType('json'),
    }),
    of('merge patch', 'PATCH', `${path}/patched`, LABELS, { headers: patchType('merge') }),
    of('merge patch of a missing object', 'PATCH', `${path}/missing`, LABELS, { headers: patchType('merge') }),
    ...(isCustom
      ? []
      : [
          of('strategic merge patch', 'PATCH', `${path}/patched?dryRun=All`, LABELS, {
            headers: patchType('strategic-merge'),
          }),
        ]),
    of('apply', 'PATCH', `${path}/patched?fieldManager=me&force=true`, object('patched'), apply),
    of('apply without the right', 'PATCH', `${path}/patched?fieldManager=me`, object('patched'), {
      ...apply,
      deny: [`patch ${resource}`],
    }),
    of('apply of a missing object', 'PATCH', `${path}/applied?fieldManager=me`, object('applied'), apply),
    of(
      'apply of a missing object without create',
      'PATCH',
      `${path}/apply-refused?fieldManager=me`,
      object('apply-refused'),
      { ...apply, deny },
    ),
    of(
      'apply of a missing object as a dry run',
      'PATCH',
      `${path}/apply-dry?fieldManager=me&dryRun=All`,
      object('apply-dry'),
      apply,
    ),
    of(
      'apply of a missing object as a dry run without create',
      'PATCH',
      `${path}/apply-dry?fieldManager=me&dryRun=All`,
      object('apply-dry'),
      { ...apply, deny },
    ),
  ];
}

function deletions({ resource, path, object, isCollectionSafe }: ResourceClass): AuthorizationCase[] {
  const of = (name: string, target: string, more: Partial<AuthorizationCase> = {}): AuthorizationCase => ({
    name: `${resource}: ${name}`,
    method: 'DELETE',
    path: target,
    ...more,
  });
  const several = [post(path, object('several'))];
  return [
    of('delete', `${path}/deleted`, { setup: [post(path, object('deleted'))] }),
    of('delete without the right', `${path}/read`, { deny: [`delete ${resource}`] }),
    of('delete of a missing object', `${path}/missing`),
    of('delete as a dry run with options', `${path}/read`, {
      body: { kind: 'DeleteOptions', apiVersion: 'v1', dryRun: ['All'], propagationPolicy: 'Background' },
    }),
    ...(isCollectionSafe
      ? [
          of('deletecollection', `${path}?labelSelector=app%3Dseveral`, { setup: several }),
          of('deletecollection without the right', path, { deny: [`deletecollection ${resource}`] }),
          of('deletecollection of nothing', `${path}?labelSelector=app%3Dnothing`),
        ]
      : []),
  ];
}

function statuses({ resource, path, apiVersion, kind, object, hasStatus }: ResourceClass): AuthorizationCase[] {
  if (!hasStatus) return [];
  const target = `${path}/with-status/status`;
  const base = { path: target };
  return [
    { ...base, name: `${resource}/status: get`, method: 'GET', setup: [post(path, object('with-status'))] },
    { ...base, name: `${resource}/status: update`, method: 'PUT', body: { ...object('with-status'), status: {} } },
    {
      ...base,
      name: `${resource}/status: merge patch`,
      method: 'PATCH',
      body: LABELS,
      headers: patchType('merge'),
    },
    {
      ...base,
      name: `${resource}/status: patch without the right`,
      method: 'PATCH',
      body: LABELS,
      headers: patchType('merge'),
      deny: [`patch ${resource}/status`],
    },
    {
      name: `${resource}/status: apply of a missing object`,
      method: 'PATCH',
      path: `${path}/no-such/status?fieldManager=me`,
      body: { apiVersion, kind, ...meta('no-such'), status: {} },
      headers: patchType('apply'),
    },
    {
      name: `${resource}/status: update of a missing object`,
      method: 'PUT',
      path: `${path}/no-such/status`,
      body: object('no-such'),
    },
  ];
}

/** Which kinds a PUT creates, and which rights that takes. */
function putOfEveryKind(): AuthorizationCase[] {
  const known = [...TABLE_OBJECTS, ...MORE_TABLE_OBJECTS].filter(({ objects }) => objects.length > 0);
  return known.flatMap(({ group, resource, path, objects }) => {
    const { status: _, deleted: __, ...first } = objects[0]!;
    // Which addresses there are is another matter.
    const { clusterIP: ___, clusterIPs: ____, ...spec } = (first['spec'] ?? {}) as JsonObject;
    const body = { ...first, ...(resource === 'services' ? { spec } : {}), ...meta('put-once') };
    const of = (name: string, deny?: string[]): AuthorizationCase => ({
      name: `${group === '' ? resource : `${resource}.${group}`}: ${name}`,
      method: 'PUT',
      path: `${path}/put-once`,
      body,
      ...(deny ? { deny } : {}),
    });
    return [
      of('PUT of a missing object without create', [`create ${resource}`]),
      of('PUT of a missing object with create'),
    ];
  });
}

/** Custom resources are not decoded without their kind. */
function withKind(each: ResourceClass): ResourceClass {
  const { apiVersion, kind, object } = each;
  return { ...each, object: (name) => ({ apiVersion, kind, ...object(name) }) };
}

export const VERB_CASES: readonly AuthorizationCase[] = [
  ...CLASSES.map(withKind).flatMap((each) => [...reads(each), ...writes(each), ...deletions(each), ...statuses(each)]),
  ...putOfEveryKind(),
];
