import { isObject, type JsonObject, jsonEqual } from '../../../kube/json.js';
import { EXTRA, splitServiceAccountUserName } from '../../authentication/service-account-user.js';
import { type Authorizer, type ResourceAttributes, resourceRight } from '../../authorization/authorizer.js';
import { forbiddenMessage } from '../../authorization/forbidden.js';
import { child, objects, text } from '../../builtin/fields.js';
import type { ObjectReader } from '../../contracts/object-reader.js';
import { refuseInvalid } from '../../registry/refuse-invalid.js';
import { forbiddenField } from '../../reviews/review.js';
import type { FieldProblem } from '../../schema/validate.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';

const GROUP = 'resource.k8s.io';
const ADMIN_LABEL = 'resource.kubernetes.io/admin-access';

interface ClaimRightsOptions {
  readonly authorizer: Authorizer;
  readonly objects: ObjectReader;
  /** Since 1.36 the parts of a claim's status need separate rights. */
  readonly isGranular: boolean;
}

/**
 * Refuses claims of devices with administrative access outside of namespaces that are labelled for
 * it, and changes of a claim's status without the right on the part that changes:
 * `resourceclaims/binding` for the allocation, and `resourceclaims/driver`, by the driver's name,
 * for the status of a device.
 */
export function claimRights(options: ClaimRightsOptions): AdmissionPlugin {
  return {
    name: 'ResourceClaimRights',
    validate: (request) => {
      const { type, object, operation, subresource } = request;
      if (type.group !== GROUP || object === undefined) return;
      const isStatus = type.resource === 'resourceclaims' && subresource === 'status' && operation === 'UPDATE';
      const isNew = subresource === '' && operation === 'CREATE';
      const problems = isStatus ? statusProblems(request, object, options) : [];
      if (isNew) problems.push(...adminProblems(request, requestedPath(type.resource, object), options.objects));
      refuseInvalid(type, request.name, problems);
    },
  };
}

/** Returns the path of the first request for administrative access in a claim or template. */
function requestedPath(resource: string, object: JsonObject): string | undefined {
  const isTemplate = resource === 'resourceclaimtemplates';
  if (!isTemplate && resource !== 'resourceclaims') return undefined;
  const spec = isTemplate ? child(child(object, 'spec'), 'spec') : child(object, 'spec');
  const requests = objects(child(spec, 'devices'), 'requests');
  // Versions before v1 have the field beside the request's name.
  const index = requests.findIndex((each) => (child(each, 'exactly') ?? each)['adminAccess'] === true);
  return index < 0 ? undefined : `spec.devices.requests[${index}].adminAccess`;
}

function adminProblems(
  { namespace }: AdmissionRequest,
  field: string | undefined,
  stored: ObjectReader,
): FieldProblem[] {
  if (field === undefined) return [];
  const found = stored.get({ group: '', resource: 'namespaces' }, '', namespace);
  const labels = child(child(found, 'metadata'), 'labels');
  if (labels?.[ADMIN_LABEL] === 'true') return [];
  const problem = `admin access to devices requires the \`${ADMIN_LABEL}: true\` label on the containing namespace`;
  return [forbiddenField(field, problem)];
}

function statusProblems(request: AdmissionRequest, object: JsonObject, options: ClaimRightsOptions): FieldProblem[] {
  const [status, before] = [child(object, 'status') ?? {}, child(request.oldObject, 'status') ?? {}];
  const grants = (of: JsonObject): number =>
    objects(child(child(of, 'allocation'), 'devices'), 'results').findIndex((each) => each['adminAccess'] === true);
  const index = grants(before) >= 0 ? -1 : grants(status);
  const field = index < 0 ? undefined : `status.allocation.devices.results[${index}].adminAccess`;
  const problems = adminProblems(request, field, options.objects);
  if (!options.isGranular) return problems;
  problems.push(...bindingProblems(request, status, before, options.authorizer));
  if (isObject(status['allocation'])) problems.push(...driverProblems(request, status, before, options.authorizer));
  return problems;
}

type StatusCheck = (
  request: AdmissionRequest,
  status: JsonObject,
  before: JsonObject,
  authorizer: Authorizer,
) => FieldProblem[];

const bindingProblems: StatusCheck = (request, status, before, authorizer) => {
  const same = (key: string): boolean => jsonEqual(status[key] ?? null, before[key] ?? null);
  if (same('allocation') && same('reservedFor')) return [];
  const refusal = refusalOf(authorizer, { ...rightOn(request, 'binding'), namespace: '', name: '' });
  if (refusal === undefined) return [];
  const needed = `resource="resourceclaims/binding", verb="${request.verb}" permission`;
  const problem = `changing status.allocation or status.reservedFor requires ${needed}: ${refusal}`;
  return [forbiddenField('status.allocation', problem)];
};

const driverProblems: StatusCheck = (request, status, before, authorizer) => {
  const prefixes = isOnAllocatedNode(request, status) ? ['associated-node', 'arbitrary-node'] : ['arbitrary-node'];
  const verbs = prefixes.map((prefix) => `${prefix}:${request.verb}`);
  return changedDrivers(status, before).flatMap((name) => {
    let first: string | undefined;
    for (const verb of verbs) {
      const refusal = refusalOf(authorizer, { ...rightOn(request, 'driver'), verb, name });
      if (refusal === undefined) return [];
      first ??= refusal;
    }
    const needed = `resource="resourceclaims/driver", verb="[${verbs.join(' ')}]" permission`;
    return [forbiddenField('status.devices', `changing status.devices requires ${needed}: ${first}`)];
  });
};

/** Returns the names of drivers whose entries were added, changed or removed. */
function changedDrivers(status: JsonObject, before: JsonObject): string[] {
  const keyOf = (each: JsonObject): string =>
    JSON.stringify(['driver', 'pool', 'device', 'shareID'].map((key) => text(each, key)));
  const old = new Map(objects(before, 'devices').map((each) => [keyOf(each), each]));
  const drivers = new Set<string>();
  for (const each of objects(status, 'devices')) {
    const known = old.get(keyOf(each));
    old.delete(keyOf(each));
    if (known === undefined || !jsonEqual(known, each)) drivers.add(text(each, 'driver'));
  }
  for (const each of old.values()) drivers.add(text(each, 'driver'));
  return [...drivers].sort();
}

/** Returns whether the user's token is bound to the only node of the claim's allocation. */
function isOnAllocatedNode({ user }: AdmissionRequest, status: JsonObject): boolean {
  const terms = objects(child(child(status, 'allocation'), 'nodeSelector'), 'nodeSelectorTerms');
  const [term] = terms;
  if (term === undefined || terms.length !== 1 || objects(term, 'matchExpressions').length > 0) return false;
  const fields = objects(term, 'matchFields');
  const [field] = fields;
  if (field === undefined || fields.length !== 1) return false;
  const nodes = user.extra.get(EXTRA.nodeName) ?? [];
  return (
    splitServiceAccountUserName(user.name) !== undefined &&
    nodes.length === 1 &&
    text(field, 'key') === 'metadata.name' &&
    text(field, 'operator') === 'In' &&
    jsonEqual(field['values'], [nodes[0]!])
  );
}

function rightOn({ user, verb, type, namespace, name }: AdmissionRequest, subresource: string): ResourceAttributes {
  const { group, version, resource } = type;
  return resourceRight(user, verb, { group, version, resource, subresource, namespace, name });
}

function refusalOf(authorizer: Authorizer, right: ResourceAttributes): string | undefined {
  const { allowed, reason } = authorizer.authorize(right);
  return allowed ? undefined : forbiddenMessage(right, reason);
}
