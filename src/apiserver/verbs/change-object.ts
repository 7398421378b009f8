import { cloneJson, type JsonObject, jsonEqual } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import {
  finalizersOf,
  isHeldNamespace,
  metadataForUpdate,
  metadataProblems,
  metadataUpdateProblems,
  withGeneration,
  withMetadata,
} from '../registry/metadata.js';
import { refuseInvalid } from '../registry/refuse-invalid.js';
import type { ResourceType } from '../registry/resource-type.js';
import {
  detailsOf,
  notFound,
  objectModified,
  otherName,
  preconditionFailed,
  qualifiedResource,
  storageFailure,
} from '../registry/storage-failure.js';
import type { PartStrategy } from '../registry/strategy.js';
import { invalid } from '../schema/field-problems.js';
import { isStorageError } from '../storage/storage-error.js';
import { ServedView, servedViews, viewOf } from '../watch/served-view.js';
import type { StoredObject } from '../watch/stored-object.js';
import { admissionRequest } from './admission-request.js';
import { type ApiCall, keyOf, strategyContext } from './api-call.js';
import { readNewest } from './get.js';
import { checkObjectSize } from './object-size.js';
import { unparsedVersion } from './resource-version.js';
import { storedBytes } from './stored-bytes.js';

/** A change of one object by a PUT, a PATCH or a subresource. */
export interface Change {
  /** Empty for the object itself. */
  readonly subresource: string;
  /** The rules of the subresource, if the kind's strategy has none. */
  readonly part?: PartStrategy;
  /** Returns the wanted object with managed fields. Called again after a conflict. Must not change `live`. */
  wish(live: JsonObject): JsonObject | Promise<JsonObject>;
  /** Creates the object if it does not exist. Without this method the reply is NotFound. */
  create?(): Promise<ServedView>;
  /** UpdateOptions, for admission. */
  readonly options: JsonObject;
  readonly dryRun: boolean;
  /** The form in which admission sees the object if the subresource has another kind: a Scale. */
  readonly admitted?: {
    show(object: JsonObject): JsonObject;
    /** Returns `object` with the changes that admission made to the form. Throws StatusError. */
    merge(shown: JsonObject, object: JsonObject): JsonObject;
  };
  /** Admission has taken place for another object: a Binding. */
  readonly isAdmitted?: boolean;
  /** True for a PUT, which some kinds refuse without a resourceVersion. */
  readonly isReplacement?: boolean;
}

export interface Changed {
  readonly view: ServedView;
  readonly created: boolean;
}

/** Bound on attempts after conflicts with other changes. */
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
        // Created by another request in the meantime: the next attempt changes it.
        const exists = error instanceof StatusError && error.status.reason === 'AlreadyExists';
        if (!exists || attempt >= ATTEMPTS_MAX) throw error;
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
  const { type, machinery, slices } = call;
  const [liveView] = await servedViews([stored], type);
  const live = liveView!.object;
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
  if (change.dryRun) return new ServedView(prepared, stored.revision, type);
  if (isFinished(type, prepared)) {
    const { revision } = await machinery.backend.delete(key, stored.revision);
    return viewOf(prepared, revision, type);
  }
  if (slices.isOver) await slices.next();
  const { bytes } = await storedBytes(call, prepared, stored);
  if (slices.isOver) await slices.next();
  if (bytes.equals(stored.value)) return liveView!;
  const { modRevision } = await machinery.backend.update(key, bytes, stored.revision, type.storage);
  return viewOf(prepared, modRevision, type);
}

function prepare(call: ApiCall, change: Change, object: JsonObject, live: JsonObject): JsonObject {
  const { type } = call;
  const rules = partOf(call, change) ?? type.strategy;
  const defaulted = metadataForUpdate(type.strategy.setDefaults(object), live);
  const prepared = rules.prepareForUpdate(defaulted, live, strategyContext(call));
  const metadata = { ...metadataOf(prepared), resourceVersion: metadataOf(live)['resourceVersion']! };
  return withGeneration(withMetadata(prepared, metadata), live, type);
}

async function refuseProblems(call: ApiCall, change: Change, prepared: JsonObject, live: JsonObject): Promise<void> {
  const { type, info, warnings, slices } = call;
  const part = partOf(call, change);
  const rules = part ?? type.strategy;
  const steps = rules.updateProblemSteps?.(prepared, live);
  const found = steps ? await slices.run(steps) : rules.validateUpdate(prepared, live, strategyContext(call));
  if (slices.isOver) await slices.next();
  refuseInvalid(type, info.name, [
    ...metadataUpdateProblems(prepared, live),
    ...metadataProblems(prepared, type),
    ...found,
  ]);
  if (!part) for (const text of type.strategy.warnings?.(prepared, live) ?? []) warnings.add(text);
}

function partOf({ type }: ApiCall, { part, subresource }: Change): PartStrategy | undefined {
  return part ?? (subresource === '' ? undefined : type.strategy.parts.get(subresource));
}

/** Throws if the live object is not the one that the client means. */
function checkIdentity(call: ApiCall, change: Change, wished: JsonObject, live: JsonObject): void {
  const { type, info } = call;
  const wanted = metadataOf(wished);
  const present = metadataOf(live);
  if ((wanted['name'] ?? '') === '') {
    throw new StatusError(
      'BadRequest',
      `the name of the object (${info.name} based on URL) was undeterminable: name must be provided`,
    );
  }
  if (wanted['name'] !== info.name) throw otherName(wanted['name'], info.name);
  // The UID is a precondition of a PUT only; for a PATCH it is validated as an immutable field.
  const uid = change.isReplacement === true ? (wanted['uid'] ?? '') : '';
  if (uid !== '' && uid !== present['uid']) {
    throw preconditionFailed(type, info.name, 'UID', { wanted: uid, present: present['uid'] });
  }
}

/** Throws if the object has changed since the client read it. Runs after mutating admission, as in kube-apiserver. */
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

/** The only Invalid reply that names the resource instead of the kind. */
function versionMissing(type: ResourceType, name: string): StatusError {
  const cause = invalid('metadata.resourceVersion', 0, 'must be specified for an update');
  const message = `${qualifiedResource(type)} ${JSON.stringify(name)} is invalid: ${cause.field}: ${cause.message}`;
  return new StatusError('Invalid', message, { ...detailsOf(type, name), causes: [cause] });
}

/** Returns whether an object that is being deleted has nothing left that delays its removal. */
function isFinished(type: ResourceType, object: JsonObject): boolean {
  const { deletionTimestamp, deletionGracePeriodSeconds } = metadataOf(object);
  if (deletionTimestamp === undefined || finalizersOf(object).length > 0) return false;
  return !isHeldNamespace(type, object) && (deletionGracePeriodSeconds ?? 0) === 0;
}
