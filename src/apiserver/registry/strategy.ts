import type { JsonObject } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { FieldProblem } from '../schema/validate.js';

export interface StrategyContext {
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
  readonly objects: ObjectReader;
}

/**
 * The rules of one kind. Methods may change their arguments in place, except those named `live`; the
 * caller continues with the result. Strategies do not depend on users or requests.
 *
 * Order of a create, as in kube-apiserver: decode, setDefaults, managed fields, mutating admission,
 * setDefaults, prepareForCreate, validateCreate, validating admission, store. An update and a patch have
 * the same order. The verbs handle `metadata` (names, labels, generation, finalizers, …).
 */
export interface Strategy {
  /** Returns the messages of Kubernetes about a name; a prefix (`generateName`) may end in a hyphen or a dot. */
  nameProblems(name: string, isPrefix: boolean): string[];
  /** Sets defaults. Must be cheap and idempotent, because it also runs on objects read from the store. */
  setDefaults(object: JsonObject): JsonObject;
  /** Removes members that clients cannot set (status), allocates, and derives others. */
  prepareForCreate(object: JsonObject, context: StrategyContext): JsonObject;
  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject;
  validateCreate(object: JsonObject, context: StrategyContext): FieldProblem[];
  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[];
  /** Same as `validateCreate` in steps, for kinds whose schemas can make it long. */
  createProblemSteps?(object: JsonObject): Generator<void, FieldProblem[]>;
  updateProblemSteps?(object: JsonObject, live: JsonObject): Generator<void, FieldProblem[]>;
  /** Texts for the `Warning` header. */
  warnings?(object: JsonObject, live: JsonObject | undefined): string[];
  /** The result of `prepareForCreate` has its defaults: setDefaults would not change it. */
  readonly preparesWithDefaults?: boolean;
  /** `metadata.generation` counts changes of the desired state. */
  readonly hasGeneration: boolean;
  /** `status` can be written through its subresource only. */
  readonly hasStatus: boolean;
  /** A PUT of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** A PUT without resourceVersion is accepted and overwrites any version. */
  readonly updatesUnconditionally: boolean;
  /** Returns the grace period of a deletion; undefined for none. `requestedSeconds` is that of the request, if any. */
  gracePeriodSeconds?(live: JsonObject, requestedSeconds: number | undefined): number | undefined;
  /** Returns the object after the first request to delete it, before finalizers are checked. Must not change `live`. */
  whenDeleted?(live: JsonObject, now: string): JsonObject;
  /** The rules of subresources that write a part of the object. */
  readonly parts: ReadonlyMap<string, PartStrategy>;
}

/** A subresource through which a part of the object is written: `status`, `ephemeralcontainers`, `resize`, … */
export interface PartStrategy {
  /** Returns `live` with the members of `object` that this subresource can change. */
  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject;
  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[];
  /** Same as `validateUpdate` in steps, for kinds whose schemas can make it long. */
  updateProblemSteps?(object: JsonObject, live: JsonObject): Generator<void, FieldProblem[]>;
  /** Paths that this subresource cannot change, as elements of managed fields: `f:spec`. */
  readonly ignoredPaths: readonly string[];
}
