import { DEFAULT_NAMESPACE, filled, type HostileRequest, many, members, patched } from './hostile-request.js';

const LARGE = `${DEFAULT_NAMESPACE}/configmaps/large`;
const SMALL = `${DEFAULT_NAMESPACE}/configmaps/small`;
const POD = `${DEFAULT_NAMESPACE}/pods/small`;
const WIDGET = '/apis/example.io/v1/namespaces/default/widgets/large';
const DEPLOYMENT = '/apis/apps/v1/namespaces/default/deployments/large';

const list = `[${filled(() => '1', 2_400_000)}]`;
/** With room for 9,990 operations of three members. */
const half = `[${filled(() => '1', 55_000)}]`;
/** A patch that first puts a list into the object, then works on it. */
const onList = (items: string, operations: number, operation: (index: number) => object): string =>
  `[{"op":"add","path":"/free","value":${items}},${many(operations, (i) => JSON.stringify(operation(i))).join(',')}]`;

const container = (index: number) => ({ name: `c${index}`, image: 'i' });

export const HOSTILE_PATCHES: readonly HostileRequest[] = [
  patched('json', 'JSON patch: adds into a long list', WIDGET, () =>
    onList(list, 9_990, () => ({ op: 'add', path: '/free/10', value: 1 })),
  ),
  patched('json', 'JSON patch: adds into a list of 40,000', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'add', path: '/free/10', value: 1 })),
  ),
  patched('json', 'JSON patch: adds at the end', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'add', path: '/free/-', value: 1 })),
  ),
  patched('json', 'JSON patch: adds at the beginning', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'add', path: '/free/0', value: 1 })),
  ),
  patched('json', 'JSON patch: removes from a long list', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'remove', path: '/free/0' })),
  ),
  patched('json', 'JSON patch: moves in a long list', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'move', from: '/free/0', path: '/free/1' })),
  ),
  patched('json', 'JSON patch: copies a list', WIDGET, () =>
    onList(half, 9_990, (i) => ({ op: 'copy', from: '/free', path: `/free${i}` })),
  ),
  patched('json', 'JSON patch: copies an item', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'copy', from: '/free/0', path: '/free/0' })),
  ),
  patched('json', 'JSON patch: tests of a long list', WIDGET, () =>
    onList(half, 9_990, () => ({ op: 'test', path: '/free/0', value: 1 })),
  ),
  patched(
    'json',
    'JSON patch: copies a list to itself and tests it',
    WIDGET,
    () =>
      `[{"op":"add","path":"/free","value":${half}},{"op":"copy","from":"/free","path":"/other"},{"op":"test","path":"/free","value":${half}}]`,
  ),
  patched('json', 'JSON patch: replaces the root', WIDGET, () =>
    many(9_990, () => ({ op: 'replace', path: '', value: { a: 1 } })),
  ),
  patched('json', 'JSON patch: deep paths', WIDGET, () => {
    const deep = `${'{"a":'.repeat(900)}{}${'}'.repeat(900)}`;
    const path = `/free${'/a'.repeat(900)}/b`;
    return `[{"op":"add","path":"/free","value":${deep}},${filled(() => JSON.stringify({ op: 'add', path, value: 1 }), 2_900_000)}]`;
  }),
  patched('json', 'JSON patch: one path of 3 MB', WIDGET, () => [
    { op: 'add', path: '/a'.repeat(1_500_000), value: 1 },
  ]),
  patched('json', 'JSON patch: tests with large values', WIDGET, () =>
    many(500, () => ({ op: 'test', path: '/spec', value: many(100, () => 1) })),
  ),
  patched('json', 'JSON patch: tests of a large value', LARGE, () => [
    { op: 'copy', from: '/data', path: '/metadata/annotations' },
    ...many(9_990, () => ({ op: 'test', path: '/data', value: {} })),
  ]),
  patched('json', 'JSON patch: too many operations', WIDGET, () => many(18_000, () => ({ op: 'remove', path: '/a' }))),
  patched(
    'json',
    'JSON patch: unknown members',
    WIDGET,
    () => `[{"op":"test","path":"/a",${filled((i) => `"u${i}":1`, 700_000)}}]`,
  ),
  patched('json', 'JSON patch: adds members', LARGE, () =>
    many(9_990, (i) => ({ op: 'add', path: `/data/n${i}`, value: '' })),
  ),
  patched('json', 'JSON patch: removes members of a large object', LARGE, () =>
    many(9_990, (i) => ({ op: 'remove', path: `/data/k${i}` })),
  ),
  patched('json', 'JSON patch: moves members of a large object', LARGE, () =>
    many(9_990, (i) => ({ op: 'move', from: `/data/k${i}`, path: `/data/n${i}` })),
  ),
  patched('merge', 'merge patch: 55,000 members', LARGE, () => ({
    data: members(
      55_000,
      (i) => `n${i}`,
      () => '',
    ),
  })),
  patched('merge', 'merge patch: removes 55,000 members', LARGE, () => ({
    data: members(
      55_000,
      (i) => `k${i}`,
      () => null,
    ),
  })),
  patched('merge', 'merge patch: a long list', WIDGET, () => `{"free":${list}}`),
  patched('merge', 'merge patch: a list of objects', WIDGET, () => `{"free":[${filled(() => '{}')}]}`),
  patched('merge', 'merge patch: labels', SMALL, () => ({
    metadata: {
      labels: members(
        55_000,
        (i) => `n${i}`,
        () => '',
      ),
    },
  })),
  patched('merge', 'merge patch: one member many times', SMALL, () => `{${filled(() => '"data":{}')}}`),
  patched('merge', 'merge patch: a value of the wrong kind', POD, () => ({
    spec: { containers: many(18_000, container), nodeName: {} },
  })),
  patched('strategic', 'strategic patch: containers', POD, () => ({ spec: { containers: many(18_000, container) } })),
  patched('strategic', 'strategic patch: containers of a large pod', DEPLOYMENT, () => ({
    spec: { template: { spec: { containers: many(18_000, (i) => ({ name: `c${i}`, image: 'j' })) } } },
  })),
  patched('strategic', 'strategic patch: deletes items', DEPLOYMENT, () => ({
    spec: { template: { spec: { containers: many(18_000, (i) => ({ name: `c${i}`, $patch: 'delete' })) } } },
  })),
  patched('strategic', 'strategic patch: replaces a list', POD, () => ({
    spec: { containers: [{ $patch: 'replace' }, ...many(18_000, container)] },
  })),
  patched('strategic', 'strategic patch: many lists are replaced', POD, () => ({
    spec: { containers: many(18_000, () => ({ $patch: 'replace' })) },
  })),
  patched('strategic', 'strategic patch: set element order', POD, () => ({
    spec: {
      containers: many(12_000, container),
      '$setElementOrder/containers': many(12_000, (i) => ({ name: `c${i}` })),
    },
  })),
  patched('strategic', 'strategic patch: set element order, not kept', POD, () => ({
    spec: {
      containers: many(12_000, container),
      '$setElementOrder/containers': many(12_000, (i) => ({ name: `c${11_999 - i}` })),
    },
  })),
  patched('strategic', 'strategic patch: order of finalizers', SMALL, () => ({
    metadata: {
      finalizers: many(27_000, (i) => `a.b/f${i}`),
      '$setElementOrder/finalizers': many(27_000, (i) => `a.b/f${i}`),
    },
  })),
  patched('strategic', 'strategic patch: deletes of primitives', SMALL, () => ({
    metadata: {
      finalizers: many(27_000, (i) => `a.b/f${i}`),
      '$deleteFromPrimitiveList/finalizers': many(27_000, (i) => `a.b/f${i}`),
    },
  })),
  patched('strategic', 'strategic patch: retained keys', DEPLOYMENT, () => ({
    spec: { strategy: { $retainKeys: many(118_000, (i) => `k${i}`), type: 'Recreate' } },
  })),
  patched('strategic', 'strategic patch: retained keys of many', SMALL, () => ({
    data: {
      $retainKeys: many(27_000, (i) => `k${i}`),
      ...members(
        27_000,
        (i) => `k${i}`,
        () => 'v',
      ),
    },
  })),
  patched('strategic', 'strategic patch: nested lists', POD, () => ({
    spec: { containers: [{ name: 'c0', env: many(20_000, (i) => ({ name: `E${i}`, value: '1' })) }] },
  })),
  patched('strategic', 'strategic patch: volumes', POD, () => ({
    spec: { volumes: many(11_000, (i) => ({ name: `v${i}`, emptyDir: {}, $retainKeys: ['name', 'emptyDir'] })) },
  })),
  patched('strategic', 'strategic patch: 55,000 members', LARGE, () => ({
    data: members(
      55_000,
      (i) => `n${i}`,
      () => '',
    ),
  })),
  patched('strategic', 'strategic patch: not an object of the kind', POD, () => ({
    spec: { containers: many(18_000, container), nodeName: {} },
  })),
  patched('apply', 'apply: 55,000 members', SMALL, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'small' },
    data: members(
      55_000,
      (i) => `k${i}`,
      () => '',
    ),
  })),
  patched('apply', 'apply: over a large object', LARGE, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'large' },
    data: members(
      20_000,
      (i) => `k${i}`,
      () => 'x',
    ),
  })),
  patched(
    'apply',
    'apply: YAML of 55,000 lines',
    SMALL,
    () =>
      `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: small\ndata:\n${many(55_000, (i) => `  k${i}: v\n`).join('')}`,
  ),
  patched(
    'apply',
    'apply: 700,000 documents',
    SMALL,
    () => `apiVersion: v1\nkind: ConfigMap\n${'---\n'.repeat(700_000)}`,
  ),
  patched('apply', 'apply: containers', POD, () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'small' },
    spec: { containers: many(18_000, container) },
  })),
  patched('apply', 'apply: containers of one name', POD, () => ({
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name: 'small' },
    spec: { containers: many(18_000, () => container(0)) },
  })),
  patched('apply', 'apply: containers in another order', DEPLOYMENT, () => ({
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: 'large' },
    spec: { template: { spec: { containers: many(20_000, (i) => ({ name: `c${19_999 - i}`, image: 'k' })) } } },
  })),
  patched('apply', 'apply: finalizers as a set', SMALL, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'small', finalizers: many(55_000, (i) => `a.b/f${i}`) },
  })),
  patched('apply', 'apply: ports by two keys', `${DEFAULT_NAMESPACE}/services/small`, () => ({
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name: 'small' },
    spec: { ports: many(13_000, (i) => ({ name: `p${i}`, port: (i % 65_000) + 1, protocol: 'TCP' })) },
  })),
  patched('apply', 'apply: unknown fields', SMALL, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'small' },
    ...members(
      118_000,
      (i) => `u${i}`,
      () => 1,
    ),
  })),
  patched('apply', 'apply: a new object', `${DEFAULT_NAMESPACE}/configmaps/new`, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'new' },
    data: members(
      118_000,
      (i) => `k${i}`,
      () => 'v',
    ),
  })),
  patched('apply', 'apply: to an object with many managers', `${DEFAULT_NAMESPACE}/configmaps/managed`, () => ({
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'managed' },
    data: members(
      1_000,
      (i) => `k${i}`,
      () => 'x',
    ),
  })),
  patched('apply', 'apply: a custom resource with map lists', WIDGET, () => ({
    apiVersion: 'example.io/v1',
    kind: 'Widget',
    metadata: { name: 'large' },
    keyed: many(18_000, (i) => ({ name: `n${i}`, value: 1 })),
  })),
];
