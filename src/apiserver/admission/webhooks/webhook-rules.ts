import type { GroupVersionResource } from '../../../kube/gvr.js';

export interface WebhookRule {
  readonly operations: readonly string[];
  readonly apiGroups: readonly string[];
  readonly apiVersions: readonly string[];
  /** `pods`, `pods/status`, `pods/*`, `*`, and with any resource: `*` before `/scale` or `/*`. */
  readonly resources: readonly string[];
  readonly scope: string;
}

interface RuledRequest {
  readonly operation: string;
  readonly resource: GroupVersionResource;
  readonly subresource: string;
  readonly namespace: string;
}

export function ruleMatches(rule: WebhookRule, request: RuledRequest): boolean {
  const { group, version } = request.resource;
  return (
    scopeMatches(rule.scope, request) &&
    exactOrAny(rule.operations, request.operation) &&
    exactOrAny(rule.apiGroups, group) &&
    exactOrAny(rule.apiVersions, version) &&
    rule.resources.some((pattern) => resourceMatches(pattern, request))
  );
}

/** A Namespace is cluster-scoped, although its requests have it as their namespace. */
function scopeMatches(scope: string, { resource, namespace }: RuledRequest): boolean {
  const isNamespace = resource.group === '' && resource.version === 'v1' && resource.resource === 'namespaces';
  const isOfCluster = isNamespace || namespace === '';
  if (scope === 'Namespaced') return !isOfCluster;
  return scope === 'Cluster' ? isOfCluster : scope === '*';
}

function resourceMatches(pattern: string, { resource, subresource }: RuledRequest): boolean {
  const slash = pattern.indexOf('/');
  const wanted = slash < 0 ? pattern : pattern.slice(0, slash);
  const wantedSubresource = slash < 0 ? '' : pattern.slice(slash + 1);
  return (
    (wanted === '*' || wanted === resource.resource) && (wantedSubresource === '*' || wantedSubresource === subresource)
  );
}

function exactOrAny(items: readonly string[], wanted: string): boolean {
  return items.includes('*') || items.includes(wanted);
}
