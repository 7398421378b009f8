import { jsonEqual } from '../../../kube/json.js';
import type { AdmissionPlugin, AdmissionRequest } from '../admission.js';
import { byFailurePolicy, callWebhook } from './call-webhook.js';
import type { Invocation } from './invocation.js';
import { isExempt, matchWebhook } from './match-webhook.js';
import { decodePatch, patchObject } from './patch-object.js';
import { ReviewVersions } from './review-versions.js';
import { type Webhook, webhookSource } from './webhook.js';
import type { WebhookDeps } from './webhook-deps.js';
import { internalError, WebhookCallError } from './webhook-errors.js';

/**
 * Calls the mutating webhooks that match a change, one after the other, each with the object as the
 * ones before changed it. Webhooks with reinvocation policy `IfNeeded` are called again if the
 * object was changed after their call.
 */
export function mutatingWebhooks(deps: WebhookDeps): AdmissionPlugin {
  const webhooks = webhookSource(deps.objects, 'mutatingwebhookconfigurations', deps.compileMatchCondition);
  return {
    name: 'MutatingAdmissionWebhook',
    mutate(request) {
      const all = webhooks();
      if (all.length === 0 || isExempt(request)) return;
      return new MutatingRounds(deps, request).run(all);
    },
  };
}

class MutatingRounds {
  readonly #deps: WebhookDeps;
  readonly #request: AdmissionRequest;
  readonly #versions: ReviewVersions;
  /** Webhooks that were called, and are called again after another change. By uid. */
  #reinvocable = new Set<string>();
  readonly #askAgain = new Set<string>();
  #changed = false;

  constructor(deps: WebhookDeps, request: AdmissionRequest) {
    this.#deps = deps;
    this.#request = request;
    this.#versions = new ReviewVersions(request);
  }

  async run(webhooks: readonly Webhook[]): Promise<void> {
    for (const webhook of webhooks) await this.#ask(webhook);
    if (!this.#changed) return;
    const { reinvokeBuiltIns } = this.#deps;
    if (reinvokeBuiltIns) {
      // A copy, because plugins may change an object in place.
      const before = this.#request.object;
      if (before !== undefined) this.#request.object = structuredClone(before);
      await reinvokeBuiltIns(this.#request);
      if (!jsonEqual(before, this.#request.object)) this.#askEarlierOnesAgain();
    }
    if (this.#askAgain.size === 0) return;
    // One more round only: webhooks that undo each other's changes would never end.
    for (const webhook of webhooks) {
      if (this.#askAgain.has(webhook.uid)) await this.#ask(webhook);
    }
  }

  async #ask(webhook: Webhook): Promise<void> {
    const invocation = await matchWebhook(this.#deps, webhook, this.#request, this.#versions);
    if (!invocation) return;
    await byFailurePolicy(this.#deps, webhook, async () => {
      if (!(await this.#mutate(invocation))) return;
      this.#changed = true;
      this.#askEarlierOnesAgain();
    });
    if (webhook.reinvocationPolicy === 'IfNeeded') this.#reinvocable.add(webhook.uid);
  }

  /** Returns whether the webhook changed the object. */
  async #mutate(invocation: Invocation): Promise<boolean> {
    const { webhook, type } = invocation;
    const request = this.#request;
    const response = await callWebhook(this.#deps, { request, invocation, versions: this.#versions, mutating: true });
    if (response.patch === '') return false;
    const operations = decodePatch(webhook.name, response.patch);
    if (operations.length === 0) return false;
    const { object } = await this.#versions.in(type);
    if (object === null) {
      throw internalError(
        `admission webhook "${webhook.name}" attempted to modify the object, which is not supported for this operation`,
      );
    }
    if (response.patchType !== 'JSONPatch') {
      throw new WebhookCallError(webhook.name, `unsupported patch type ${JSON.stringify(response.patchType)}`);
    }
    const patched = patchObject(this.#deps, invocation, object, operations);
    if (jsonEqual(object, patched)) return false;
    const defaulted = invocation.kind.kind === type.kind ? type.strategy.setDefaults(patched) : patched;
    request.object = await this.#versions.back(defaulted, type);
    return true;
  }

  #askEarlierOnesAgain(): void {
    for (const uid of this.#reinvocable) this.#askAgain.add(uid);
    this.#reinvocable = new Set();
  }
}
