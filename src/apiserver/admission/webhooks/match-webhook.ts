import { child } from '../../../kube/fields.js';
import type { JsonObject } from '../../../kube/json.js';
import { StatusError } from '../../../kube/status-error.js';
import { forbidden } from '../../authorization/forbidden.js';
import { type Labels, matchesLabels } from '../../select/label-selector.js';
import type { AdmissionRequest, AdmissionType } from '../admission.js';
import { reviewRequest } from './admission-review.js';
import { type Invocation, kindOf } from './invocation.js';
import type { ReviewVersions } from './review-versions.js';
import type { Webhook } from './webhook.js';
import type { WebhookDeps } from './webhook-deps.js';
import { internalError } from './webhook-errors.js';
import { ruleMatches } from './webhook-rules.js';

/** Never sent to webhooks: a broken webhook could refuse its own removal. */
const EXEMPT_KINDS: ReadonlySet<string> = new Set([
  'ValidatingWebhookConfiguration',
  'MutatingWebhookConfiguration',
  'ValidatingAdmissionPolicy',
  'ValidatingAdmissionPolicyBinding',
  'MutatingAdmissionPolicy',
  'MutatingAdmissionPolicyBinding',
]);

export function isExempt({ type, subresource }: AdmissionRequest): boolean {
  const kind = kindOf(type, subresource);
  return kind !== undefined && kind.group === 'admissionregistration.k8s.io' && EXEMPT_KINDS.has(kind.kind);
}

/**
 * Returns how a webhook is called for a request; undefined if it is not. A selector that cannot be
 * evaluated (a namespace that does not exist) is an error only for requests that match the rules.
 * Throws StatusError.
 */
export async function matchWebhook(
  deps: WebhookDeps,
  webhook: Webhook,
  request: AdmissionRequest,
  versions: ReviewVersions,
): Promise<Invocation | undefined> {
  const namespace = judged(() => namespaceMatches(deps, webhook, request));
  if (namespace === false) return undefined;
  const object = judged(() => objectMatches(webhook, request));
  if (object === false) return undefined;
  const invocation = matchRules(deps, webhook, request);
  if (invocation === undefined) return undefined;
  if (namespace instanceof StatusError) throw namespace;
  if (object instanceof StatusError) throw object;
  return (await conditionsHold(webhook, request, invocation, versions)) ? invocation : undefined;
}

function judged(judge: () => boolean): boolean | StatusError {
  try {
    return judge();
  } catch (error) {
    return error instanceof StatusError ? error : internalError((error as Error).message);
  }
}

function namespaceMatches(deps: WebhookDeps, webhook: Webhook, request: AdmissionRequest): boolean {
  const isNamespace = request.type.resource === 'namespaces';
  if (request.namespace === '' && !isNamespace) return true;
  const selector = webhook.namespaceSelector();
  if (selector.length === 0) return true;
  const changes = request.operation === 'CREATE' || request.operation === 'UPDATE';
  if (isNamespace && request.subresource === '' && changes) return matchesLabels(selector, labelsOf(request.object));
  const name = request.namespace === '' ? request.name : request.namespace;
  const namespace = deps.objects.get({ group: '', resource: 'namespaces' }, '', name);
  if (!namespace) throw new StatusError('NotFound', `namespaces "${name}" not found`, { name, kind: 'namespaces' });
  return matchesLabels(selector, labelsOf(namespace));
}

function objectMatches(webhook: Webhook, { object, oldObject }: AdmissionRequest): boolean {
  const selector = webhook.objectSelector();
  if (selector.length === 0) return true;
  return [object, oldObject].some((each) => each !== undefined && matchesLabels(selector, labelsOf(each)));
}

function labelsOf(object: JsonObject | undefined): Labels {
  return (child(child(object, 'metadata'), 'labels') ?? {}) as unknown as Labels;
}

function matchRules(deps: WebhookDeps, webhook: Webhook, request: AdmissionRequest): Invocation | undefined {
  const { type, subresource } = request;
  if (webhook.rules.some((rule) => ruleMatches(rule, { ...request, resource: type }))) {
    return { webhook, type, kind: kindOf(type, subresource) ?? { ...type } };
  }
  if (webhook.matchPolicy !== 'Equivalent') return undefined;
  const equivalents = deps
    .equivalentTypes(type)
    .filter((each) => !isSameVersion(each, type) && (subresource === '' || each.subresources.has(subresource)));
  for (const rule of webhook.rules) {
    for (const equivalent of equivalents) {
      if (!ruleMatches(rule, { ...request, resource: equivalent })) continue;
      return { webhook, type: equivalent, kind: kindOf(equivalent, subresource)! };
    }
  }
  return undefined;
}

function isSameVersion(left: AdmissionType, right: AdmissionType): boolean {
  return left.group === right.group && left.version === right.version && left.resource === right.resource;
}

async function conditionsHold(
  webhook: Webhook,
  request: AdmissionRequest,
  invocation: Invocation,
  versions: ReviewVersions,
): Promise<boolean> {
  if (webhook.matchConditions.length === 0) return true;
  const objects = await versions.in(invocation.type);
  const variables = { ...objects, request: reviewRequest(request, invocation), user: request.user };
  const problems: string[] = [];
  for (const condition of webhook.matchConditions) {
    try {
      if (!(await condition()(variables))) return false;
    } catch (error) {
      problems.push((error as Error).message);
    }
  }
  if (problems.length === 0) return true;
  if (webhook.failurePolicy === 'Ignore') return false;
  const different = [...new Set(problems)];
  const message = different.length === 1 ? different[0]! : `[${different.join(', ')}]`;
  throw forbidden(request.type, request.name, message);
}
