import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { byFailurePolicy, callWebhook } from './call-webhook.js';
import type { Invocation } from './invocation.js';
import { isExempt, matchWebhook } from './match-webhook.js';
import { ReviewVersions } from './review-versions.js';
import { type Webhook, webhookSource } from './webhook.js';
import type { WebhookDeps } from './webhook-deps.js';

/** Calls all validating webhooks that match a change at once; one refusal is enough. */
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
  const outcomes = await Promise.allSettled(
    invocations.map((invocation) =>
      byFailurePolicy(deps, invocation.webhook, async () => {
        await callWebhook(deps, { request, invocation, versions, mutating: false });
      }),
    ),
  );
  // The first refusal in order, so that the same request gets the same answer.
  for (const outcome of outcomes) if (outcome.status === 'rejected') throw outcome.reason;
}
