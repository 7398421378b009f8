import type { Reply } from '../../http/exchange.js';
import { headerValue } from '../../http/headers.js';
import { isObject, type Json, type JsonObject, member } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { applyJsonPatch, parseJsonPatch } from '../patch/json-patch.js';
import { applyMergePatch } from '../patch/merge-patch.js';
import type { ResourceType, ScalePaths } from '../registry/resource-type.js';
import { conflict, notFound } from '../registry/storage-failure.js';
import { formatLabelSelector, type LabelSelectorObject, labelSelectorFromObject } from '../select/label-selector.js';
import { plainAnswer } from '../verbs/answer.js';
import { type ApiCall, keyOf } from '../verbs/api-call.js';
import { changeObject } from '../verbs/change-object.js';
import { bodyEncoding, parseDocument } from '../verbs/decode.js';
import { readNewest } from '../verbs/get.js';
import { optionsObject, writeOptions } from '../verbs/options.js';
import { readRequestBody } from '../verbs/read-body.js';
import { writerOf } from '../verbs/writer.js';
import { servedViews } from '../watch/served-view.js';
import { withScaleManagers } from './scale-managers.js';

const BUILT_IN_PATHS: ScalePaths = {
  specReplicas: 'spec.replicas',
  statusReplicas: 'status.replicas',
  labelSelector: 'spec.selector',
};

/** `autoscaling/v1` Scale of anything that has replicas. */
export async function scale(call: ApiCall): Promise<Reply> {
  if (call.info.verb === 'get') return getScale(call);
  if (call.info.verb === 'update' || call.info.verb === 'patch') return writeScale(call);
  throw new StatusError('MethodNotAllowed', 'the server does not allow this method on the requested resource');
}

async function getScale(call: ApiCall): Promise<Reply> {
  const stored = await readNewest(call, keyOf(call));
  if (!stored) throw notFound(call.type, call.info.name);
  const [view] = await servedViews([stored], call.type);
  return plainAnswer(call, 200, scaleOf(view!.object, call.type));
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

/** A selector as text: custom resources have it so, built-in kinds as an object or as plain labels. */
function selectorText(selector: Json | undefined): string {
  if (typeof selector === 'string') return selector;
  if (!isObject(selector)) return '';
  const isLabels = selector['matchLabels'] === undefined && selector['matchExpressions'] === undefined;
  const object = (isLabels ? { matchLabels: selector } : selector) as unknown as LabelSelectorObject;
  return formatLabelSelector(labelSelectorFromObject(object));
}

function patched(call: ApiCall, current: JsonObject, sent: Json): JsonObject {
  const type = (headerValue(call.exchange.headers, 'content-type') ?? '').split(';', 1)[0]!.trim();
  const result =
    type === 'application/json-patch+json'
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
  if ((wanted['name'] ?? info.name) !== info.name) {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${wanted['name']}) does not match the name on the URL (${info.name})`,
    );
  }
  const version = wanted['resourceVersion'] ?? '';
  if (version !== '' && version !== present['resourceVersion']) {
    throw conflict(
      type,
      info.name,
      'the object has been modified; please apply your changes to the latest version and try again',
    );
  }
}

function replicasOf({ info }: ApiCall, wished: JsonObject): number {
  const spec = wished['spec'];
  const replicas = isObject(spec) ? (spec['replicas'] ?? 0) : 0;
  if (typeof replicas === 'number' && Number.isInteger(replicas) && replicas >= 0 && replicas < 2 ** 31)
    return replicas;
  if (typeof replicas !== 'number' || !Number.isInteger(replicas)) {
    throw new StatusError(
      'BadRequest',
      `Scale in version "v1" cannot be handled as a Scale: json: cannot unmarshal ${typeof replicas} into Go struct field ScaleSpec.spec.replicas of type int32`,
    );
  }
  const cause = {
    reason: 'FieldValueInvalid',
    field: 'spec.replicas',
    message: `Invalid value: ${replicas}: must be greater than or equal to 0`,
  };
  throw new StatusError(
    'Invalid',
    `Scale.autoscaling ${JSON.stringify(info.name)} is invalid: ${cause.field}: ${cause.message}`,
    {
      name: info.name,
      group: 'autoscaling',
      kind: 'Scale',
      causes: [cause],
    },
  );
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
