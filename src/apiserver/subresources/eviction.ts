import { isObject, type JsonObject } from '../../api/json.js';
import { type LabelSelectorObject, labelSelectorFromObject, matchesLabels } from '../../api/label-selector.js';
import { metadataOf, nameOf } from '../../api/metadata-of.js';
import type { Reply } from '../../core/exchange.js';
import { StatusError } from '../../core/status-error.js';
import { servedViews } from '../registry/served-view.js';
import { plainAnswer } from '../verbs/answer.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { bodyEncoding, parseDocument } from '../verbs/decode.js';
import { deleteObject } from '../verbs/delete.js';
import { readNewest } from '../verbs/get.js';
import { readRequestBody } from '../verbs/read-body.js';
import { notFound } from '../verbs/storage-failure.js';

/** A deletion that respects disruption budgets. */
export async function evict(call: ApiCall): Promise<Reply> {
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
  if (nameOf(sent) !== '' && nameOf(sent) !== call.info.name) {
    throw new StatusError('BadRequest', 'name in URL does not match name in Eviction object');
  }
  const stored = await readNewest(call, keyOf(call));
  if (!stored) throw notFound(call.type, call.info.name);
  const [view] = await servedViews([stored], call.type);
  checkBudgets(call, view!.object);
  const wishes = isObject(sent['deleteOptions']) ? sent['deleteOptions'] : {};
  const grace = wishes['gracePeriodSeconds'];
  const dryRun = Array.isArray(wishes['dryRun']) && wishes['dryRun'].length > 0;
  await deleteObject(call, call.info.name, {
    gracePeriodSeconds: typeof grace === 'number' ? grace : undefined,
    propagationPolicy: undefined,
    preconditions: { uid: undefined, resourceVersion: undefined },
    dryRun: dryRun || call.query.has('dryRun'),
    object: { ...wishes, kind: 'DeleteOptions', apiVersion: 'meta.k8s.io/v1' },
  });
  return plainAnswer(call, 201, { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', code: 201 });
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
