import { DEFAULT_NAMESPACE, filled, type HostileRequest, many, read } from './hostile-request.js';

const MANY = '/api/v1/namespaces/many/configmaps';
const HEAVY = '/api/v1/namespaces/heavy/configmaps';
const LARGE = `${DEFAULT_NAMESPACE}/configmaps/large`;
const WIDGETS = '/apis/example.io/v1/namespaces/default/widgets';
const WIDGET = `${WIDGETS}/large`;
/** Heads of requests are bounded; what fits into one. */
const HEAD_BYTES = 12_000;

const TABLE = { Accept: 'application/json;as=Table;v=v1;g=meta.k8s.io' };
const METADATA = { Accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' };
const YAML = { Accept: 'application/yaml' };
const PROTOBUF = { Accept: 'application/vnd.kubernetes.protobuf' };
const GZIP = { 'Accept-Encoding': 'gzip' };
const ONE_AS_METADATA = { Accept: 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io' };

const values = (count: number): string => filled((i) => `v${i}`, count);
const query = (name: string, value: string): string => `?${name}=${encodeURIComponent(value)}`;
const watching =
  'watch=1&timeoutSeconds=1&sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true';

export const HOSTILE_READS: readonly HostileRequest[] = [
  read('list: 10,000 objects', MANY),
  read('list: 10,000 objects, compressed', MANY, GZIP),
  read('list: 10,000 objects, indented', `${MANY}?pretty=true`),
  read('list: 10,000 objects as a table', MANY, TABLE),
  read('list: 10,000 objects as a table with objects', `${MANY}?includeObject=Object`, TABLE),
  read('list: 10,000 objects as metadata', MANY, METADATA),
  read('list: 10,000 objects as YAML', MANY, YAML),
  read('list: 10,000 objects as protobuf', MANY, PROTOBUF),
  read('list: 10,000 objects at a revision', `${MANY}?resourceVersion=1&resourceVersionMatch=NotOlderThan&limit=9999`),
  read('list: a page of 9,000', `${MANY}?limit=9000`),
  read('list: 30 objects of a megabyte', HEAVY),
  read('list: 30 objects of a megabyte as a table', HEAVY, TABLE),
  read('list: 30 objects of a megabyte as YAML', HEAVY, YAML),
  read('list: 30 objects of a megabyte as protobuf', HEAVY, PROTOBUF),
  read('list: 30 objects of a megabyte as metadata', HEAVY, METADATA),
  read('list: 30 objects of a megabyte, indented', `${HEAVY}?pretty=true`),
  read('list: selected by 10,000 values', `${MANY}${query('labelSelector', `a in (${values(HEAD_BYTES)})`)}`),
  read(
    'list: selected by all values but 10,000',
    `${MANY}${query('labelSelector', `a notin (${values(HEAD_BYTES)})`)}`,
  ),
  read(
    'list: selected by 1,000 labels',
    `${MANY}${query(
      'labelSelector',
      filled((i) => `!k${i}`, HEAD_BYTES),
    )}`,
  ),
  read(
    'list: selected by 1,000 equal fields',
    `${MANY}${query(
      'fieldSelector',
      filled(() => 'metadata.name!=x', 8_000),
    )}`,
  ),
  read('list: a selector that is refused', `${MANY}${query('labelSelector', '('.repeat(HEAD_BYTES / 3))}`),
  read('list: a continue token of 12 kB', `${MANY}?limit=1&continue=${'A'.repeat(HEAD_BYTES)}`),
  read('list: 6,000 parameters', `${MANY}?limit=1&${'a&'.repeat(HEAD_BYTES / 2)}`),
  read('watch: 10,000 objects', `${MANY}?${watching}`),
  read('watch: 10,000 objects as a table', `${MANY}?${watching}`, TABLE),
  read('watch: 10,000 objects as protobuf', `${MANY}?${watching}`, {
    Accept: 'application/vnd.kubernetes.protobuf;stream=watch',
  }),
  read(
    'watch: 10,000 objects that are not selected',
    `${MANY}?${watching}&labelSelector=${encodeURIComponent(`a in (${values(8_000)})`)}`,
  ),
  read('watch: 30 objects of a megabyte', `${HEAVY}?${watching}`),
  read('get: an object of a megabyte as YAML', LARGE, YAML),
  read('get: an object of a megabyte as protobuf', LARGE, PROTOBUF),
  read('get: an object of a megabyte, indented', `${LARGE}?pretty=true`),
  read('get: an object of a megabyte as a table', LARGE, TABLE),
  read('get: an object of a megabyte as metadata', LARGE, ONE_AS_METADATA),
  read('get: a custom resource with columns over lists', WIDGET, TABLE),
  read('list: custom resources with columns over lists', WIDGETS, TABLE),
  read('get: a custom resource in another version', '/apis/example.io/v2/namespaces/default/widgets/large'),
  read('list: custom resources as YAML', WIDGETS, YAML),
  read('get: as many groups', DEFAULT_NAMESPACE, {
    'Impersonate-User': 'u',
    'Impersonate-Group': many(400, (i) => `group-number-${i}`),
  }),
  read('get: with extra of many keys', DEFAULT_NAMESPACE, {
    'Impersonate-User': 'u',
    ...Object.fromEntries(many(200, (i) => [`Impersonate-Extra-K${i}`, 'v'])),
  }),
  { name: 'deletecollection: 10,000 objects', path: `${MANY}?dryRun=All`, make: () => ({ method: 'DELETE' }) },
  {
    name: 'deletecollection: of 10,000 objects none',
    path: `${MANY}${query('labelSelector', `a in (${values(HEAD_BYTES)})`)}`,
    make: () => ({ method: 'DELETE' }),
  },
  {
    name: 'get: rules of a role of 20,000 rules',
    path: '/apis/authorization.k8s.io/v1/selfsubjectrulesreviews',
    make: () => ({
      method: 'POST',
      headers: { 'Impersonate-User': 'bound' },
      body: { spec: { namespace: 'default' } },
    }),
  },
  read('get: by somebody with a role of 20,000 rules', `${DEFAULT_NAMESPACE}/configmaps/small`, {
    'Impersonate-User': 'bound',
  }),
];
