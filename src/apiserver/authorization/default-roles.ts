import { readFileSync } from 'node:fs';
import { isObject, type Json, type JsonObject, jsonEqual, member } from '../../kube/json.js';
import { nameOf } from '../../kube/metadata-of.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../select/label-selector.js';
import { RBAC_GROUP, readRoleRef, rulesOf, text, writeRule } from './policy-rule.js';
import { uncoveredRules } from './rule-coverage.js';

/** Recorded from a kube-apiserver by test/real/record-default-roles.ts. */
const FILE = new URL('./data/default-roles.json', import.meta.url);

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const LABELS: JsonObject = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const ANNOTATIONS: JsonObject = { [AUTOUPDATE]: 'true' };
const KINDS = [
  ['clusterroles', 'ClusterRole'],
  ['clusterrolebindings', 'ClusterRoleBinding'],
  ['roles', 'Role'],
  ['rolebindings', 'RoleBinding'],
] as const;

/**
 * The roles and bindings that every cluster starts with, as kube-apiserver creates them, in an order in which they can be
 * created. Roles that gather others (`admin`, `edit`, `view`) come with what they gather, so that they work without the
 * controller that would fill them.
 */
export function defaultRbacObjects(): JsonObject[] {
  const file = JSON.parse(readFileSync(FILE, 'utf8')) as Record<string, JsonObject[]>;
  const objects = KINDS.flatMap(([resource, kind]) => (file[resource] ?? []).map((entry) => complete(kind, entry)));
  return fillAggregated(objects);
}

function complete(kind: string, entry: JsonObject): JsonObject {
  const { name, namespace, labels, ...rest } = entry;
  const object: JsonObject = {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind,
    metadata: {
      name: name!,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...LABELS, ...(isObject(labels) ? labels : {}) },
      annotations: { ...ANNOTATIONS },
    },
    ...rest,
  };
  if (kind.endsWith('Role') && !Object.hasOwn(object, 'rules')) object.rules = [];
  return object;
}

/** Roles gather from roles that gather (`admin` from `edit` from `view`), so it is done until nothing changes. */
function fillAggregated(objects: readonly JsonObject[]): JsonObject[] {
  let filled = [...objects];
  for (let changed = true; changed; ) {
    changed = false;
    const roles = filled.filter(({ kind }) => kind === 'ClusterRole');
    filled = filled.map((object) => {
      const rules = aggregatedRules(object, roles);
      if (!rules || jsonEqual(rules, object.rules)) return object;
      changed = true;
      return { ...object, rules };
    });
  }
  return filled;
}

/**
 * The rules of a ClusterRole with an aggregation rule, gathered from all ClusterRoles, as the controller of
 * kube-controller-manager would write them; undefined for a role that gathers nothing.
 */
export function aggregatedRules(role: JsonObject, allRoles: readonly JsonObject[]): JsonObject[] | undefined {
  const aggregation = member(role, 'aggregationRule');
  if (!isObject(aggregation)) return undefined;
  const selectors = member(aggregation, 'clusterRoleSelectors');
  const ownName = nameOf(role);
  const gathered: JsonObject[] = [];
  const others = allRoles.filter((each) => nameOf(each) !== ownName).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const selector of Array.isArray(selectors) ? selectors.filter(isObject) : []) {
    const matches = labelSelectorFromObject(selector as LabelSelectorObject);
    for (const other of others) {
      if (!matchesLabels(matches, labelsOf(other))) continue;
      for (const rule of rulesOf(other).map(writeRule)) {
        if (!gathered.some((known) => jsonEqual(known, rule))) gathered.push(rule);
      }
    }
  }
  return gathered;
}

/**
 * What a default role must become so that it allows at least what `wanted` allows; undefined for no change, also where
 * its owner has switched updates off. What was added to it stays. Of two roles that both gather, rules are left alone:
 * gathering decides them.
 */
export function reconcileRole(live: JsonObject, wanted: JsonObject): JsonObject | undefined {
  if (isProtected(live)) return undefined;
  const role = withWantedMetadata(live, wanted);
  const isGathered = isObject(member(live, 'aggregationRule')) && isObject(member(wanted, 'aggregationRule'));
  const missing = isGathered ? [] : uncoveredRules(rulesOf(live), rulesOf(wanted));
  if (missing.length > 0) role.rules = [...list(live, 'rules'), ...missing.map(writeRule)];
  reconcileAggregation(role, wanted);
  return jsonEqual(role, live) ? undefined : role;
}

function reconcileAggregation(role: JsonObject, wanted: JsonObject): void {
  const wantedRule = member(wanted, 'aggregationRule');
  if (!isObject(wantedRule)) {
    delete role.aggregationRule;
    return;
  }
  const own = member(role, 'aggregationRule');
  const selectors = isObject(own) ? list(own, 'clusterRoleSelectors') : [];
  const missing = list(wantedRule, 'clusterRoleSelectors').filter(
    (selector) => !selectors.some((known) => jsonEqual(known, selector)),
  );
  if (missing.length === 0) return;
  role.aggregationRule = { ...(isObject(own) ? own : {}), clusterRoleSelectors: [...selectors, ...missing] };
}

export type BindingChange =
  | { readonly action: 'update'; readonly object: JsonObject }
  /** Another role: bindings cannot change theirs, so it is deleted and created anew. */
  | { readonly action: 'recreate'; readonly object: JsonObject };

/** What must be done so that a default binding names at least the subjects of `wanted`; undefined for nothing. */
export function reconcileBinding(live: JsonObject, wanted: JsonObject): BindingChange | undefined {
  if (isProtected(live)) return undefined;
  if (!jsonEqual({ ...readRoleRef(live) }, { ...readRoleRef(wanted) })) return { action: 'recreate', object: wanted };
  const binding = withWantedMetadata(live, wanted);
  const subjects = list(live, 'subjects');
  const missing = list(wanted, 'subjects').filter((subject) => !subjects.some((known) => jsonEqual(known, subject)));
  if (missing.length > 0) binding.subjects = [...subjects, ...missing];
  return jsonEqual(binding, live) ? undefined : { action: 'update', object: binding };
}

function isProtected(object: JsonObject): boolean {
  const metadata = member(object, 'metadata');
  const annotations = isObject(metadata) ? member(metadata, 'annotations') : undefined;
  return text(annotations, AUTOUPDATE) === 'false';
}

/** A copy with the labels and annotations that are wanted; what is there already counts more. */
function withWantedMetadata(live: JsonObject, wanted: JsonObject): JsonObject {
  const metadata = member(live, 'metadata');
  const own = isObject(metadata) ? metadata : {};
  const merged: JsonObject = { ...own };
  for (const key of ['labels', 'annotations']) {
    const all = { ...objectAt(wanted, key), ...objectAt(live, key) };
    if (Object.keys(all).length > 0) merged[key] = all;
  }
  return { ...live, metadata: merged };
}

function objectAt(object: JsonObject, key: string): JsonObject {
  const metadata = member(object, 'metadata');
  const value = isObject(metadata) ? member(metadata, key) : undefined;
  return isObject(value) ? value : {};
}

function labelsOf(role: JsonObject): Record<string, string> {
  return objectAt(role, 'labels') as Record<string, string>;
}

function list(object: JsonObject, key: string): Json[] {
  const value = member(object, key);
  return Array.isArray(value) ? value : [];
}
