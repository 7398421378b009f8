import type { Reply } from '../../http/exchange.js';
import { isObject, type JsonObject, jsonEqual } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import { finalizersOf, withMetadata } from '../registry/metadata.js';
import type { ResourceType } from '../registry/resource-type.js';
import { conflict, detailsOf, notFound, qualifiedResource, storageFailure } from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import { storageKey } from '../watch/caches.js';
import { servedViews, shape } from '../watch/served-view.js';
import type { StoredObject } from '../watch/stored-object.js';
import { admissionRequest } from './admission-request.js';
import { objectAnswer, plainAnswer } from './answer.js';
import type { ApiCall } from './api-call.js';
import { type DeleteOptions, deleteOptions } from './delete-options.js';
import { readNewest } from './get.js';
import { storedBytes } from './stored-bytes.js';

const ATTEMPTS_MAX = 32;
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Kinds that answer a deletion with the object; the others with a Status. */
const ANSWERS_WITH_OBJECT = new Set([
  '/namespaces',
  '/persistentvolumeclaims',
  '/persistentvolumes',
  '/pods',
  '/podtemplates',
  '/resourcequotas',
  '/serviceaccounts',
  '/services',
  'resource.k8s.io/deviceclasses',
  'resource.k8s.io/devicetaintrules',
  'resource.k8s.io/resourceclaims',
  'resource.k8s.io/resourceclaimtemplates',
  'resource.k8s.io/resourceslices',
  'storage.k8s.io/csidrivers',
  'storage.k8s.io/csinodes',
  'storage.k8s.io/storageclasses',
  'storage.k8s.io/volumeattachments',
  'storage.k8s.io/volumeattributesclasses',
]);

/** Kinds whose dependents outlive them unless the client says otherwise. */
const ORPHANS_BY_DEFAULT = new Set(['/replicationcontrollers', 'batch/jobs']);

export interface Deleted {
  readonly object: JsonObject;
  /** Gone from the store; otherwise only marked. */
  readonly gone: boolean;
}

export async function deleteOne(call: ApiCall): Promise<Reply> {
  const options = await deleteOptions(call);
  warnOfOrphans(call, options);
  const { object, gone } = await deleteObject(call, call.info.name, options);
  if (!gone || ANSWERS_WITH_OBJECT.has(`${call.type.group}/${call.type.resource}`))
    return objectAnswer(call, 200, object);
  return plainAnswer(call, 200, successOf(call.type, object));
}

/** Deletes, or marks as being deleted what somebody still has to do something for. */
export async function deleteObject(call: ApiCall, name: string, options: DeleteOptions): Promise<Deleted> {
  const { type, info } = call;
  const key = storageKey(type.storage.prefix, type.namespaced ? info.namespace : '', name);
  for (let attempt = 1; ; attempt++) {
    const stored = await readNewest(call, key);
    if (!stored) throw notFound(type, name);
    try {
      return await attemptDelete(call, { name, key, stored, options });
    } catch (error) {
      const isLost = isStorageError(error, 'conflict');
      if (!isLost || attempt >= ATTEMPTS_MAX) throw storageFailure(error, type, name);
    }
  }
}

interface Attempt {
  readonly name: string;
  readonly key: string;
  readonly stored: StoredObject;
  readonly options: DeleteOptions;
}

async function attemptDelete(call: ApiCall, { name, key, stored, options }: Attempt): Promise<Deleted> {
  const { type, machinery } = call;
  const live = (await servedViews([stored], type))[0]!.object;
  checkPreconditions(call, name, live, options);
  refuseProtected(type, name);
  if (options.isAdmitted !== true) {
    const request = admissionRequest(call, {
      operation: 'DELETE',
      name: call.info.name,
      object: undefined,
      oldObject: live,
      options: admittedOptions(type, live, options),
      dryRun: options.dryRun,
    });
    await machinery.admission.mutate(request);
    await machinery.admission.validate(request);
  }
  const marked = markedAsDeleted(call, live, options);
  if (marked === undefined) {
    if (options.dryRun) return { object: live, gone: true };
    const { revision } = await machinery.backend.delete(key, stored.revision);
    return { object: shape(live, revision, type), gone: true };
  }
  if (jsonEqual(marked, live)) return { object: live, gone: false };
  if (options.dryRun) return { object: marked, gone: false };
  const { bytes } = await storedBytes(call, marked, stored);
  const { modRevision } = await machinery.backend.update(key, bytes, stored.revision);
  return { object: shape(marked, modRevision, type), gone: false };
}

/** A namespace is deleted under the condition that it is still the same one, and admission sees that. */
function admittedOptions(type: ResourceType, live: JsonObject, { object }: DeleteOptions): JsonObject {
  if (!isNamespace(type)) return object;
  const given = isObject(object['preconditions']) ? object['preconditions'] : {};
  return { ...object, preconditions: { uid: metadataOf(live)['uid']!, ...given } };
}

