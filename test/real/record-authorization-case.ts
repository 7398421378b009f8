import type { Json, JsonObject } from '../../src/kube/json.js';

export interface RecordedRequest {
  readonly method: string;
  readonly path: string;
  readonly body?: Json;
  /** Names and values in turn; a name may come several times. */
  readonly headers?: readonly string[];
}

/** One request by the user `tester`, after others by an administrator which must succeed. */
export interface AuthorizationCase extends RecordedRequest {
  readonly name: string;
  readonly setup?: readonly RecordedRequest[];
  /** Rights that the authorizer refuses: `verb resource` or `verb resource/subresource`. All others are granted. */
  readonly deny?: readonly string[];
}

export const NAMESPACE = 'recorded';
export const CORE = `/api/v1/namespaces/${NAMESPACE}`;
export const CUSTOM = '/apis/example.test/v1';

export const post = (path: string, body: Json): RecordedRequest => ({ method: 'POST', path, body });

export const patchType = (name: string): readonly string[] => [
  'content-type',
  name === 'apply' ? 'application/apply-patch+yaml' : `application/${name}-patch+json`,
];

export const meta = (name: string, more: JsonObject = {}): JsonObject => ({ metadata: { name, ...more } });

export const pod = (name: string, spec: JsonObject = {}): JsonObject => ({
  ...meta(name, { labels: { app: 'x' } }),
  spec: {
    containers: [{ name: 'c', image: 'i', resources: { requests: { cpu: '1' }, limits: { cpu: '1' } } }],
    automountServiceAccountToken: false,
    ...spec,
  },
});

export const deployment = (name: string): JsonObject => ({
  ...meta(name),
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: { metadata: { labels: { app: name } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
  },
});

const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };

function definition(plural: string, kind: string, scope: string): JsonObject {
  const subresources = {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  };
  return {
    ...meta(`${plural}.example.test`),
    spec: {
      group: 'example.test',
      scope,
      names: { plural, kind, singular: kind.toLowerCase() },
      versions: [{ name: 'v1', served: true, storage: true, schema, subresources }],
    },
  };
}

/** What is there before the first case. */
export const WORLD: readonly RecordedRequest[] = [
  post('/apis/rbac.authorization.k8s.io/v1/clusterroles', {
    ...meta('granted'),
    rules: [{ apiGroups: [''], resources: ['secrets'], verbs: ['list'] }],
  }),
  post('/api/v1/namespaces', meta(NAMESPACE)),
  post(`${CORE}/serviceaccounts`, meta('default')),
  post(`${CORE}/serviceaccounts`, meta('robot')),
  post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('widgets', 'Widget', 'Namespaced')),
  post('/apis/apiextensions.k8s.io/v1/customresourcedefinitions', definition('gadgets', 'Gadget', 'Cluster')),
];
