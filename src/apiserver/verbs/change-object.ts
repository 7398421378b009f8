import { cloneJson, isObject, type JsonObject, jsonEqual } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import {
  finalizersOf,
  metadataForUpdate,
  metadataProblems,
  metadataUpdateProblems,
  withGeneration,
  withMetadata,
} from '../registry/metadata.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType } from '../registry/resource-type.js';
import {
  conflict,
  detailsOf,
  notFound,
  objectModified,
  qualifiedResource,
  storageFailure,
} from '../registry/storage-failure.js';
import type { PartStrategy } from '../registry/strategy.js';
import { isStorageError } from '../storage/storage-error.js';
import { ServedView, servedViews, shape } from '../watch/served-view.js';
import type { StoredObject } from '../watch/stored-object.js';
import { admissionRequest } from './admission-request.js';
import { type ApiCall, keyOf, strategyContext } from './api-call.js';
import { readNewest } from './get.js';
import { checkObjectSize } from './object-size.js';
import { unparsedVersion } from './resource-version.js';
import { storedBytes } from './stored-bytes.js';

/** A change of one object, however it was asked for: PUT, any kind of PATCH, a subresource. */
export interface Change {
  /** Empty for the object itself; otherwise the part that is written. */
  readonly subresource: string;
  /** How that part is written, where the kind's strategy does not say. */
  readonly part?: PartStrategy;
  /** What should be there instead, with managed fields. Called again when somebody else was faster. Must not change `live`. */
  wish(live: JsonObject): JsonObject | Promise<JsonObject>;
  /** Without an object: makes one, or undefined to answer NotFound. */
  create?(): Promise<ServedView>;
  /** UpdateOptions, for admission. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  /** The form in which admission sees the object where the subresource has a kind of its own: a Scale. */
  readonly admitted?: {
    show(object: JsonObject): JsonObject;
    /** `object` with the changes that admission made to the form. Throws StatusError. */
    merge(shown: JsonObject, object: JsonObject): JsonObject;
  };
  /** Admission has seen the request in another form: a Binding that was created. */
  readonly isAdmitted?: boolean;
  /** A PUT without resourceVersion is refused for some kinds. */
  readonly isReplacement?: boolean;
}

export interface Changed {
  readonly view: ServedView;
  readonly created: boolean;
}

/** A change that keeps losing against others is given up. */
const ATTEMPTS_MAX = 32;

export function changeObject(call: ApiCall, change: Change): Promise<Changed> {
  const key = keyOf(call);
  return call.machinery.turns.take(key, () => changeInTurn(call, change, key));
}

async function changeInTurn(call: ApiCall, change: Change, key: string): Promise<Changed> {
  const { type, info } = call;
  for (let attempt = 1; ; attempt++) {
    const stored = await readNewest(call, key);
    if (!stored) {
      if (!change.create) throw notFound(type, info.name);
      try {
        return { view: await change.create(), created: true };
      } catch (error) {
        // Somebody else made it in the meantime: then it is changed.
        const isThere = error instanceof StatusError && error.status.reason === 'AlreadyExists';
        if (!isThere || attempt >= ATTEMPTS_MAX) throw error;
        continue;
      }
    }
    try {
      return { view: await attemptChange(call, change, stored, key), created: false };
    } catch (error) {
      const isLost = isStorageError(error, 'conflict') || isStorageError(error, 'not-found');
      if (!isLost || attempt >= ATTEMPTS_MAX) throw storageFailure(error, type, info.name);
    }
  }
}

async function attemptChange(call: ApiCall, change: Change, stored: StoredObject, key: string): Promise<ServedView> {
  const { type, info, machinery } = call;
  const [liveView] = await servedViews([stored], type);
  const live = liveView!.object;
  const { slices } = call;
  if (slices.isOver) await slices.next();
  const wished = await change.wish(live);
  if (slices.isOver) await slices.next();
  checkIdentity(call, change, wished, live);
  const show = (object: JsonObject): JsonObject => change.admitted?.show(object) ?? object;
  const defaulted = type.strategy.setDefaults(cloneJson(wished));
  const request = admissionRequest(call, {
    operation: 'UPDATE',
    subresource: change.subresource,
    object: show(defaulted),
    oldObject: show(live),
    options: change.options,
    dryRun: change.dryRun,
  });
  if (slices.isOver) await slices.next();
  if (change.isAdmitted !== true) await machinery.admission.mutate(request);
  const mutated = change.admitted?.merge(request.object!, defaulted) ?? request.object!;
  checkVersion(call, change, mutated, live);
  const prepared = prepare(call, change, mutated, live);
  checkObjectSize(prepared);
  if (slices.isOver) await slices.next();
  await refuseProblems(call, change, prepared, live);
  request.object = show(prepared);
  if (slices.isOver) await slices.next();
  if (change.isAdmitted !== true) await machinery.admission.validate(request);
  if (jsonEqual(prepared, live)) return liveView!;
  if (isFinished(prepared)) return finish(call, change, prepared, stored, key);
  if (change.dryRun) return new ServedView(prepared, stored.revision, type);
  if (slices.isOver) await slices.next();
  const { bytes } = await storedBytes(call, prepared, stored);
  if (slices.isOver) await slices.next();
  if (bytes.equals(stored.value)) return liveView!;
  const ttl = type.storage.ttlSeconds;
  const { modRevision } = await machinery.backend
    .update(key, bytes, stored.revision, ttl === undefined ? {} : { ttlSeconds: ttl })
    .catch((error: unknown) => {
      throw isStorageError(error, 'conflict') || isStorageError(error, 'not-found')
        ? error
        : storageFailure(error, type, info.name);
    });
  return new ServedView(shape(prepared, modRevision, type), modRevision, type);
}