function checkPreconditions({ type }: ApiCall, name: string, live: JsonObject, { preconditions }: DeleteOptions): void {
  const metadata = metadataOf(live);
  const { uid, resourceVersion } = preconditions;
  if (uid !== undefined && uid !== metadata['uid']) {
    throw conflict(
      type,
      name,
      `Precondition failed: UID in precondition: ${uid}, UID in object meta: ${metadata['uid']}`,
    );
  }
  if (resourceVersion !== undefined && resourceVersion !== metadata['resourceVersion']) {
    const text = `ResourceVersion in precondition: ${resourceVersion}, ResourceVersion in object meta: ${metadata['resourceVersion']}`;
    throw conflict(type, name, `Precondition failed: ${text}`);
  }
}

/** Every cluster needs these two; nobody may delete them. */
const SYSTEM_PRIORITY_CLASSES = new Set(['system-node-critical', 'system-cluster-critical']);

function refuseProtected(type: ResourceType, name: string): void {
  if (type.group !== 'scheduling.k8s.io' || type.resource !== 'priorityclasses') return;
  if (!SYSTEM_PRIORITY_CLASSES.has(name)) return;
  const why = 'this is a system priority class and cannot be deleted';
  throw new StatusError(
    'Forbidden',
    `${qualifiedResource(type)} ${JSON.stringify(name)} is forbidden: ${why}`,
    detailsOf(type, name),
  );
}

/** The longest time that Go can add to a date, 292 years. */
const GRACE_MS_MAX = Number(2n ** 63n / 1_000_000n);

/** The object with its mark, or undefined where nothing holds it. */
function markedAsDeleted(call: ApiCall, found: JsonObject, options: DeleteOptions): JsonObject | undefined {
  const { type, machinery } = call;
  const isFirst = metadataOf(found)['deletionTimestamp'] === undefined;
  const live = (isFirst && type.strategy.whenDeleted?.(found, timestamp(machinery.clock.nowMs()))) || found;
  const metadata = metadataOf(live);
  const graceSeconds = type.strategy.gracePeriodSeconds?.(live, options.gracePeriodSeconds) ?? 0;
  const finalizers = finalizersAfter(type, finalizersOf(live), options);
  if (graceSeconds === 0 && finalizers.length === 0 && !holdsNamespace(type, live)) return undefined;
  const isMarked = !isFirst;
  const shortens = isMarked && graceSeconds < Number(metadata['deletionGracePeriodSeconds'] ?? 0);
  const next: JsonObject = { ...metadata };
  if (!isMarked || shortens) {
    next['deletionTimestamp'] = timestamp(machinery.clock.nowMs() + Math.min(graceSeconds * 1000, GRACE_MS_MAX));
    next['deletionGracePeriodSeconds'] = graceSeconds;
    if (!isMarked && typeof metadata['generation'] === 'number') next['generation'] = metadata['generation'] + 1;
  }
  if (isNamespace(type) && next['deletionGracePeriodSeconds'] === 0) delete next['deletionGracePeriodSeconds'];
  if (finalizers.length > 0) next['finalizers'] = finalizers;
  else delete next['finalizers'];
  return terminating(type, withMetadata(live, next));
}

function finalizersAfter(
  type: ResourceType,
  present: readonly string[],
  { propagationPolicy }: DeleteOptions,
): string[] {
  const others = present.filter((each) => each !== ORPHAN && each !== FOREGROUND);
  if (propagationPolicy === 'Orphan') return [...others, ORPHAN];
  if (propagationPolicy === 'Foreground') return [...others, FOREGROUND];
  if (propagationPolicy === 'Background') return others;
  if (present.includes(ORPHAN)) return [...others, ORPHAN];
  if (present.includes(FOREGROUND)) return [...others, FOREGROUND];
  return ORPHANS_BY_DEFAULT.has(`${type.group}/${type.resource}`) ? [...others, ORPHAN] : others;
}

function isNamespace({ group, resource }: ResourceType): boolean {
  return group === '' && resource === 'namespaces';
}

function holdsNamespace(type: ResourceType, live: JsonObject): boolean {
  const spec = live['spec'];
  return isNamespace(type) && isObject(spec) && Array.isArray(spec['finalizers']) && spec['finalizers'].length > 0;
}

function terminating(type: ResourceType, object: JsonObject): JsonObject {
  if (!isNamespace(type)) return object;
  const status = isObject(object['status']) ? object['status'] : {};
  return { ...object, status: { ...status, phase: 'Terminating' } };
}

function warnOfOrphans({ type, warnings }: ApiCall, { propagationPolicy }: DeleteOptions): void {
  if (propagationPolicy !== undefined || type.group !== 'batch' || type.resource !== 'jobs') return;
  warnings.add(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}

function successOf({ group, resource }: ResourceType, object: JsonObject): JsonObject {
  const uid = metadataOf(object)['uid'];
  return {
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Success',
    details: {
      name: nameOf(object),
      ...(group === '' ? {} : { group }),
      kind: resource,
      ...(uid === undefined ? {} : { uid }),
    },
  };
}
