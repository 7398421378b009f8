/** Where Straddle deliberately differs from kube-apiserver in a recorded case, and why. */
export interface RecordedDifference {
  /**
   * `answer`: the client gets another answer; the same questions are asked.
   * `selectors`: the same questions, without the selectors of the request.
   * `order`: the same questions in another order.
   * `refused-earlier`: other questions, because the request is refused at another one; the answer is the same.
   */
  readonly kind: 'answer' | 'selectors' | 'order' | 'refused-earlier';
  readonly why: string;
}

const SELECTORS: RecordedDifference = {
  kind: 'selectors',
  why: 'label and field selectors are not passed to the authorizer: RBAC, the only one, does not look at them',
};
const ORDER: RecordedDifference = {
  kind: 'order',
  why: 'escalate and bind are asked after mutating admission and after the right to create; all must be granted in any order',
};
const REFUSED_EARLIER: RecordedDifference = {
  kind: 'refused-earlier',
  why: 'escalate and bind are asked after the right to create, in kube-apiserver before it; the request is refused at the same right, after other questions',
};
const NO_KUBELET: RecordedDifference = {
  kind: 'answer',
  why: 'no kubelet and no pod network is reached from this server; the request is authorized and admitted, and then 503 or 404',
};
const OTHER_FILTER: RecordedDifference = {
  kind: 'answer',
  why: 'served by the chain before the API server (src/proxy/chain/health-and-metrics-filter.ts), which this test leaves out',
};
const ANY_FORM: RecordedDifference = {
  kind: 'answer',
  why: 'the keys for checking tokens are sent whatever form the Accept header asks for',
};

const selected = ['configmaps', 'deployments', 'nodes', 'namespaces', 'leases', 'widgets', 'gadgets'].flatMap(
  (resource) => [`${resource}: list by label`, `${resource}: list by name`, `${resource}: watch by name`],
);
const deleted = ['configmaps', 'leases', 'widgets'].flatMap((resource) => [
  `${resource}: deletecollection`,
  `${resource}: deletecollection of nothing`,
]);

const DIFFERENCES: ReadonlyMap<string, RecordedDifference> = new Map([
  ...named(SELECTORS, ...selected, ...deleted),
  ...named(
    ORDER,
    'rolebindings.rbac.authorization.k8s.io: PUT of a missing object with create',
    'roles: update without escalate',
    'roles: PUT of a missing role with escalate',
    'roles: apply of a missing role with escalate',
    'clusterroles: update of labels without escalate',
    'rolebindings: PUT of a missing binding with bind',
  ),
  ...named(
    REFUSED_EARLIER,
    'rolebindings.rbac.authorization.k8s.io: PUT of a missing object without create',
    'roles: PUT of a missing role without escalate',
    'roles: apply of a missing role without create',
    'rolebindings: apply of a missing binding without create',
  ),
  ...named(
    NO_KUBELET,
    'pods/log: get',
    'pods/exec: POST',
    'pods/exec: GET',
    'pods/attach: POST',
    'pods/portforward: POST',
    ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'GET of the root', 'GET with a port'].map(
      (each) => `pods/proxy: ${each}`,
    ),
    'nodes/proxy: GET',
    'services/proxy: GET',
    'services/proxy: GET with a port',
  ),
  ...named(OTHER_FILTER, 'path /healthz', 'path /livez', 'path /readyz', 'path /metrics'),
  ...named(ANY_FORM, 'path /openid/v1/jwks'),
]);

function named(difference: RecordedDifference, ...names: string[]): [string, RecordedDifference][] {
  return names.map((name) => [name, difference]);
}

export function differenceOf(name: string): RecordedDifference | undefined {
  return DIFFERENCES.get(name);
}

/** Names of all cases that are declared to differ. */
export const DIFFERENT: ReadonlySet<string> = new Set(DIFFERENCES.keys());
