import { CONFIG_MAPS, configMap, DEPLOYMENTS, GADGETS, NAMESPACE, type OddRequest, PODS } from './request.js';

const encoded = (content: object): string => Buffer.from(JSON.stringify(content)).toString('base64url');

function get(what: string, path: string, headers?: OddRequest['headers']): OddRequest {
  return { what, path, ...(headers === undefined ? {} : { headers }) };
}

function list(query: string, what = query): OddRequest {
  return get(what, `${CONFIG_MAPS}?${query}`);
}

const SELECTORS: readonly OddRequest[] = [
  list('labelSelector=a%20b'),
  list('labelSelector=a%20in%20b'),
  list('labelSelector=a%20in%20()'),
  list('labelSelector=a%3D%3D%3Db'),
  list('labelSelector=,'),
  list('labelSelector=!'),
  list('labelSelector=-a%3Db'),
  list('labelSelector=a%3D-b'),
  list('labelSelector=a%3Eb'),
  list('labelSelector=a%3E5'),
  list('labelSelector=a%20notin%20(b'),
  list(`labelSelector=${'a'.repeat(64)}%3Db`, 'a label name that is too long'),
  list(`labelSelector=${Array.from({ length: 2_000 }, (_, i) => `a${i}`).join(',')}`, 'two thousand requirements'),
  list('labelSelector=%ff'),
  list('labelSelector=%zz'),
  list('fieldSelector=a'),
  list('fieldSelector=metadata.name'),
  list('fieldSelector=metadata.name%3D%3D%3Dx'),
  list('fieldSelector=data.a%3Dx'),
  list('fieldSelector=metadata.name%3Ex'),
  list('fieldSelector=metadata.name%3Da%5C'),
  get('a field selector of pods', `${PODS}?fieldSelector=spec.colour%3Dred`),
  get('a field selector of a custom resource', `${GADGETS}?fieldSelector=spec.size%3D1`),
  get('a field selector of deployments', `${DEPLOYMENTS}?fieldSelector=spec.replicas%3D1`),
];

