import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { callWebhook } from './call-webhook.js';
import type { Invocation } from './invocation.js';
import { isExempt, matchWebhook } from './match-webhook.js';
import { ReviewVersions } from './review-versions.js';
import { type Webhook, webhookSource } from './webhook.js';
import type { WebhookDeps } from './webhook-deps.js';
import { internalError, WebhookCallError } from './webhook-errors.js';

/** Asks every validating webhook that a change concerns, all at once; one refusal is enough. */
export function validatingWebhooks(deps: WebhookDeps): AdmissionPlugin {
  const webhooks = webhookSource(deps.objects, 'validatingwebhookconfigurations', deps.compileMatchCondition);
  return {
    name: 'ValidatingAdmissionWebhook',
    validate(request) {
      const all = webhooks();
      if (all.length === 0 || isExempt(request)) return;
      return askAll(deps, all, request);
    },
  };
}

async function askAll(deps: WebhookDeps, webhooks: readonly Webhook[], request: AdmissionRequest): Promise<void> {
  const versions = new ReviewVersions(request);
  const invocations: Invocation[] = [];
  for (const webhook of webhooks) {
    const invocation = await matchWebhook(deps, webhook, request, versions);
    if (!invocation) continue;
    await versions.in(invocation.type);
    invocations.push(invocation);
  }
  const outcomes = await Promise.allSettled(invocations.map((each) => ask(deps, request, each, versions)));
  // Of several refusals the first in order is told, so that the same request gets the same answer.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}

async function ask(
  deps: WebhookDeps,
  request: AdmissionRequest,
  invocation: Invocation,
  versions: ReviewVersions,
): Promise<void> {
  try {
    await callWebhook(deps, { request, invocation, versions, mutating: false });
  } catch (error) {
    if (!(error instanceof WebhookCallError)) throw error;
    if (invocation.webhook.failurePolicy !== 'Ignore') throw internalError(error.message);
    deps.logger.warn('a webhook failed and is passed over', { webhook: invocation.webhook.name, error: error.message });
  }
}
