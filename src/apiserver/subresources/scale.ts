import type { Reply } from '../../http/exchange.js';
import { isObject, type Json, type JsonObject, member, objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType, ScalePaths } from '../registry/resource-type.js';
import { objectModified, otherName } from '../registry/storage-failure.js';
import { invalid } from '../schema/field-problems.js';
import { formatLabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../select/label-selector.js';
import { plainAnswer } from '../verbs/answer.js';
import type { ApiCall } from '../verbs/api-call.js';
import { changeObject } from '../verbs/change-object.js';
import { bodyEncoding, mediaTypeOf, parseDocument } from '../verbs/decode.js';
import { readLive } from '../verbs/get.js';
import { optionsObject, writeOptions } from '../verbs/options.js';
import { readRequestBody } from '../verbs/read-body.js';
import { writerOf } from '../verbs/writer.js';
import { withScaleManagers } from './scale-managers.js';

const BUILT_IN_PATHS: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  labelSelector: 'spec.selector',
};

/** GET, PUT and PATCH of the `autoscaling/v1` Scale of an object. */
export async function scale(call: ApiCall): Promise<Reply> {
  if (call.info.verb !== 'get') return writeScale(call);
  return plainAnswer(call, 200, scaleOf((await readLive(call)).object, call.type));
}

async function writeScale(call: ApiCall): Promise<Reply> {
  const isPatch = call.info.verb === 'patch';
  const kind = isPatch ? 'PatchOptions' : 'UpdateOptions';
  const options = writeOptions(kind, call.query);
  const encoding = isPatch ? 'json' : bodyEncoding(call.exchange);
  const sent = parseDocument(await readRequestBody(call.exchange), encoding, "couldn't get version/kind");
  const writer = writerOf(call, options, 'scale');
  const { view } = await changeObject(call, {
    subresource: 'scale',
    wish(live) {
      const current = scaleOf(live, call.type);
      const wished = isPatch ? patched(call, current, sent) : replaced(sent);
      checkIdentity(call, wished, current);
      const replicas = replicasOf(call, wished);
      const path = replicasPath(call.type);
      const replicasBefore = Number(valueAt(live, path.join('.')) ?? 0);
      return withScaleManagers(live, withPath(live, path, replicas), { path, replicasBefore, replicas, writer });
    },
    admitted: {
      show: (object) => scaleOf(object, call.type),
      merge: (shown, object) => withPath(object, replicasPath(call.type), replicasOf(call, shown)),
    },
    options: optionsObject('UpdateOptions', options),
    dryRun: options.dryRun,
  });
  return plainAnswer(call, 200, scaleOf(view.object, call.type));
}

function pathsOf(type: ResourceType): ScalePaths {
  return type.subresources.get('scale')?.scalePaths ?? BUILT_IN_PATHS;
}

function replicasPath(type: ResourceType): string[] {
  return pathsOf(type)
    .specReplicas.split('.')
    .filter((part) => part !== '');
}

function scaleOf(object: JsonObject, type: ResourceType): JsonObject {
  const { name, namespace, uid, resourceVersion, creationTimestamp } = metadataOf(object);
  const paths = pathsOf(type);
  const selector = paths.labelSelector === undefined ? '' : selectorText(valueAt(object, paths.labelSelector));
  const replicas = valueAt(object, paths.specReplicas);
  return {
    kind: 'Scale',
    apiVersion: 'autoscaling/v1',
    metadata: JSON.parse(JSON.stringify({ name, namespace, uid, resourceVersion, creationTimestamp })) as JsonObject,
    spec: typeof replicas === 'number' && replicas !== 0 ? { replicas } : {},
    status: { replicas: Number(valueAt(object, paths.statusReplicas) ?? 0), ...(selector === '' ? {} : { selector }) },
  };
}

/** Returns a selector as text: a string in custom resources, an object or labels in built-in kinds. */
function selectorText(selector: Json | undefined): string {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return '';
  const isLabels = selector['matchLabels'] === undefined && selector['matchExpressions'] === undefined;
  const object = (isLabels ? { matchLabels: selector } : selector) as unknown as LabelSelectorObject;
  return formatLabelSelector(labelSelectorFromObject(object));
}

function patched(call: ApiCall, current: JsonObject, sent: Json): JsonObject {
  const result =
    mediaTypeOf(call.exchange) === 'application/json-patch+json'
      ? applyJsonPatch(current, parseJsonPatch(sent).operations)
      : applyMergePatch(current, sent);
  return replaced(result);
}

function replaced(sent: Json): JsonObject {
  if (isObject(sent) && (sent['kind'] ?? 'Scale') === 'Scale') return sent;
  throw new StatusError('BadRequest', 'expected a Scale of autoscaling/v1');
}

function checkIdentity({ type, info }: ApiCall, wished: JsonObject, current: JsonObject): void {
  const wanted = metadataOf(wished);
  const present = metadataOf(current);
  if ((wanted['name'] ?? info.name) !== info.name) throw otherName(wanted['name'], info.name);
  const version = wanted['resourceVersion'] ?? '';
  if (version !== '' && version !== present['resourceVersion']) throw objectModified(type, info.name);
}

function replicasOf({ info }: ApiCall, wished: JsonObject): number {
  const replicas = objectMember(wished, 'spec')['replicas'] ?? 0;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw new StatusError(
      'BadRequest',
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  if (replicas < 0 || replicas >= 2 ** 31) {
    const problem = invalid('spec.replicas', replicas, 'must be greater than or equal to 0');
    refuseInvalid({ group: 'autoscaling', kind: 'Scale' }, info.name, [problem]);
  }
  return replicas;
}

function valueAt(object: JsonObject, path: string): Json | undefined {
  let value: Json | undefined = object;
  for (const part of path.replace(/^\./, '').split('.')) value = isObject(value) ? member(value, part) : undefined;
  return value;
}

function withPath(object: JsonObject, path: readonly string[], value: Json): JsonObject {
  const [first, ...rest] = path;
  if (rest.length === 0) return { ...object, [first!]: value };
  const below = object[first!];
  return { ...object, [first!]: withPath(isObject(below) ? below : {}, rest, value) };
}
