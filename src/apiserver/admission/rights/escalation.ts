import { child, text } from '../../../kube/fields.js';
import { isObject, type Json, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import { type Authorizer, resourceRight } from '../../authorization/authorizer.js';
import { forbidden } from '../../authorization/forbidden.js';
import {
  type PolicyRule,
  RBAC_GROUP,
  type RoleRef,
  readRoleRef,
  rulesOf,
  ruleText,
} from '../../authorization/policy-rule.js';
import { type HeldRules, missingText, type RbacAuthorizer } from '../../authorization/rbac.js';
import { joinVerbs, partCount, uncoveredRules } from '../../authorization/rule-coverage.js';
import { MASTERS_GROUP, type User } from '../../contracts/user.js';
import { goQuote, goQuoteList } from '../../values/go-quote.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';

/** Bound on combinations of verbs, resources and names in a role, for the event loop's sake. */
const RULE_PARTS_MAX = 50_000;

/** All rights, which an aggregation rule needs: it can gather any role. */
const FULL_AUTHORITY: readonly PolicyRule[] = [
  { verbs: ['*'], apiGroups: ['*'], resources: ['*'], resourceNames: [], nonResourceURLs: [] },
  { verbs: ['*'], apiGroups: [], resources: [], resourceNames: [], nonResourceURLs: ['*'] },
];

/**
 * Returns why a user with the rules `held` may not grant `wanted`, in kube-apiserver's words;
 * undefined if allowed. `resource` is the one that is written.
 */
export function escalationProblem(
  user: User,
  held: HeldRules,
  wanted: readonly PolicyRule[],
  resource: string,
): string | undefined {
  const who = `user ${goQuote(user.name)} (groups=${goQuoteList(user.groups)})`;
  const parts = partCount(wanted);
  if (parts > RULE_PARTS_MAX) {
    return `${who} is attempting to grant RBAC permissions in ${parts} combinations, more than the ${RULE_PARTS_MAX} that are looked at`;
  }
  const missing = uncoveredRules(held.rules, wanted);
  if (missing.length === 0) return undefined;
  const texts = [...new Set(joinVerbs(missing).map(ruleText))].sort();
  const unresolved =
    held.missingRoles.length === 0 ? '' : `; resolution errors: [${missingText(held.missingRoles, resource)}]`;
  return `${who} is attempting to grant RBAC permissions not currently held:\n${texts.join('\n')}${unresolved}`;
}

/**
 * Refuses writing or binding a role with rights that the user does not have, unless the user may
 * `escalate` or `bind` it. `rbac` has the rules of a user; `authorizer` (the same, or a union with
 * it) decides about the two verbs.
 */
export function rbacEscalationPlugin(rbac: RbacAuthorizer, authorizer: Authorizer = rbac): AdmissionPlugin {
  return {
    name: 'RBACEscalation',
    validate(request) {
      const { type, object, user } = request;
      if (type.group !== RBAC_GROUP || !object || request.subresource !== '') return;
      if (request.operation !== 'CREATE' && request.operation !== 'UPDATE') return;
      if (user.groups.includes(MASTERS_GROUP)) return;
      if (isRole(type.resource)) checkRole(request, object, rbac, authorizer);
      else if (isBinding(type.resource)) checkBinding(request, object, rbac, authorizer);
    },
  };
}

const isRole = (resource: string): boolean => resource === 'roles' || resource === 'clusterroles';
const isBinding = (resource: string): boolean => resource === 'rolebindings' || resource === 'clusterrolebindings';

function checkRole(request: AdmissionRequest, role: JsonObject, rbac: RbacAuthorizer, authorizer: Authorizer): void {
  const { user, namespace, oldObject } = request;
  if (oldObject && onlyCollectorFieldsDiffer(role, oldObject)) return;
  const what = { group: RBAC_GROUP, resource: request.type.resource };
  // A POST names no object in its path, so a right to escalate by name never covers it.
  const right = resourceRight(user, 'escalate', { ...what, namespace, name: request.pathName });
  if (authorizer.authorize(right).allowed) return;
  const held = rbac.rulesFor(user, namespace);
  const problem = escalationProblem(user, held, rulesOf(role), what.resource);
  if (problem) throw forbidden(what, nameOf(request), problem);
  const aggregates = hasAggregationRule(role) || (oldObject !== undefined && hasAggregationRule(oldObject));
  if (aggregates && escalationProblem(user, held, FULL_AUTHORITY, what.resource)) {
    throw forbidden(what, nameOf(request), 'must have cluster-admin privileges to use the aggregationRule');
  }
}

function checkBinding(
  request: AdmissionRequest,
  binding: JsonObject,
  rbac: RbacAuthorizer,
  authorizer: Authorizer,
): void {
  const { user, namespace, oldObject } = request;
  if (oldObject && onlyCollectorFieldsDiffer(binding, oldObject)) return;
  const ref = readRoleRef(binding);
  if (mayBind(user, ref, namespace, authorizer)) return;
  const rules = rbac.roleRules(ref, namespace);
  const { resource } = request.type;
  if (!rules) throw roleNotFound(ref, resource);
  const problem = escalationProblem(user, rbac.rulesFor(user, namespace), rules, resource);
  if (problem) throw forbidden({ group: RBAC_GROUP, resource }, nameOf(request), problem);
}

function mayBind(user: User, ref: RoleRef, namespace: string, authorizer: Authorizer): boolean {
  if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') return false;
  const resource = ref.kind === 'Role' ? 'roles' : 'clusterroles';
  const { apiGroup: group, name } = ref;
  return authorizer.authorize(resourceRight(user, 'bind', { group, resource, namespace, name })).allowed;
}

function roleNotFound(ref: RoleRef, resource: string): StatusError {
  const message = missingText([ref], resource);
  if (ref.kind !== 'Role' && ref.kind !== 'ClusterRole') {
    return new StatusError('InternalError', `Internal error occurred: ${message}`);
  }
  return new StatusError('NotFound', message, { name: ref.name, group: RBAC_GROUP, kind: resource });
}

function nameOf(request: AdmissionRequest): string {
  return text(child(request.object, 'metadata'), 'name') || request.name;
}

function hasAggregationRule(role: JsonObject): boolean {
  const selectors = child(role, 'aggregationRule')?.['clusterRoleSelectors'];
  return Array.isArray(selectors) && selectors.length > 0;
}

/** Fields that a garbage collector changes; it need not have the rights of the role. */
const COLLECTOR_FIELDS: ReadonlySet<string> = new Set(['ownerReferences', 'finalizers', 'selfLink', 'managedFields']);

/** Returns whether an update changes at most the fields of a garbage collector. */
export function onlyCollectorFieldsDiffer(object: JsonObject, old: JsonObject): boolean {
  return jsonEqual(withoutEmpty(strip(object)), withoutEmpty(strip(old)));
}

function strip(object: JsonObject): JsonObject {
  const metadata = child(object, 'metadata');
  if (!metadata) return object;
  const kept = Object.entries(metadata).filter(([key]) => !COLLECTOR_FIELDS.has(key));
  return { ...object, metadata: Object.fromEntries(kept) };
}

/** Removes empty values, which are the same as missing ones to kube-apiserver. */
function withoutEmpty(value: Json): Json | undefined {
  if (value === null) return undefined;
  if (Array.isArray(value)) return value.length > 0 ? value : undefined;
  if (!isObject(value)) return value;
  const kept = Object.entries(value).flatMap(([key, item]) => {
    const left = withoutEmpty(item);
    return left === undefined ? [] : [[key, left] as const];
  });
  return kept.length > 0 ? Object.fromEntries(kept) : undefined;
}
