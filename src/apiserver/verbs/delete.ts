import type { Reply } from '../../http/exchange.js';
import { type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import { metadataOf, nameOf } from '../../kube/metadata-of.js';
import { StatusError } from '../../kube/status-error.js';
import { timestamp } from '../../kube/timestamp.js';
import { finalizersOf, isHeldNamespace, isNamespace, withMetadata } from '../registry/metadata.js';
import type { ResourceType } from '../registry/resource-type.js';
import {
  detailsOf,
  notFound,
  preconditionFailed,
  qualifiedResource,
  storageFailure,
} from '../registry/storage-failure.js';
import { isStorageError } from '../storage/storage-error.js';
import { servedViews, shape } from '../watch/served-view.js';
import type { StoredObject } from '../watch/stored-object.js';
import { admissionRequest } from './admission-request.js';
import { objectAnswer, plainAnswer } from './answer.js';
import { type ApiCall, keyOf } from './api-call.js';
import { type DeleteOptions, deleteOptions } from './delete-options.js';
import { readNewest } from './get.js';
import { storedBytes } from './stored-bytes.js';

const ATTEMPTS_MAX = 32;
const ORPHAN = 'orphan';
const FOREGROUND = 'foregroundDeletion';

/** Resources whose deletion returns the object; the others return a Status. */
const ANSWERS_WITH_OBJECT: Readonly<Record<string, string>> = {
  '': 'namespaces persistentvolumeclaims persistentvolumes pods podtemplates resourcequotas serviceaccounts services',
  'resource.k8s.io': 'deviceclasses devicetaintrules resourceclaims resourceclaimtemplates resourceslices',
  'storage.k8s.io': 'csidrivers csinodes storageclasses volumeattachments volumeattributesclasses',
};

/** Resources whose dependents are orphaned by default. */
const ORPHANS_BY_DEFAULT = new Set(['/replicationcontrollers', 'batch/jobs']);

export interface Deleted {
  readonly object: JsonObject;
  /** Whether the object was removed; if not, it was only marked as being deleted. */
  readonly gone: boolean;
}

export async function deleteOne(call: ApiCall): Promise<Reply> {
  const options = await deleteOptions(call);
  warnOfOrphans(call, options);
  const { object, gone } = await deleteObject(call, call.info.name, options);
  const { group, resource } = call.type;
  const withObject = !gone || ANSWERS_WITH_OBJECT[group]?.split(' ').includes(resource);
  return withObject ? objectAnswer(call, 200, object) : plainAnswer(call, 200, successOf(call.type, object));
}

/** Removes an object, or marks it as being deleted if finalizers or a grace period hold it. */
export async function deleteObject(call: ApiCall, name: string, options: DeleteOptions): Promise<Deleted> {
  const { type } = call;
  const key = keyOf(call, name);
  for (let attempt = 1; ; attempt++) {
    const stored = await readNewest(call, key);
    if (!stored) throw notFound(type, name);
    try {
      return await attemptDelete(call, name, stored, options);
    } catch (error) {
      if (!isStorageError(error, 'conflict') || attempt >= ATTEMPTS_MAX) throw storageFailure(error, type, name);
    }
  }
}

async function attemptDelete(
  call: ApiCall,
  name: string,
  stored: StoredObject,
  options: DeleteOptions,
): Promise<Deleted> {
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
    const { revision } = await machinery.backend.delete(stored.key, stored.revision);
    return { object: shape(live, revision, type), gone: true };
  }
  if (jsonEqual(marked, live)) return { object: live, gone: false };
  if (options.dryRun) return { object: marked, gone: false };
  const { bytes } = await storedBytes(call, marked, stored);
  const { modRevision } = await machinery.backend.update(stored.key, bytes, stored.revision);
  return { object: shape(marked, modRevision, type), gone: false };
}

/** The deletion of a namespace has its UID as a precondition, which admission sees. */
function admittedOptions(type: ResourceType, live: JsonObject, { object }: DeleteOptions): JsonObject {
  if (!isNamespace(type)) return object;
  const preconditions = { uid: metadataOf(live)['uid']!, ...objectMember(object, 'preconditions') };
  return { ...object, preconditions };
}

function checkPreconditions({ type }: ApiCall, name: string, live: JsonObject, { preconditions }: DeleteOptions): void {
  const metadata = metadataOf(live);
  for (const [member, shown] of [
    ['uid', 'UID'],
    ['resourceVersion', 'ResourceVersion'],
  ] as const) {
    const [wanted, present] = [preconditions[member], metadata[member]];
    if (wanted === undefined || wanted === present) continue;
    throw preconditionFailed(type, name, shown, { wanted, present });
  }
}

/** kube-apiserver refuses to delete these two. */
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

/** The longest duration that Go can add to a time, 292 years. */
const GRACE_MS_MAX = Number(2n ** 63n / 1_000_000n);

/** Returns the object with its deletion timestamp; undefined if nothing holds it and it is to be removed. */
function markedAsDeleted(call: ApiCall, found: JsonObject, options: DeleteOptions): JsonObject | undefined {
  const { type, machinery } = call;
  const isFirst = metadataOf(found)['deletionTimestamp'] === undefined;
  const live = (isFirst && type.strategy.whenDeleted?.(found, timestamp(machinery.clock.nowMs()))) || found;
  const metadata = metadataOf(live);
  const graceSeconds = type.strategy.gracePeriodSeconds?.(live, options.gracePeriodSeconds) ?? 0;
  const finalizers = finalizersAfter(type, finalizersOf(live), options);
  if (graceSeconds === 0 && finalizers.length === 0 && !isHeldNamespace(type, live)) return undefined;
  const next: JsonObject = { ...metadata };
  if (isFirst || graceSeconds < Number(metadata['deletionGracePeriodSeconds'] ?? 0)) {
    next['deletionTimestamp'] = timestamp(machinery.clock.nowMs() + Math.min(graceSeconds * 1000, GRACE_MS_MAX));
    next['deletionGracePeriodSeconds'] = graceSeconds;
    if (isFirst && typeof metadata['generation'] === 'number') next['generation'] = metadata['generation'] + 1;
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
  const isByDefault = ORPHANS_BY_DEFAULT.has(`${type.group}/${type.resource}`);
  const chosen =
    propagationPolicy === undefined
      ? ([ORPHAN, FOREGROUND].find((each) => present.includes(each)) ?? (isByDefault ? ORPHAN : undefined))
      : { Orphan: ORPHAN, Foreground: FOREGROUND, Background: undefined }[propagationPolicy];
  return chosen === undefined ? others : [...others, chosen];
}

function terminating(type: ResourceType, object: JsonObject): JsonObject {
  if (!isNamespace(type)) return object;
  return { ...object, status: { ...objectMember(object, 'status'), phase: 'Terminating' } };
}

function warnOfOrphans({ type, warnings }: ApiCall, { propagationPolicy }: DeleteOptions): void {
  if (propagationPolicy !== undefined || type.group !== 'batch' || type.resource !== 'jobs') return;
  warnings.add(
    'child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to remove them or set propagationPolicy=Orphan to suppress this warning',
  );
}

function successOf(type: ResourceType, object: JsonObject): JsonObject {
  const { uid } = metadataOf(object);
  const details = { ...detailsOf(type, nameOf(object)), ...(uid === undefined ? {} : { uid }) };
  return { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Success', details };
}
