import {
  CONFIG_MAPS,
  configMap,
  DEPLOYMENTS,
  deployment,
  GADGETS,
  gadget,
  type OddRequest,
  PODS,
  TOO_MANY_VALUES,
} from './request.js';

const MIB = 1024 * 1024;
const nested = (levels: number): string => `${'{"a":'.repeat(levels)}1${'}'.repeat(levels)}`;
const nestedList = (levels: number): string => `${'['.repeat(levels)}${']'.repeat(levels)}`;
const yaml = { contentType: 'application/yaml' };
/** Ten levels of ten: a few hundred bytes that unfold to a billion values. */
const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${[...'bcdefghi']
  .map((name, index) => `${name}: &${name} [${Array(10).fill(`*${'abcdefgh'[index]}`).join(',')}]`)
  .join('\n')}`;

export const BODIES: readonly OddRequest[] = [
  { what: 'an empty body', path: CONFIG_MAPS, body: '' },
  { what: 'no JSON', path: CONFIG_MAPS, body: 'hello' },
  { what: 'half an object', path: CONFIG_MAPS, body: '{"apiVersion":"v1",' },
  { what: 'a list', path: CONFIG_MAPS, body: '[]' },
  { what: 'a text', path: CONFIG_MAPS, body: '"x"' },
  { what: 'null', path: CONFIG_MAPS, body: 'null' },
  { what: 'an empty object', path: CONFIG_MAPS, body: '{}' },
  { what: 'something behind the object', path: CONFIG_MAPS, body: `${JSON.stringify(configMap('behind'))} x` },
  {
    what: 'two objects',
    path: CONFIG_MAPS,
    body: `${JSON.stringify(configMap('two'))}${JSON.stringify(configMap('b'))}`,
  },
  { what: 'a byte order mark', path: CONFIG_MAPS, body: `\ufeff${JSON.stringify(configMap('mark'))}` },
  { what: 'another kind', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'a' } } },
  { what: 'an unknown kind', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 'Nothing', metadata: { name: 'a' } } },
  {
    what: 'another version',
    path: CONFIG_MAPS,
    body: { apiVersion: 'v2', kind: 'ConfigMap', metadata: { name: 'a' } },
  },
  {
    what: 'a version of another group',
    path: DEPLOYMENTS,
    body: { ...deployment('a'), apiVersion: 'extensions/v1beta1' },
  },
  { what: 'no kind', path: CONFIG_MAPS, body: { apiVersion: 'v1', metadata: { name: 'kindless' } } },
  { what: 'no version', path: CONFIG_MAPS, body: { kind: 'ConfigMap', metadata: { name: 'versionless' } } },
  { what: 'a kind that is a number', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 1, metadata: { name: 'a' } } },
  { what: 'a version that is an object', path: CONFIG_MAPS, body: { apiVersion: {}, kind: 'ConfigMap' } },
  { what: 'a version with two slashes', path: CONFIG_MAPS, body: { apiVersion: 'a/b/c', kind: 'ConfigMap' } },
  { what: 'a list kind', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 'ConfigMapList', items: [] } },
  { what: 'metadata that is a text', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 'ConfigMap', metadata: 'x' } },
  { what: 'no metadata', path: CONFIG_MAPS, body: { apiVersion: 'v1', kind: 'ConfigMap' } },
  { what: 'a name that is a number', path: CONFIG_MAPS, body: configMap(7 as unknown as string) },
  {
    what: 'labels that are a list',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', labels: ['x'] } }),
  },
  {
    what: 'a label that is a number',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', labels: { x: 1 } } }),
  },
  { what: 'data that is a list', path: CONFIG_MAPS, body: configMap('a', { data: [] }) },
  { what: 'data with a number', path: CONFIG_MAPS, body: configMap('a', { data: { x: 1 } }) },
  { what: 'binary data that is not base64', path: CONFIG_MAPS, body: configMap('a', { binaryData: { x: '!' } }) },
  { what: 'binary data with a short end', path: CONFIG_MAPS, body: configMap('a', { binaryData: { x: 'AAA' } }) },
  { what: 'a key that is none', path: CONFIG_MAPS, body: configMap('a', { data: { 'a b': 'x' } }) },
  { what: 'replicas that are a text', path: DEPLOYMENTS, body: deployment('a', { replicas: '3' }) },
  { what: 'replicas that are a fraction', path: DEPLOYMENTS, body: deployment('a', { replicas: 1.5 }) },
  { what: 'replicas beyond 32 bits', path: DEPLOYMENTS, body: deployment('a', { replicas: 2 ** 31 }) },
  {
    what: 'replicas beyond 64 bits',
    path: DEPLOYMENTS,
    body: JSON.stringify(deployment('a', { replicas: 1 })).replace('"replicas":1', '"replicas":99999999999999999999'),
  },
  {
    what: 'replicas written with an exponent',
    path: DEPLOYMENTS,
    body: JSON.stringify(deployment('exponent', { replicas: 1 })).replace('"replicas":1', '"replicas":1e1'),
    deliberately: { answers: '201', because: 'JSON has one kind of number: 1e1 is ten' },
  },
  { what: 'replicas below zero', path: DEPLOYMENTS, body: deployment('a', { replicas: -1 }) },
  { what: 'null for replicas', path: DEPLOYMENTS, body: deployment('nulls', { replicas: null }) },
  { what: 'a boolean that is a text', path: DEPLOYMENTS, body: deployment('a', { paused: 'yes' }) },
  {
    what: 'containers that are an object',
    path: DEPLOYMENTS,
    body: deployment('a', { template: { spec: { containers: {} } } }),
  },
  {
    what: 'no containers',
    path: DEPLOYMENTS,
    body: deployment('a', { template: { metadata: { labels: { a: 'b' } }, spec: {} } }),
  },
  { what: 'a quantity that is none', path: PODS, body: pod({ resources: { limits: { cpu: 'lots' } } }) },
  { what: 'a negative quantity', path: PODS, body: pod({ resources: { limits: { cpu: '-1' } } }) },
  { what: 'a port that is an object', path: PODS, body: pod({ livenessProbe: { httpGet: { port: {} } } }) },
  { what: 'a port beyond 65535', path: PODS, body: pod({ ports: [{ containerPort: 70_000 }] }) },
  {
    what: 'a time that is none',
    path: `/apis/coordination.k8s.io/v1/namespaces/odd/leases`,
    body: { metadata: { name: 'a' }, spec: { renewTime: 'yesterday' } },
  },
  {
    what: 'a creation time that is none',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', creationTimestamp: 'soon' } }),
  },
  {
    what: 'unknown fields, warned of',
    path: `${DEPLOYMENTS}?fieldValidation=Warn&dryRun=All`,
    body: deployment('a', { colour: 1 }),
  },
  {
    what: 'unknown fields, refused',
    path: `${DEPLOYMENTS}?fieldValidation=Strict&dryRun=All`,
    body: deployment('a', { colour: 1 }),
  },
  {
    what: 'unknown fields, ignored',
    path: `${DEPLOYMENTS}?fieldValidation=Ignore&dryRun=All`,
    body: deployment('a', { colour: 1 }),
  },
  {
    what: 'a field in other letters, refused',
    path: `${DEPLOYMENTS}?fieldValidation=Strict&dryRun=All`,
    body: deployment('a', { Replicas: 1 }),
  },
  {
    what: 'doubled fields, warned of',
    path: `${CONFIG_MAPS}?fieldValidation=Warn&dryRun=All`,
    body: '{"metadata":{"name":"a","name":"b"}}',
  },
  {
    what: 'doubled fields, refused',
    path: `${CONFIG_MAPS}?fieldValidation=Strict&dryRun=All`,
    body: '{"metadata":{"name":"a","name":"b"}}',
  },
  {
    what: 'doubled fields, ignored',
    path: `${CONFIG_MAPS}?fieldValidation=Ignore&dryRun=All`,
    body: '{"metadata":{"name":"a","name":"b"}}',
  },
  { what: 'no such field validation', path: `${CONFIG_MAPS}?fieldValidation=Maybe`, body: configMap('a') },
  { what: 'no such dry run', path: `${CONFIG_MAPS}?dryRun=Some`, body: configMap('a') },
  { what: 'a dry run twice', path: `${CONFIG_MAPS}?dryRun=All&dryRun=All`, body: configMap('dry') },
  {
    what: 'a field manager that is too long',
    path: `${CONFIG_MAPS}?fieldManager=${'m'.repeat(200)}`,
    body: configMap('a'),
  },
  { what: 'a field manager that cannot be printed', path: `${CONFIG_MAPS}?fieldManager=%07`, body: configMap('a') },
  { what: '3 MiB and a little', path: CONFIG_MAPS, body: configMap('a', { data: { x: 'x'.repeat(3 * MIB) } }) },
  { what: '2 MiB of data', path: CONFIG_MAPS, body: configMap('a', { data: { x: 'x'.repeat(2 * MIB) } }) },
  {
    what: '2 MiB of annotations',
    path: CONFIG_MAPS,
    body: configMap('a', { metadata: { name: 'a', annotations: { x: 'x'.repeat(2 * MIB) } } }),
  },
  {
    what: '2 MiB in a custom resource',
    path: GADGETS,
    body: gadget('big', { text: 'x'.repeat(2 * MIB) }),
    deliberately: {
      answers: '201',
      because: 'the limit is one of etcd’s client; the embedded store takes what a request may have',
    },
  },
  {
    what: '2 MiB of names, refused',
    path: `${CONFIG_MAPS}?fieldValidation=Strict`,
    body: configMap('a', { ['n'.repeat(2 * MIB)]: 1 }),
  },
  { what: 'objects in objects', path: CONFIG_MAPS, body: `{"metadata":{"name":"deep"},"data":${nested(20_000)}}` },
  {
    what: 'lists in lists',
    path: CONFIG_MAPS,
    body: `{"metadata":{"name":"deep"},"data":${nestedList(200_000)}}`,
    deliberately: TOO_MANY_VALUES,
  },
  {
    what: 'lists in lists without end',
    path: CONFIG_MAPS,
    body: '['.repeat(1_000_000),
    deliberately: TOO_MANY_VALUES,
  },
  {
    what: 'depth in a custom resource',
    path: GADGETS,
    body: `{"apiVersion":"odd.example.test/v1","kind":"Gadget","metadata":{"name":"deep"},"spec":{"free":${nested(20_000)}}}`,
  },
  {
    what: 'names of Object.prototype',
    path: CONFIG_MAPS,
    body: '{"metadata":{"name":"proto","__proto__":{"x":1},"constructor":{}},"data":{"__proto__":"a","constructor":"b","toString":"c"}}',
  },
  {
    what: 'characters that are no Unicode',
    path: CONFIG_MAPS,
    body: '{"metadata":{"name":"unicode"},"data":{"x":"\\ud800"}}',
  },
  { what: 'YAML that is none', path: CONFIG_MAPS, body: 'a: [', ...yaml },
  { what: 'YAML that is a text', path: CONFIG_MAPS, body: 'hello', ...yaml },
  {
    what: 'two documents of YAML',
    path: CONFIG_MAPS,
    body: 'metadata: {name: y1}\n---\nmetadata: {name: y2}\n',
    ...yaml,
  },
  { what: 'an alias that nothing has', path: CONFIG_MAPS, body: 'metadata: *x', ...yaml },
  {
    what: 'a doubled key of YAML',
    path: `${CONFIG_MAPS}?fieldValidation=Ignore`,
    body: 'metadata: {name: y3}\ndata: {a: b, a: c}\n',
    ...yaml,
  },
  {
    what: 'a doubled key of YAML, refused',
    path: `${CONFIG_MAPS}?fieldValidation=Strict`,
    body: 'metadata: {name: y4}\ndata: {a: b, a: c}\n',
    ...yaml,
  },
  { what: 'a bomb of aliases', path: CONFIG_MAPS, body: `metadata: {name: bomb}\n${bomb}\n`, ...yaml },
  {
    what: 'a bomb of aliases applied',
    method: 'PATCH',
    path: `${CONFIG_MAPS}/bomb?fieldManager=a`,
    body: `apiVersion: v1\nkind: ConfigMap\nmetadata: {name: bomb}\n${bomb}\n`,
    contentType: 'application/apply-patch+yaml',
  },
  {
    what: 'a tag of YAML',
    path: CONFIG_MAPS,
    body: 'metadata: {name: !!python/object:x y}',
    ...yaml,
    deliberately: { answers: '400 BadRequest', because: 'tags that YAML does not define are refused' },
  },
  { what: 'an unknown media type', path: CONFIG_MAPS, body: configMap('a'), contentType: 'text/plain' },
  { what: 'a media type that is none', path: CONFIG_MAPS, body: configMap('a'), contentType: 'nonsense' },
  {
    what: 'JSON that says it is protobuf',
    path: CONFIG_MAPS,
    body: configMap('a'),
    contentType: 'application/vnd.kubernetes.protobuf',
  },
  {
    what: 'protobuf that is cut off',
    path: CONFIG_MAPS,
    body: 'k8s\0\n',
    contentType: 'application/vnd.kubernetes.protobuf',
  },
  {
    what: 'protobuf for a custom resource',
    path: GADGETS,
    body: 'k8s\0',
    contentType: 'application/vnd.kubernetes.protobuf',
    deliberately: { answers: '415 UnsupportedMediaType', because: 'kube-apiserver breaks off the connection' },
  },
  {
    what: 'an answer in a form that nobody has',
    path: CONFIG_MAPS,
    body: configMap('a'),
    headers: { accept: 'image/png' },
  },
];

function pod(container: object): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'a' },
    spec: { containers: [{ name: 'a', image: 'a', ...container }] },
  };
}
