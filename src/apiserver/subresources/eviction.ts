import type { Reply } from '../../http/exchange.js';
import { isObject, type JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { notFound } from '../registry/storage-failure.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../select/label-selector.js';
import { plainAnswer } from '../verbs/answer.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { bodyEncoding, parseDocument } from '../verbs/decode.js';
import { deleteObject } from '../verbs/delete.js';
import { type DeleteOptions, readDeleteOptions } from '../verbs/delete-options.js';
import { readNewest } from '../verbs/get.js';
import { type WriteOptions, writeOptions } from '../verbs/options.js';
import { readRequestBody } from '../verbs/read-body.js';
import { servedViews } from '../watch/served-view.js';
import { admitCreation } from './admit-creation.js';

/** A deletion that respects disruption budgets. */
export async function evict(call: ApiCall): Promise<Reply> {
  const options = writeOptions('CreateOptions', call.query);
  const sent = parseDocument(
    await readRequestBody(call.exchange),
    bodyEncoding(call.exchange),
    "couldn't get version/kind",
  );
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
  return plainAnswer(call, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
}

/** The deletion that an eviction asks for; a dry run in either place counts for both. */
function deletionOf(
  eviction: JsonObject,
  { dryRun }: WriteOptions,
): { readonly document: JsonObject; readonly options: DeleteOptions } {
  const { kind: _, apiVersion: __, ...wishes } = isObject(eviction['deleteOptions']) ? eviction['deleteOptions'] : {};
  const isDry = Array.isArray(wishes['dryRun']) && wishes['dryRun'].length > 0;
  const document = dryRun && !isDry ? { ...wishes, dryRun: ['All'] } : wishes;
  return { document, options: { ...readDeleteOptions(document), isAdmitted: true } };
}

async function evictPod(call: ApiCall, options: DeleteOptions): Promise<void> {
  const stored = await readNewest(call, keyOf(call));
  if (!stored) throw notFound(call.type, call.info.name);
  const [view] = await servedViews([stored], call.type);
  checkBudgets(call, view!.object);
  checkUid(view!.object, options);
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
  const phase = isObject(pod['status']) ? pod['status']['phase'] : undefined;
  if (phase === 'Succeeded' || phase === 'Failed' || phase === 'Pending') return;
  const labels = metadataOf(pod)['labels'] as Record<string, string> | undefined;
  const budgets = machinery.caches.list({ group: 'policy', resource: 'poddisruptionbudgets' }, info.namespace);
  for (const budget of budgets) {
    const selector = isObject(budget['spec']) ? budget['spec']['selector'] : undefined;
    if (!isObject(selector)) continue;
    if (!matchesLabels(labelSelectorFromObject(selector as unknown as LabelSelectorObject), labels)) continue;
    const status = isObject(budget['status']) ? budget['status'] : {};
    if (Number(status['disruptionsAllowed'] ?? 0) > 0) continue;
    throw new StatusError('TooManyRequests', "Cannot evict pod as it would violate the pod's disruption budget.", {
      causes: [
        {
          reason: 'DisruptionBudget',
          message: `The disruption budget ${nameOf(budget)} needs ${status['desiredHealthy'] ?? 0} healthy pods and has ${status['currentHealthy'] ?? 0} currently`,
        },
      ],
    });
  }
}
