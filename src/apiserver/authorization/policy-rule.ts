import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
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

/** The rules of a Role or ClusterRole; what is no rule is passed over, because it allows nothing. */
export function rulesOf(role: JsonObject): PolicyRule[] {
  const rules = member(role, 'rules');
  return Array.isArray(rules) ? rules.filter(isObject).map(readRule) : [];
}

export function readRule(rule: JsonObject): PolicyRule {
  return {
    verbs: texts(member(rule, 'verbs')),
    apiGroups: texts(member(rule, 'apiGroups')),
    resources: texts(member(rule, 'resources')),
    resourceNames: texts(member(rule, 'resourceNames')),
    nonResourceURLs: texts(member(rule, 'nonResourceURLs')),
  };
}

/** As it is stored: empty lists left out, `verbs` always there. */
export function writeRule(rule: PolicyRule): JsonObject {
  const written: JsonObject = { verbs: [...rule.verbs] };
  if (rule.apiGroups.length > 0) written.apiGroups = [...rule.apiGroups];
  if (rule.resources.length > 0) written.resources = [...rule.resources];
  if (rule.resourceNames.length > 0) written.resourceNames = [...rule.resourceNames];
  if (rule.nonResourceURLs.length > 0) written.nonResourceURLs = [...rule.nonResourceURLs];
  return written;
}

export function readRoleRef(binding: JsonObject): RoleRef {
  const ref = member(binding, 'roleRef');
  return { apiGroup: text(ref, 'apiGroup'), kind: text(ref, 'kind'), name: text(ref, 'name') };
}

/** A member that is a string; empty for anything else. */
export function text(object: Json | undefined, key: string): string {
  const value = isObject(object) ? member(object, key) : undefined;
  return typeof value === 'string' ? value : '';
}

function texts(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}

/** The form that refusals show: `{APIGroups:[""], Resources:["pods"], Verbs:["get" "list"]}`. */
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
