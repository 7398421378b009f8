import type { Reply } from '../../http/exchange.js';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../select/label-selector.js';
import { plainAnswer } from '../verbs/answer.js';
import type { ApiCall } from '../verbs/api-call.js';
import { readDocument } from '../verbs/decode.js';
import { deleteObject } from '../verbs/delete.js';
import { type DeleteOptions, readDeleteOptions } from '../verbs/delete-options.js';
import { readLive } from '../verbs/get.js';
import { type WriteOptions, writeOptions } from '../verbs/options.js';
import { admitCreation, CREATED } from './admit-creation.js';

/** A deletion that respects disruption budgets. */
export async function evict(call: ApiCall): Promise<Reply> {
  const options = writeOptions('CreateOptions', call.query);
  const sent = await readDocument(call.exchange);
  if (!isObject(sent)) throw new StatusError('BadRequest', 'expected an Eviction of policy/v1');
  if ((sent['kind'] ?? 'Eviction') !== 'Eviction') {
    const why = `converting (${sent['kind']}) to (policy.Eviction): unknown conversion`;
    throw new StatusError('BadRequest', `${sent['kind']} cannot be handled as a Eviction: ${why}`);
  }
  const object = { ...sent, apiVersion: 'policy/v1', kind: 'Eviction' };
  await admitCreation({ call, object, name: call.info.name, options }, async (eviction, validate) => {
    if (nameOf(eviction) !== call.info.name) {
      throw new StatusError('BadRequest', 'name in URL does not match name in Eviction object');
    }
    const deletion = deletionOf(eviction, options);
    const hasOptions = isObject(eviction['deleteOptions']);
    await validate(hasOptions ? { ...eviction, deleteOptions: deletion.document } : eviction);
    await evictPod(call, deletion.options);
  });
  return plainAnswer(call, 201, CREATED);
}

/** Returns the deletion of an eviction. A dry run of either is one of both. */
function deletionOf(
  eviction: JsonObject,
  { dryRun }: WriteOptions,
): { readonly document: JsonObject; readonly options: DeleteOptions } {
  const { kind: _, apiVersion: __, ...wishes } = objectMember(eviction, 'deleteOptions');
  const isDry = Array.isArray(wishes['dryRun']) && wishes['dryRun'].length > 0;
  const document = dryRun && !isDry ? { ...wishes, dryRun: ['All'] } : wishes;
  return { document, options: { ...readDeleteOptions(document), isAdmitted: true } };
}

async function evictPod(call: ApiCall, options: DeleteOptions): Promise<void> {
  const { object } = await readLive(call);
  checkBudgets(call, object);
  checkUid(object, options);
  await deleteObject(call, call.info.name, options);
}

function checkUid(pod: JsonObject, { preconditions: { uid }, dryRun }: DeleteOptions): void {
  const present = metadataOf(pod)['uid'];
  if (dryRun || uid === undefined || uid === '' || uid === present) return;
  const name = nameOf(pod);
  const why = `the UID in the precondition (${uid}) does not match the UID in record (${present}). The object might have been deleted and then recreated`;
  const message = `Operation cannot be fulfilled on Pod ${JSON.stringify(name)}: ${why}`;
  throw new StatusError('Conflict', message, { name, kind: 'Pod' });
}

function checkBudgets({ machinery, info }: ApiCall, pod: JsonObject): void {
  const { phase } = objectMember(pod, 'status');
  if (phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending') return;
  const labels = metadataOf(pod)['labels'] as Record<string, string> | undefined;
  const budgets = machinery.caches.list({ group: 'policy', resource: 'poddisruptionbudgets' }, info.namespace);
  for (const budget of budgets) {
    const { selector } = objectMember(budget, 'spec');
    if (!isObject(selector)) continue;
    if (!matchesLabels(labelSelectorFromObject(selector as unknown as LabelSelectorObject), labels)) continue;
    const { disruptionsAllowed, desiredHealthy, currentHealthy } = objectMember(budget, 'status');
    if (Number(disruptionsAllowed ?? 0) > 0) continue;
    const message = `The disruption budget ${nameOf(budget)} needs ${desiredHealthy ?? 0} healthy pods and has ${currentHealthy ?? 0} currently`;
    throw new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [{ reason: 'DisruptionBudget', message }],
    });
  }
}
