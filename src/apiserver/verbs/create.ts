import type { Reply } from '../../http/exchange.js';
import type { JsonObject } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { trackUpdateSteps } from '../apply/track-update.js';
import { demand } from '../authorization/demand.js';
import { generatedName, metadataForCreate, metadataProblems, withMetadata } from '../registry/metadata.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType } from '../registry/resource-type.js';
import { alreadyExists, storageFailure } from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import { createdView, ServedView } from '../watch/served-view.js';
import { admissionRequest } from './admission-request.js';
import { objectAnswer } from './answer.js';
import { type ApiCall, attributesOfCall, keyOf, strategyContext } from './api-call.js';
import { readObject } from './decode.js';
import { checkObjectSize } from './object-size.js';
import { optionsObject, type WriteOptions } from './options.js';
import { storedBytes } from './stored-bytes.js';
import { writerOf } from './writer.js';

/** Bound on generated names: after a name that exists, the next one is tried. */
const NAME_ATTEMPTS_MAX = 8;

export async function create(call: ApiCall): Promise<Reply> {
  const { slices, type } = call;
  const { sent, options } = await readObject(call, 'CreateOptions');
  const defaulted = type.strategy.setDefaults(withNamespace(call, sent));
  checkObjectSize(defaulted);
  const tracked = await slices.run(trackUpdateSteps(undefined, defaulted, writerOf(call, options)));
  return objectAnswer(call, 201, await createObject(call, tracked, options));
}

/** Stores a new object that has its defaults and its managed fields. */
export async function createObject(call: ApiCall, object: JsonObject, options: WriteOptions): Promise<ServedView> {
  const { type, machinery, slices } = call;
  const context = strategyContext(call);
  const request = admissionRequest(call, {
    operation: 'CREATE',
    name: nameOf(object),
    object,
    oldObject: undefined,
    options: optionsObject('CreateOptions', options),
    dryRun: options.dryRun,
  });
  if (slices.isOver) await slices.next();
  await machinery.admission.mutate(request);
  const admitted = type.strategy.setDefaults(request.object!);
  if (Number.parseInt(String(metadataOf(admitted)['resourceVersion'] ?? ''), 10) > 0) {
    throw new StatusError('', 'resourceVersion should not be set on objects to be created');
  }
  if (slices.isOver) await slices.next();
  const named = metadataForCreate(admitted, type, call.info.namespace, context.now);
  const prepared = type.strategy.prepareForCreate(named, context);
  checkObjectSize(prepared);
  if (slices.isOver) await slices.next();
  const name = nameOf(prepared);
  const problems = metadataProblems(prepared, type);
  if (slices.isOver) await slices.next();
  const steps = type.strategy.createProblemSteps?.(prepared);
  const found = steps ? await slices.run(steps) : type.strategy.validateCreate(prepared, context);
  refuseInvalid(type, name, [...problems, ...found]);
  for (const text of type.strategy.warnings?.(prepared, undefined) ?? []) call.warnings.add(text);
  request.object = prepared;
  request.name = name;
  demandCreateRight(call);
  await machinery.admission.validate(request);
  const isGenerated = (metadataOf(object)['name'] ?? '') === '';
  return store(call, prepared, options, isGenerated ? NAME_ATTEMPTS_MAX : 1);
}

/** Throws Forbidden for a PUT or an apply that creates an object if its user may only change objects. */
function demandCreateRight(call: ApiCall): void {
  if (call.info.verb === 'create') return;
  const { authorizer } = call.machinery;
  demand((right) => authorizer.authorize(right), [{ ...attributesOfCall(call), verb: 'create' }]);
}

async function store(
  call: ApiCall,
  prepared: JsonObject,
  { dryRun }: WriteOptions,
  attemptsMax: number,
): Promise<ServedView> {
  const { type, machinery } = call;
  let object = prepared;
  for (let attempt = 1; ; attempt++) {
    const name = nameOf(object);
    const key = keyOf(call, name);
    try {
      if (dryRun) {
        if (await machinery.backend.get(key)) throw alreadyExists(type, name);
        return new ServedView(object, 0, type);
      }
      if (call.slices.isOver) await call.slices.next();
      const encoded = await storedBytes(call, object);
      if (call.slices.isOver) await call.slices.next();
      const { modRevision } = await machinery.backend.create(key, encoded.bytes, type.storage);
      return createdView(object, encoded, modRevision, type);
    } catch (error) {
      if (!isStorageError(error, 'exists') || attempt >= attemptsMax) throw storageFailure(error, type, name);
      const metadata = metadataOf(object);
      object = withMetadata(object, { ...metadata, name: generatedName(String(metadata['generateName'])) });
    }
  }
}

/** Sets the namespace of the path. Throws BadRequest if the object names another one. */
export function withNamespace(
  { type, info }: Pick<ApiCall, 'info'> & { readonly type: Pick<ResourceType, 'namespaced'> },
  object: JsonObject,
): JsonObject {
  const metadata = metadataOf(object);
  const namespace = metadata['namespace'] ?? '';
  if (!type.namespaced) {
    if (namespace === '') return withMetadata(object, metadata);
    const { namespace: _, ...rest } = metadata;
    return withMetadata(object, rest);
  }
  if (namespace !== '' && namespace !== info.namespace) {
    throw new StatusError(
      'BadRequest',
      'the namespace of the provided object does not match the namespace sent on the request',
    );
  }
  return withMetadata(object, { ...metadata, namespace: info.namespace });
}
