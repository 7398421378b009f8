/** One request that something is wrong with, or that looks so. */
export interface OddRequest {
  readonly what: string;
  /** POST with a body, GET without, unless said otherwise. */
  readonly method?: string;
  readonly path: string;
  /** Sent as it is when a text, as JSON otherwise. */
  readonly body?: string | object;
  readonly contentType?: string;
  readonly headers?: Readonly<Record<string, string>>;
  /** Where Straddle is meant to answer otherwise: what it answers, and why. */
  readonly deliberately?: { readonly answers: string; readonly because: string };
}

/** For what kube-apiserver takes, and we do not follow. */
export const TOO_DEEP = {
  answers: '400 BadRequest',
  because: 'documents of more than 1,000 levels are refused, so that no recursion can exhaust the stack',
} as const;

export const NAMESPACE = '/api/v1/namespaces/odd';
export const CONFIG_MAPS = `${NAMESPACE}/configmaps`;
export const DEPLOYMENTS = '/apis/apps/v1/namespaces/odd/deployments';
export const PODS = `${NAMESPACE}/pods`;
export const GADGETS = '/apis/odd.example.test/v1/namespaces/odd/gadgets';
export const DEFINITIONS = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';

export function configMap(name: string, more: object = {}): object {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more };
}

export function deployment(name: string, spec: object = {}): object {
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'a', image: 'a' }] } },
      ...spec,
    },
  };
}

export function gadget(name: string, spec: object, more: object = {}): object {
  return { apiVersion: 'odd.example.test/v1', kind: 'Gadget', metadata: { name }, spec, ...more };
}

export function definition(plural: string, schema: object, more: object = {}): object {
  const kind = `${plural[0]!.toUpperCase()}${plural.slice(1, -1)}`;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: { name: `${plural}.odd.example.test` },
    spec: {
      group: 'odd.example.test',
      scope: 'Namespaced',
      names: { plural, singular: plural.slice(0, -1), kind, listKind: `${kind}List` },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema }, ...more }],
    },
  };
}

/** For bodies of more values than docs/reference/cpu-budget.md allows. */
export const TOO_MANY_VALUES = {
  answers: '413 RequestEntityTooLarge',
  because: 'the number of values in a body is bounded and counted before anything else',
};
