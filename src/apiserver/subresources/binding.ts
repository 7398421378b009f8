import type { Exchange, Reply } from '../../http/exchange.js';
import { isObject, type JsonObject, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import { trackUpdate } from '../apply/track-update.js';
import { withMetadata } from '../registry/metadata.js';
import type { ResourceType } from '../registry/resource-type.js';
import { conflict } from '../registry/storage-failure.js';
import type { PartStrategy } from '../registry/strategy.js';
import { plainAnswer } from '../verbs/answer.js';
import type { ApiCall } from '../verbs/api-call.js';
import { changeObject } from '../verbs/change-object.js';
import { readDocument } from '../verbs/decode.js';
import { optionsObject, type WriteOptions, writeOptions } from '../verbs/options.js';
import { writerOf } from '../verbs/writer.js';
import { admitCreation, CREATED, type CreationCall } from './admit-creation.js';

/** POST of a Binding to a pod's subresource: a scheduler's decision on which node the pod is to run. */
export async function bind(call: ApiCall): Promise<Reply> {
  const options = writeOptions('CreateOptions', call.query);
  return bindPod(call, call, call.info.name, await readBinding(call.exchange), options);
}

/** POST of a Binding to the `bindings` resource; the Binding has the name of the pod. */
export async function bindByName(call: CreationCall, pods: ResourceType): Promise<Reply> {
  const options = writeOptions('CreateOptions', call.query);
  const binding = await readBinding(call.exchange);
  const name = nameOf(binding);
  const podCall = { ...call, type: pods, info: { ...call.info, resource: pods.resource, name } };
  return bindPod(call, podCall, name, binding, options);
}

async function readBinding(exchange: Exchange): Promise<JsonObject> {
  const sent = await readDocument(exchange);
  if (isObject(sent)) return { ...sent, apiVersion: 'v1', kind: 'Binding' };
  throw new StatusError('BadRequest', 'expected a Binding of v1');
}

async function bindPod(
  call: CreationCall,
  podCall: ApiCall,
  name: string,
  object: JsonObject,
  options: WriteOptions,
): Promise<Reply> {
  await admitCreation({ call, object, name, options }, async (binding, validate) => {
    if (nameOf(binding) !== name) {
      throw new StatusError('BadRequest', 'name in URL does not match name in Binding object');
    }
    const node = objectMember(binding, 'target')['name'];
    if (typeof node !== 'string' || node === '') throw new StatusError('', 'target.name: Required value');
    await validate(binding);
    await assignNode(podCall, binding, node, options);
  });
  return plainAnswer(call, 201, CREATED);
}

async function assignNode(call: ApiCall, binding: JsonObject, node: string, options: WriteOptions): Promise<void> {
  const writer = writerOf(call, options, 'binding');
  await changeObject(call, {
    subresource: 'binding',
    part: ANY_CHANGE,
    wish: (live) => trackUpdate(live, bound(call, live, binding, node), writer),
    options: optionsObject('CreateOptions', options),
    dryRun: options.dryRun,
    isAdmitted: true,
  });
}

/** No rules: the pod of a binding is made here, and the rules of pods would refuse it. */
const ANY_CHANGE: PartStrategy = { prepareForUpdate: (object) => object, validateUpdate: () => [], ignoredPaths: [] };

function bound(call: ApiCall, live: JsonObject, binding: JsonObject, node: string): JsonObject {
  const spec = objectMember(live, 'spec');
  const name = nameOf(live);
  const bindings = { ...call.type, resource: 'pods/binding' };
  if (metadataOf(live)['deletionTimestamp'] !== undefined)
    throw conflict(bindings, name, `pod ${name} is being deleted, cannot be assigned to a host`);
  if ((spec['nodeName'] ?? '') !== '')
    throw conflict(bindings, name, `pod ${name} is already assigned to node ${JSON.stringify(spec['nodeName'])}`);
  const status = objectMember(live, 'status');
  const others = (Array.isArray(status['conditions']) ? status['conditions'] : []).filter(
    (each) => !isObject(each) || each['type'] !== 'PodScheduled',
  );
  const now = timestamp(call.machinery.clock.nowMs());
  const condition = { type: 'PodScheduled', status: 'True', lastProbeTime: null, lastTransitionTime: now };
  const annotations = {
    ...objectMember(metadataOf(live), 'annotations'),
    ...objectMember(metadataOf(binding), 'annotations'),
  };
  const metadata = { ...metadataOf(live), ...(Object.keys(annotations).length === 0 ? {} : { annotations }) };
  return withMetadata(
    { ...live, spec: { ...spec, nodeName: node }, status: { ...status, conditions: [...others, condition] } },
    metadata,
  );
}
