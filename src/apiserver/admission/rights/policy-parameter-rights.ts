import { isObject, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { type Authorizer, type ResourceAttributes, resourceRight } from '../../authorization/authorizer.js';
import { child, text } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import { MASTERS_GROUP, type User } from '../../contracts/user.js';
import { refuseInvalid } from '../../registry/refuse-invalid.js';
import type { TypeRegistry } from '../../registry/type-registry.js';
import { forbiddenField } from '../../reviews/review.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';

const GROUP = 'admissionregistration.k8s.io';
const POLICIES: ReadonlySet<string> = new Set(['validatingadmissionpolicies', 'mutatingadmissionpolicies']);
/** Bindings, with the policies that they bind. */
const BINDINGS: ReadonlyMap<string, string> = new Map([
  ['validatingadmissionpolicybindings', 'validatingadmissionpolicies'],
  ['mutatingadmissionpolicybindings', 'mutatingadmissionpolicies'],
]);

interface PolicyParameterOptions {
  readonly authorizer: Authorizer;
  readonly objects: ObjectReader;
  readonly registry: TypeRegistry;
}

/**
 * Refuses admission policies with a parameter kind to a user who may not read all objects of that
 * kind, and bindings to a user who may not read the parameters: a policy shows its parameters in
 * its messages.
 */
export function policyParameterRights(options: PolicyParameterOptions): AdmissionPlugin {
  return {
    name: 'PolicyParameterRights',
    validate: (request) => {
      const { type, object, subresource, user } = request;
      if (type.group !== GROUP || object === undefined || subresource !== '') return;
      if (user.groups.includes(MASTERS_GROUP)) return;
      if (POLICIES.has(type.resource)) checkPolicy(request, object, options);
      const policies = BINDINGS.get(type.resource);
      if (policies !== undefined) checkBinding(request, object, { ...options, policies });
    },
  };
}

function checkPolicy(request: AdmissionRequest, object: JsonObject, options: PolicyParameterOptions): void {
  const paramKind = child(child(object, 'spec'), 'paramKind');
  const before = child(child(request.oldObject, 'spec'), 'paramKind');
  if (paramKind === undefined || (before !== undefined && jsonEqual(paramKind, before))) return;
  const right = { ...rightOn(paramKind, request.user, options.registry), verb: 'get', namespace: '*', name: '*' };
  if (options.authorizer.authorize(right).allowed) return;
  const { kind, apiVersion } = paramKind;
  const needed = `"get" permission on all objects of the referenced paramKind (kind=${kind}, apiVersion=${apiVersion})`;
  refuseInvalid(request.type, request.name, [
    forbiddenField('spec.paramKind', `user ${goUser(request.user)} must have ${needed}`),
  ]);
}

function checkBinding(
  request: AdmissionRequest,
  object: JsonObject,
  { authorizer, objects, registry, policies }: PolicyParameterOptions & { readonly policies: string },
): void {
  const spec = child(object, 'spec');
  const paramRef = child(spec, 'paramRef');
  const before = child(request.oldObject, 'spec');
  const isSame =
    isObject(before?.['paramRef']) &&
    jsonEqual(before['paramRef'], paramRef) &&
    text(before, 'policyName') === text(spec, 'policyName');
  if (paramRef === undefined || isSame) return;
  const policyName = text(spec, 'policyName');
  const policy = objects.get({ group: GROUP, resource: policies }, '', policyName);
  const paramKind = child(child(policy, 'spec'), 'paramKind');
  const name = text(paramRef, 'name');
  const verb = name === '' ? 'list' : 'get';
  const right = { ...rightOn(paramKind, request.user, registry), verb, namespace: text(paramRef, 'namespace'), name };
  if (authorizer.authorize(right).allowed) return;
  const user = goUser(request.user);
  const everywhere = `to determine minimum required permissions and user ${user} does not have "${verb}" permission for all groups, versions and resources`;
  const problem =
    policy === undefined
      ? `unable to get policy ${policyName} ${everywhere}`
      : paramKind !== undefined && right.resource === '*'
        ? `unable to resolve paramKind &{${text(paramKind, 'apiVersion')} ${text(paramKind, 'kind')}} ${everywhere}`
        : `user ${user} does not have "${verb}" permission on the object referenced by paramRef`;
  refuseInvalid(request.type, request.name, [forbiddenField('spec.paramRef', problem)]);
}

/** Returns the right on the resource of a kind; on all resources if the kind is unknown. */
function rightOn(paramKind: JsonObject | undefined, user: User, registry: TypeRegistry): ResourceAttributes {
  const apiVersion = text(paramKind, 'apiVersion');
  const any = resourceRight(user, '', { group: '*', resource: '*' });
  const parts = apiVersion.split('/');
  if (apiVersion === '' || parts.length > 2) return any;
  const [version, group = ''] = parts.reverse() as [string, string?];
  const found = registry.types.find(
    (each) => each.group === group && each.version === version && each.kind === text(paramKind, 'kind'),
  );
  return { ...any, group, version, resource: found?.resource ?? '*' };
}

/** Formats a user as Go's `%v` does. */
function goUser({ name, uid, groups, extra }: User): string {
  const pairs = [...extra].sort(([a], [b]) => (a < b ? -1 : 1)).map(([key, values]) => `${key}:[${values.join(' ')}]`);
  return `&{${name} ${uid} [${groups.join(' ')}] map[${pairs.join(' ')}]}`;
}
