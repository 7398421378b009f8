import { isSuccess } from '../../kube/client/api-client.js';
import { resourceName } from '../../kube/gvr.js';
import type { JsonObject } from '../../kube/json.js';
import { pathOf, type ResourceKind } from '../../kube/resource-kind.js';
import { type Api, messageOf } from './api-connection.js';
import { type Candidate, type Choice, checkUses, notesOf, usesOf } from './choice.js';
import type { DifferenceUse } from './rehearsal-result.js';
import { type Skew, type SkewedSubresource, skewedObject } from './skew.js';

/** What a half exercises, after a server of the newer version accepted an object of each. */
export interface Plan {
  readonly resources: readonly Skew[];
  readonly subresources: readonly SkewedSubresource[];
  readonly uses: readonly DifferenceUse[];
  readonly notes: readonly string[];
}

export interface PlanSurroundings {
  /** A server of the newer version. */
  readonly api: Api;
  readonly namespace: string;
  /** What to do if nothing can be exercised. */
  readonly advice: string;
}

/** The name of objects that are never stored. */
const DRY_RUN = 'rehearsal-dry-run';

/**
 * Has the server judge an object of each candidate, without storing it. A candidate of which it accepts none is not
 * exercised, and the reason is its reply. Rejects with a message for the user if nothing is left.
 */
export async function planOf(choice: Choice, within: PlanSurroundings): Promise<Plan> {
  const accepted = new Map<string, JsonObject | string>();
  for (const { difference, templates, reason } of choice.candidates) {
    const { kind } = difference;
    if (reason === undefined && !accepted.has(kind.key))
      accepted.set(kind.key, await firstAccepted(kind, templates, within));
  }
  const candidates = choice.candidates.map((candidate): Candidate => {
    const refusal = accepted.get(candidate.difference.kind.key);
    if (candidate.reason !== undefined || typeof refusal !== 'string') return candidate;
    return { ...candidate, reason: `${choice.to} refuses an object of it (${refusal}); put one into --manifests` };
  });
  const uses = usesOf({ ...choice, candidates });
  checkUses(choice, uses, within.advice);
  const skews = candidates
    .filter(({ reason }) => reason === undefined)
    .map(({ difference: { kind, subresource, verbs } }) => {
      const template = accepted.get(kind.key) as JsonObject;
      return { kind, name: resourceName(kind), template, subresource, verbs };
    });
  return {
    resources: skews.filter(({ subresource }) => subresource === ''),
    subresources: skews.filter(({ subresource }) => subresource !== ''),
    uses,
    notes: notesOf(choice, uses),
  };
}

/** Resolves with the template that the server accepts, or with its last refusal. */
async function firstAccepted(
  kind: ResourceKind,
  templates: readonly JsonObject[],
  { api, namespace }: PlanSurroundings,
): Promise<JsonObject | string> {
  let refusal = '';
  for (const template of templates) {
    const body = skewedObject({ kind, name: '', template }, { name: DRY_RUN });
    const target = `${pathOf(kind, namespace)}?dryRun=All`;
    const answer = await api.request({ method: 'POST', target, body });
    if (isSuccess(answer)) return template;
    refusal = `${answer.status} ${messageOf(answer.body)}`.trim();
  }
  return refusal;
}
