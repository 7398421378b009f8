import { objects, text, texts } from '../../kube/fields.js';
import { type JsonObject, member } from '../../kube/json.js';
import { goQuoteList } from '../values/go-quote.js';

export const RBAC_GROUP = 'rbac.authorization.k8s.io';

/** One rule of a Role or ClusterRole; lists that are missing are empty. */
export interface PolicyRule {
  readonly verbs: readonly string[];
  readonly apiGroups: readonly string[];
  readonly resources: readonly string[];
  readonly resourceNames: readonly string[];
  readonly nonResourceURLs: readonly string[];
}

export interface RoleRef {
  readonly apiGroup: string;
  readonly kind: string;
  readonly name: string;
}

/** Returns the rules of a Role or ClusterRole; malformed ones allow nothing and are skipped. */
export function rulesOf(role: JsonObject): PolicyRule[] {
  return objects(role, 'rules').map((rule) => ({
    verbs: texts(rule, 'verbs'),
    apiGroups: texts(rule, 'apiGroups'),
    resources: texts(rule, 'resources'),
    resourceNames: texts(rule, 'resourceNames'),
    nonResourceURLs: texts(rule, 'nonResourceURLs'),
  }));
}

/** Returns a rule as stored: without empty lists except `verbs`. */
export function writeRule(rule: PolicyRule): JsonObject {
  const written: JsonObject = { verbs: [...rule.verbs] };
  for (const key of ['apiGroups', 'resources', 'resourceNames', 'nonResourceURLs'] as const) {
    if (rule[key].length > 0) written[key] = [...rule[key]];
  }
  return written;
}

export function readRoleRef(binding: JsonObject): RoleRef {
  const ref = member(binding, 'roleRef');
  return { apiGroup: text(ref, 'apiGroup'), kind: text(ref, 'kind'), name: text(ref, 'name') };
}

/** Formats a rule as refusals do: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
export function ruleText(rule: PolicyRule): string {
  const parts: [string, readonly string[]][] = [
    ['APIGroups', rule.apiGroups],
    ['Resources', rule.resources],
    ['NonResourceURLs', rule.nonResourceURLs],
    ['ResourceNames', rule.resourceNames],
    ['Verbs', rule.verbs],
  ];
  const shown = parts.filter(([, values]) => values.length > 0);
  return `{${shown.map(([label, values]) => `${label}:${goQuoteList(values)}`).join(', ')}}`;
}
