import { isObject, type JsonObject, jsonEqual } from '../../kube/json.js';
import {
  type Definition,
  type DefinitionCondition,
  isConditionTrue,
  listIn,
  objectIn,
  readDefinition,
  textsIn,
} from './definition.js';
import { definitionStatus, hasReservedName, withCondition } from './definition-status.js';

/** Keeps a definition until nothing of what it defines is left. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export interface SettleOptions {
  /** RFC 3339. */
  readonly now: string;
  /** How many objects there still are of what is defined; undefined where that is not known, and then nothing is ended. */
  countInstances(definition: Definition): number | undefined;
}

export interface Settlement {
  /**
   * Definitions whose status is not what it should be, whole, with the resourceVersion they were read with. To be written
   * through `status`, where finalizers may change as well. The first of two that want one name is given it.
   */
  readonly updates: readonly JsonObject[];
  /** Definitions being deleted whose instances are to be deleted now. */
  readonly cleanups: readonly Definition[];
}

/** What there is to do about definitions, from nothing but what they look like now. */
export function settleDefinitions(definitions: readonly JsonObject[], options: SettleOptions): Settlement {
  const current = [...definitions];
  const updates: JsonObject[] = [];
  const cleanups: Definition[] = [];
  for (const index of inOrderOfAge(definitions)) {
    const crd = definitions[index]!;
    const { object, isCleanedUp } = settled(crd, current, options);
    if (isCleanedUp) cleanups.push(readDefinition(crd));
    if (jsonEqual(object, crd)) continue;
    current[index] = object;
    updates.push(object);
  }
  return { updates, cleanups };
}

function settled(
  crd: JsonObject,
  all: readonly JsonObject[],
  options: SettleOptions,
): { readonly object: JsonObject; readonly isCleanedUp: boolean } {
  const { now } = options;
  const metadata = objectIn(crd, 'metadata') ?? {};
  const finalizers = textsIn(metadata, 'finalizers');
  const isEnding = typeof metadata['deletionTimestamp'] === 'string' && finalizers.includes(CLEANUP_FINALIZER);
  if (!isEnding) return { object: { ...crd, status: statusOf(crd, all, now) }, isCleanedUp: false };
  const { condition, isDone, isCleanedUp } = ending(crd, options);
  const status = objectIn(crd, 'status') ?? {};
  const conditions = withCondition(listIn(status, 'conditions').filter(isObject), condition, now);
  const kept = finalizers.filter((each) => each !== CLEANUP_FINALIZER);
  return {
    object: {
      ...crd,
      ...(isDone ? { metadata: withFinalizers(metadata, kept) } : {}),
      status: { ...status, conditions },
    },
    isCleanedUp,
  };
}

/** Members that nobody here knows are kept. */
function statusOf(crd: JsonObject, all: readonly JsonObject[], now: string): JsonObject {
  return { ...objectIn(crd, 'status'), ...definitionStatus(crd, all, now) };
}

interface Ending {
  readonly condition: DefinitionCondition;
  readonly isDone: boolean;
  readonly isCleanedUp: boolean;
}

/** Instances are deleted only after everybody can know that there will be no new ones. */
function ending(crd: JsonObject, { countInstances }: SettleOptions): Ending {
  const type = 'Terminating';
  const definition = readDefinition(crd);
  if (hasReservedName(definition) || !isConditionTrue(crd, 'Established')) {
    const reason = { reason: 'NeverEstablished', message: 'resource was never established' };
    return { condition: { type, status: 'False', ...reason }, isDone: true, isCleanedUp: false };
  }
  const inProgress = { reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
  const isKnown = isConditionTrue(crd, type);
  const count = isKnown ? countInstances(definition) : undefined;
  if (count === 0) {
    const reason = { reason: 'InstanceDeletionCompleted', message: 'removed all instances' };
    return { condition: { type, status: 'False', ...reason }, isDone: true, isCleanedUp: false };
  }
  return {
    condition: { type, status: 'True', ...inProgress },
    isDone: false,
    isCleanedUp: isKnown && count !== undefined,
  };
}

/** The definition as the first request to delete it leaves it: marked, held by its finalizer, and no longer filled. */
export function markDefinitionDeleted(crd: JsonObject, now: string): JsonObject {
  const metadata = objectIn(crd, 'metadata') ?? {};
  const finalizers = textsIn(metadata, 'finalizers');
  const status = objectIn(crd, 'status') ?? {};
  const condition: DefinitionCondition = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...crd,
    metadata: {
      ...withFinalizers(
        metadata,
        finalizers.includes(CLEANUP_FINALIZER) ? finalizers : [...finalizers, CLEANUP_FINALIZER],
      ),
      deletionTimestamp: metadata['deletionTimestamp'] ?? now,
    },
    status: { ...status, conditions: withCondition(listIn(status, 'conditions').filter(isObject), condition, now) },
  };
}

function withFinalizers(metadata: JsonObject, finalizers: readonly string[]): JsonObject {
  const { finalizers: _, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
}

function inOrderOfAge(definitions: readonly JsonObject[]): number[] {
  const ageOf = (crd: JsonObject): string => String(objectIn(crd, 'metadata')?.['creationTimestamp'] ?? '');
  return definitions
    .map((_, index) => index)
    .sort((left, right) => {
      const [a, b] = [ageOf(definitions[left]!), ageOf(definitions[right]!)];
      return a < b ? -1 : a > b ? 1 : left - right;
    });
}