const POSITIONS: readonly OddRequest[] = [
  list('continue=abc'),
  list('continue=!!!'),
  list(`continue=${encoded({})}`, 'a position without version'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v9', rv: 5, start: 'a' })}`, 'a position of another version'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v1', rv: 0, start: 'a' })}`, 'a position at revision 0'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v1', rv: -5, start: 'a' })}`, 'a position below revision 0'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v1', rv: 5 })}`, 'a position without key'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v1', rv: 5, start: '../../secrets' })}`, 'a position elsewhere'),
  list(`continue=${encoded({ v: 'meta.k8s.io/v1', rv: -1, start: 'a\u0000' })}`, 'a position at the newest revision'),
  list(
    `continue=${encoded({ v: 'meta.k8s.io/v1', rv: 99_999_999, start: 'a\u0000' })}&limit=1`,
    'a position in the future',
  ),
  list(
    `continue=${encoded({ v: 'meta.k8s.io/v1', rv: 5, start: 'a\u0000' })}&resourceVersion=5`,
    'a position and a version',
  ),
  list('continue=abc&resourceVersion=0'),
  list('continue=abc&resourceVersionMatch=Exact'),
];

const VERSIONS: readonly OddRequest[] = [
  list('resourceVersion=abc'),
  list('resourceVersion=-1'),
  list('resourceVersion=1.5'),
  list('resourceVersion=99999999999999999999'),
  list('resourceVersion=00'),
  list('resourceVersion=0'),
  list('resourceVersion=0&limit=1'),
  list('resourceVersion=0&resourceVersionMatch=Exact'),
  list('resourceVersion=0&resourceVersionMatch=NotOlderThan'),
  list('resourceVersion=1&resourceVersionMatch=Sometimes'),
  list('resourceVersion=99999999&resourceVersionMatch=Exact'),
  list('resourceVersionMatch=Exact'),
  list('resourceVersionMatch=NotOlderThan'),
  list('resourceVersionMatch='),
  list('sendInitialEvents=true'),
  list('sendInitialEvents=perhaps'),
  list('watch=true&sendInitialEvents=true'),
  list('watch=true&sendInitialEvents=true&resourceVersionMatch=Exact'),
  list('watch=true&resourceVersionMatch=NotOlderThan'),
  list('watch=true&resourceVersion=abc'),
  list('watch=true&resourceVersion=-3'),
  list('watch=true&timeoutSeconds=abc'),
  list('watch=perhaps'),
  list('watch=true&resourceVersion=99999999&timeoutSeconds=1'),
  list('watch=true&timeoutSeconds=1&limit=5'),
  list('watch=true&timeoutSeconds=1&continue=abc'),
  list('limit=abc'),
  list('limit=-1'),
  list('limit=99999999999999999999'),
  list('limit=1.5'),
  list('limit='),
  list('timeoutSeconds=abc'),
  list('timeoutSeconds=-5'),
  list('allowWatchBookmarks=perhaps'),
  list('pretty=perhaps'),
  list('colour=red'),
  get('a get at a version that is none', `${CONFIG_MAPS}/known?resourceVersion=abc`),
  get('a get at version 0', `${CONFIG_MAPS}/known?resourceVersion=0`),
  get('a get at any version', `${CONFIG_MAPS}/known?resourceVersionMatch=Exact`),
];

const FORMS: readonly OddRequest[] = [
  get('a form that nobody has', CONFIG_MAPS, { accept: 'image/png' }),
  get('a form that is none', CONFIG_MAPS, { accept: 'nonsense' }),
  get('any form', CONFIG_MAPS, { accept: '*/*' }),
  get('a table of another group', CONFIG_MAPS, { accept: 'application/json;as=Table;g=apps;v=v1' }),
  get('a table of another version', CONFIG_MAPS, { accept: 'application/json;as=Table;g=meta.k8s.io;v=v2' }),
  get('something else than a table', CONFIG_MAPS, { accept: 'application/json;as=Chair;g=meta.k8s.io;v=v1' }),
  get('metadata of a list as one', CONFIG_MAPS, {
    accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1',
  }),
  get('metadata of one as a list', `${CONFIG_MAPS}/known`, {
    accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1',
  }),
  get('a table of a table', `${CONFIG_MAPS}?includeObject=Everything`, {
    accept: 'application/json;as=Table;g=meta.k8s.io;v=v1',
  }),
  get('a custom resource as protobuf', GADGETS, { accept: 'application/vnd.kubernetes.protobuf' }),
  get('a watch as YAML', `${CONFIG_MAPS}?watch=true&timeoutSeconds=1`, { accept: 'application/yaml' }),
  get('many forms', CONFIG_MAPS, { accept: 'image/png, text/html;q=0.9, application/json;q=0.1' }),
];

const PLACES: readonly OddRequest[] = [
  get('an object that is not there', `${CONFIG_MAPS}/absent`),
  get('a resource that is not there', `${NAMESPACE}/gizmos`),
  get('a version that is not there', '/api/v9/namespaces'),
  get('a group that is not there', '/apis/nothing.example.test/v1/things'),
  get('a subresource that is not there', `${CONFIG_MAPS}/known/colour`),
  get('a part of a subresource', `${DEPLOYMENTS}/known/scale/more`),
  get('a status that a kind has not', `${CONFIG_MAPS}/known/status`),
  get('a scale that a kind has not', `${CONFIG_MAPS}/known/scale`),
  get('a scale of nothing', `${DEPLOYMENTS}/absent/scale`),
  get('a cluster-wide kind in a namespace', `${NAMESPACE}/nodes`),
  get('a namespaced object without namespace', '/api/v1/configmaps/known'),
  get('a name with a slash', `${CONFIG_MAPS}/a%2Fb`),
  get('a name with a blank', `${CONFIG_MAPS}/a%20b`),
  get('a name with NUL', `${CONFIG_MAPS}/a%00b`),
  get('a name that is no UTF-8', `${CONFIG_MAPS}/%ff`),
  get('a long name', `${CONFIG_MAPS}/${'a'.repeat(1_000)}`),
  get('a name with percent', `${CONFIG_MAPS}/a%25b`),
  get('a namespace with capitals', '/api/v1/namespaces/UPPER/configmaps'),
  get('a list in a namespace that is not there', '/api/v1/namespaces/absent/configmaps'),
  get('two slashes', '/api/v1//namespaces'),
  get('a slash at the end', '/api/v1/namespaces/'),
  get('a custom resource that is not there', `${GADGETS}/absent`),
  get('a resource that no definition has', '/apis/odd.example.test/v1/namespaces/odd/gizmos'),
  get('a version that a definition has not', '/apis/odd.example.test/v9/namespaces/odd/gadgets'),
  get('a subresource that a definition has not', `${GADGETS}/known/colour`),
  get('a scale that a definition has not', `${GADGETS}/known/scale`),
  get('a namespaced custom resource without namespace', '/apis/odd.example.test/v1/gadgets/known'),
  get('a version that a group has not', '/apis/apps/v9/deployments'),
  get('discovery of a version that a group has not', '/apis/apps/v9'),
  get('discovery of a group that is not there', '/apis/nothing.example.test'),
  get('discovery of a core version that is not there', '/api/v9'),
  get('the log of nothing', `${PODS}/absent/log`),
  get('a log of one of several containers', `${PODS}/several/log`),
  get('a log of a container that is not there', `${PODS}/several/log?container=absent`),
  get('a log of a pod without node', `${PODS}/several/log?container=a`),
  get('an exec in a pod without node', `${PODS}/several/exec?container=a&command=ls&stdout=true`),
  get('an exec of nothing', `${PODS}/absent/exec?command=x`),
  get('a proxy to nothing', `${NAMESPACE}/services/absent/proxy/`),
  get('a path of no API', '/nothing'),
  get('what only a POST serves', '/apis/authorization.k8s.io/v1/subjectaccessreviews'),
];

const METHODS: readonly OddRequest[] = [
  { what: 'a PUT of a collection', method: 'PUT', path: CONFIG_MAPS, body: configMap('a') },
  { what: 'a DELETE of all namespaces', method: 'DELETE', path: '/api/v1/namespaces' },
  { what: 'a DELETE in all namespaces', method: 'DELETE', path: '/api/v1/configmaps' },
  { what: 'OPTIONS', method: 'OPTIONS', path: CONFIG_MAPS },
  { what: 'HEAD', method: 'HEAD', path: `${CONFIG_MAPS}/known` },
  { what: 'TRACE', method: 'TRACE', path: CONFIG_MAPS },
  { what: 'an unknown method', method: 'PURGE', path: `${CONFIG_MAPS}/known` },
  { what: 'a POST of a scale', method: 'POST', path: `${DEPLOYMENTS}/known/scale`, body: {} },
  { what: 'a DELETE of a status', method: 'DELETE', path: `${DEPLOYMENTS}/known/status` },
  { what: 'a PUT of a review', method: 'PUT', path: '/apis/authorization.k8s.io/v1/subjectaccessreviews', body: {} },
  {
    what: 'a POST of discovery',
    method: 'POST',
    path: '/apis',
    body: {},
    deliberately: { answers: '405 MethodNotAllowed', because: 'discovery is only read' },
  },
  { what: 'a POST of nothing known', method: 'POST', path: '/apis/apps/v1/namespaces/odd/gizmos', body: {} },
  { what: 'a DELETE of nothing', method: 'DELETE', path: `${CONFIG_MAPS}/absent` },
];

function remove(what: string, body: string | object, query = ''): OddRequest {
  return { what, method: 'DELETE', path: `${CONFIG_MAPS}/known${query}`, body };
}

const DELETIONS: readonly OddRequest[] = [
  remove('a deletion of another uid', { preconditions: { uid: 'x' } }),
  remove('a deletion of a stale version', { preconditions: { resourceVersion: '1' } }),
  remove('a deletion of a version that is none', { preconditions: { resourceVersion: 'abc' } }),
  remove('a deletion with preconditions that are none', { preconditions: 'x' }),
  remove('a deletion that is no JSON', '{'),
  remove('a deletion that is a list', '[]'),
  remove('a deletion of another kind', configMap('known')),
  {
    ...remove('a deletion of another version', { apiVersion: 'v9', kind: 'DeleteOptions' }),
    path: `${CONFIG_MAPS}/doomed`,
  },
  remove('no such propagation', { propagationPolicy: 'Sideways' }),
  remove('propagation twice', { propagationPolicy: 'Orphan', orphanDependents: true }),
  remove('propagation that is a number', { propagationPolicy: 1 }),
  remove('a grace period that is a text', { gracePeriodSeconds: 'x' }),
  remove('a grace period below zero', { gracePeriodSeconds: -5, dryRun: ['All'] }),
  remove('no such dry run of a deletion', { dryRun: ['Some'] }),
  remove('a dry run that is a text', { dryRun: 'All' }),
  remove('an unknown option', { colour: 'red', dryRun: ['All'] }),
  { what: 'a grace period in the query', method: 'DELETE', path: `${CONFIG_MAPS}/known?gracePeriodSeconds=x` },
  { what: 'propagation in the query', method: 'DELETE', path: `${CONFIG_MAPS}/known?propagationPolicy=Sideways` },
  { what: 'a deletion of a selection that is none', method: 'DELETE', path: `${CONFIG_MAPS}?labelSelector=a%20b` },
  { what: 'a deletion of a selection of nothing', method: 'DELETE', path: `${CONFIG_MAPS}?labelSelector=none%3Dhere` },
];

const CALLERS: readonly OddRequest[] = [
  get('a token that is none', NAMESPACE, { authorization: 'Bearer nonsense' }),
  get('someone without rights', `${NAMESPACE}/secrets`, { 'impersonate-user': 'nobody' }),
  get('a group without user', NAMESPACE, { 'impersonate-group': 'a' }),
  get('an empty user', NAMESPACE, { 'impersonate-user': '' }),
  get('a path without rights', '/logs/', { 'impersonate-user': 'nobody' }),
  get('something unknown without rights', '/apis/nothing.example.test/v1/things', { 'impersonate-user': 'nobody' }),
];

export const READS: readonly OddRequest[] = [
  ...SELECTORS,
  ...POSITIONS,
  ...VERSIONS,
  ...FORMS,
  ...PLACES,
  ...METHODS,
  ...DELETIONS,
  ...CALLERS,
];