function prepare(call: ApiCall, change: Change, object: JsonObject, live: JsonObject): JsonObject {
  const { type } = call;
  const context = strategyContext(call);
  const part = partOf(call, change);
  const own = metadataForUpdate(type.strategy.setDefaults(object), live);
  const prepared = part
    ? part.prepareForUpdate(own, live, context)
    : type.strategy.prepareForUpdate(own, live, context);
  const metadata = { ...metadataOf(prepared), resourceVersion: metadataOf(live)['resourceVersion']! };
  return withGeneration(withMetadata(prepared, metadata), live, type);
}

async function refuseProblems(call: ApiCall, change: Change, prepared: JsonObject, live: JsonObject): Promise<void> {
  const { type, info, warnings, slices } = call;
  const context = strategyContext(call);
  const part = partOf(call, change);
  const rules = part ?? type.strategy;
  const steps = rules.updateProblemSteps?.(prepared, live);
  const own = steps ? await slices.run(steps) : rules.validateUpdate(prepared, live, context);
  if (slices.isOver) await slices.next();
  refuseInvalid(type, info.name, [
    ...metadataUpdateProblems(prepared, live),
    ...metadataProblems(prepared, type),
    ...own,
  ]);
  if (!part) for (const text of type.strategy.warnings?.(prepared, live) ?? []) warnings.add(text);
}

function partOf({ type }: ApiCall, { part, subresource }: Change): PartStrategy | undefined {
  return part ?? (subresource === '' ? undefined : type.strategy.parts.get(subresource));
}

/** Throws where another object is there than the client means. */
function checkIdentity(call: ApiCall, change: Change, wished: JsonObject, live: JsonObject): void {
  const { type, info } = call;
  const wanted = metadataOf(wished);
  const present = metadataOf(live);
  if ((wanted['name'] ?? '') !== '' && wanted['name'] !== info.name) {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${wanted['name']}) does not match the name on the URL (${info.name})`,
    );
  }
  if ((wanted['name'] ?? '') === '') {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  // Anybody else is told that it cannot be changed.
  const uid = change.isReplacement === true ? (wanted['uid'] ?? '') : '';
  if (uid !== '' && uid !== present['uid']) {
    throw conflict(
      type,
      info.name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${present['uid']}`,
    );
  }
}

/** Throws where the object has changed since the client read it. Mutating admission comes before, as in kube-apiserver. */
function checkVersion(call: ApiCall, change: Change, wished: JsonObject, live: JsonObject): void {
  const { type, info } = call;
  const version = metadataOf(wished)['resourceVersion'] ?? '';
  if (version === '' || version === '0') {
    if (change.isReplacement !== true || type.strategy.updatesUnconditionally) return;
    throw versionMissing(type, info.name);
  }
  if (!/^\d+$/.test(String(version))) throw new StatusError('', unparsedVersion(String(version)));
  if (version !== metadataOf(live)['resourceVersion']) throw objectModified(type, info.name);
}

/** The one Invalid that names the resource in place of the kind. */
function versionMissing(type: ResourceType, name: string): StatusError {
  const cause = {
    reason: 'FieldValueInvalid',
    field: 'metadata.resourceVersion',
    message: 'Invalid value: 0: must be specified for an update',
  };
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} is invalid: ${cause.field}: ${cause.message}`;
  return new StatusError('Invalid', message, { ...detailsOf(type, name), causes: [cause] });
}

/** Nothing holds an object any longer whose deletion was asked for before. */
function isFinished(object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object);
  if (deletionTimestamp === undefined || finalizersOf(object).length > 0) return false;
  const spec = object['spec'];
  const held =
    object['kind'] === 'Namespace' &&
    isObject(spec) &&
    Array.isArray(spec['finalizers']) &&
    spec['finalizers'].length > 0;
  return !held && (deletionGracePeriodSeconds ?? 0) === 0;
}

async function finish(
  call: ApiCall,
  change: Change,
  object: JsonObject,
  stored: StoredObject,
  key: string,
): Promise<ServedView> {
  const { type, machinery } = call;
  if (change.dryRun) return new ServedView(object, stored.revision, type);
  const { revision } = await machinery.backend.delete(key, stored.revision);
  return new ServedView(shape(object, revision, type), revision, type);
}
