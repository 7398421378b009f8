import { child, objects, text } from '../../kube/fields.js';
import { type Json, type JsonObject, jsonEqual, member, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../select/label-selector.js';
import { DEFAULT_RBAC_RESOURCES, defaultEntries, readDefaultRoles } from './default-roles-file.js';
import { RBAC_GROUP, readRoleRef, rulesOf, writeRule } from './policy-rule.js';
import { uncoveredRules } from './rule-coverage.js';

const AUTOUPDATE = 'rbac.authorization.kubernetes.io/autoupdate';
const LABELS: JsonObject = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const ANNOTATIONS: JsonObject = { [AUTOUPDATE]: 'true' };
const KINDS = {
  clusterroles: 'ClusterRole',
  clusterrolebindings: 'ClusterRoleBinding',
  roles: 'Role',
  rolebindings: 'RoleBinding',
} as const;

/**
 * Returns the default roles and bindings of kube-apiserver 1.`minor`, in an order in which they can be
 * created. Aggregated roles (`admin`, `edit`, `view`) have the rules of the roles that they
 * aggregate, so that they work without the controller.
 */
export function defaultRbacObjects(minor: number): JsonObject[] {
  const entries = defaultEntries(readDefaultRoles(), minor);
  return fillAggregated(
    DEFAULT_RBAC_RESOURCES.flatMap((resource) => entries[resource].map((entry) => complete(KINDS[resource], entry))),
  );
}

function complete(kind: string, entry: JsonObject): JsonObject {
  const { name, namespace, labels: _, ...rest } = entry;
  const object: JsonObject = {
    apiVersion: `${RBAC_GROUP}/v1`,
    kind,
    metadata: {
      name: name!,
      ...(namespace === undefined ? {} : { namespace }),
      labels: { ...LABELS, ...child(entry, 'labels') },
      annotations: { ...ANNOTATIONS },
    },
    ...rest,
  };
  if (kind.endsWith('Role') && !Object.hasOwn(object, 'rules')) object.rules = [];
  return object;
}

/** Repeats until nothing changes: roles aggregate others (`admin` from `edit` from `view`). */
function fillAggregated(made: readonly JsonObject[]): JsonObject[] {
  let filled = [...made];
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
 * Returns the rules of an aggregated ClusterRole, in the order of kube-controller-manager's
 * controller; undefined for a role without an aggregation rule.
 */
export function aggregatedRules(role: JsonObject, allRoles: readonly JsonObject[]): JsonObject[] | undefined {
  const aggregation = child(role, 'aggregationRule');
  if (!aggregation) return undefined;
  const roleName = nameOf(role);
  const gathered: JsonObject[] = [];
  const others = allRoles.filter((each) => nameOf(each) !== roleName).sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
  for (const selector of objects(aggregation, 'clusterRoleSelectors')) {
    const matches = labelSelectorFromObject(selector as LabelSelectorObject);
    for (const other of others) {
      if (!matchesLabels(matches, objectMember(metadataOf(other), 'labels') as Record<string, string>)) continue;
      for (const rule of rulesOf(other).map(writeRule)) {
        if (!gathered.some((known) => jsonEqual(known, rule))) gathered.push(rule);
      }
    }
  }
  return gathered;
}

/**
 * Returns a default role with the missing rules of `wanted`; undefined for no change, also if
 * updates of the role are switched off. Additions stay. Rules of aggregated roles are left to the
 * aggregation.
 */
export function reconcileRole(live: JsonObject, wanted: JsonObject): JsonObject | undefined {
  if (isProtected(live)) return undefined;
  const role = withWantedMetadata(live, wanted);
  const isGathered = child(live, 'aggregationRule') && child(wanted, 'aggregationRule');
  const missing = isGathered ? [] : uncoveredRules(rulesOf(live), rulesOf(wanted));
  if (missing.length > 0) role.rules = [...list(live, 'rules'), ...missing.map(writeRule)];
  reconcileAggregation(role, wanted);
  return jsonEqual(role, live) ? undefined : role;
}

function reconcileAggregation(role: JsonObject, wanted: JsonObject): void {
  const wantedRule = child(wanted, 'aggregationRule');
  if (!wantedRule) {
    delete role.aggregationRule;
    return;
  }
  const present = objectMember(role, 'aggregationRule');
  const selectors = list(present, 'clusterRoleSelectors');
  const missing = list(wantedRule, 'clusterRoleSelectors').filter(
    (selector) => !selectors.some((known) => jsonEqual(known, selector)),
  );
  if (missing.length === 0) return;
  role.aggregationRule = { ...present, clusterRoleSelectors: [...selectors, ...missing] };
}

export type BindingChange =
  | { readonly action: 'update'; readonly object: JsonObject }
  /** The role differs. It is immutable, so the binding is deleted and created again. */
  | { readonly action: 'recreate'; readonly object: JsonObject };

/** Returns the change that adds missing subjects to a default binding; undefined for none. */
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
  return text(child(metadataOf(object), 'annotations'), AUTOUPDATE) === 'false';
}

/** Returns a copy with the wanted labels and annotations; present ones have precedence. */
function withWantedMetadata(live: JsonObject, wanted: JsonObject): JsonObject {
  const merged: JsonObject = { ...metadataOf(live) };
  for (const key of ['labels', 'annotations']) {
    const all = { ...child(metadataOf(wanted), key), ...child(metadataOf(live), key) };
    if (Object.keys(all).length > 0) merged[key] = all;
  }
  return { ...live, metadata: merged };
}

function list(object: JsonObject, key: string): Json[] {
  const value = member(object, key);
  return Array.isArray(value) ? value : [];
}
