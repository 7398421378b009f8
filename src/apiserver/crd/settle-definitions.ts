import { type JsonObject, jsonEqual, objectMember } from '../../kube/json.js';
import { metadataOf } from '../../kube/metadata-of.js';
import {
  conditionsOf,
  type Definition,
  type DefinitionCondition,
  isConditionTrue,
  readDefinition,
  textsIn,
} from './definition.js';
import { definitionStatus, hasReservedName, withCondition } from './definition-status.js';

/** Keeps a definition until all its custom resources are deleted. */
export const CLEANUP_FINALIZER = 'customresourcecleanup.apiextensions.k8s.io';

export interface SettleOptions {
  /** RFC 3339. */
  readonly now: string;
  /** Returns the number of custom resources of a definition; undefined if unknown, which ends nothing. */
  countInstances(definition: Definition): number | undefined;
}

export interface Settlement {
  /**
   * Whole definitions with a changed status and the resourceVersion they were read with, to be written
   * through `status`, which also writes finalizers.
   */
  readonly updates: readonly JsonObject[];
  /** Definitions that are being deleted, whose custom resources are to be deleted now. */
  readonly cleanups: readonly Definition[];
}

/** Returns the changes that definitions need, as a pure function. Of two that want one name the older gets it. */
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
  const metadata = metadataOf(crd);
  const finalizers = textsIn(metadata, 'finalizers');
  const isEnding = typeof metadata['deletionTimestamp'] === 'string' && finalizers.includes(CLEANUP_FINALIZER);
  if (!isEnding) {
    // Unknown members of the status are kept.
    const status = { ...objectMember(crd, 'status'), ...definitionStatus(crd, all, now) };
    return { object: { ...crd, status }, isCleanedUp: false };
  }
  const { condition, isDone, isCleanedUp } = ending(crd, options);
  const kept = finalizers.filter((each) => each !== CLEANUP_FINALIZER);
  const object = isDone ? { ...crd, metadata: withFinalizers(metadata, kept) } : crd;
  return { object: { ...object, status: statusWith(crd, condition, now) }, isCleanedUp };
}

function statusWith(crd: JsonObject, condition: DefinitionCondition, now: string): JsonObject {
  return { ...objectMember(crd, 'status'), conditions: withCondition(conditionsOf(crd), condition, now) };
}

interface Ending {
  readonly condition: DefinitionCondition;
  readonly isDone: boolean;
  readonly isCleanedUp: boolean;
}

/** Custom resources are deleted only after the Terminating condition, which refuses new ones, is stored. */
function ending(crd: JsonObject, { countInstances }: SettleOptions): Ending {
  const type = 'Terminating';
  const definition = readDefinition(crd);
  const done = (reason: string, message: string): Ending => ({
    condition: { type, status: 'False', reason, message },
    isDone: true,
    isCleanedUp: false,
  });
  if (hasReservedName(definition) || !isConditionTrue(crd, 'Established')) {
    return done('NeverEstablished', 'resource was never established');
  }
  const count = isConditionTrue(crd, type) ? countInstances(definition) : undefined;
  if (count === 0) return done('InstanceDeletionCompleted', 'removed all instances');
  const reason = { reason: 'InstanceDeletionInProgress', message: 'CustomResource deletion is in progress' };
  return { condition: { type, status: 'True', ...reason }, isDone: false, isCleanedUp: count !== undefined };
}

/** Returns a definition after the first request to delete it: marked, with its finalizer and its condition. */
export function markDefinitionDeleted(crd: JsonObject, now: string): JsonObject {
  const metadata = metadataOf(crd);
  const finalizers = textsIn(metadata, 'finalizers');
  if (!finalizers.includes(CLEANUP_FINALIZER)) finalizers.push(CLEANUP_FINALIZER);
  const condition: DefinitionCondition = {
    type: 'Terminating',
    status: 'True',
    reason: 'InstanceDeletionPending',
    message: 'CustomResourceDefinition marked for deletion; CustomResource deletion will begin soon',
  };
  return {
    ...crd,
    metadata: {
      ...withFinalizers(metadata, finalizers),
      deletionTimestamp: metadata['deletionTimestamp'] ?? now,
    },
    status: statusWith(crd, condition, now),
  };
}

function withFinalizers(metadata: JsonObject, finalizers: readonly string[]): JsonObject {
  const { finalizers: _, ...rest } = metadata;
  return finalizers.length === 0 ? rest : { ...rest, finalizers: [...finalizers] };
}

function inOrderOfAge(definitions: readonly JsonObject[]): number[] {
  const ageOf = (crd: JsonObject): string => String(metadataOf(crd)['creationTimestamp'] ?? '');
  return definitions
    .map((_, index) => index)
    .sort((left, right) => {
      const [a, b] = [ageOf(definitions[left]!), ageOf(definitions[right]!)];
      return a < b ? -1 : a > b ? 1 : left - right;
    });
}
