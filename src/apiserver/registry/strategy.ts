import type { JsonObject } from '../../kube/json.js';
import type { ObjectReader } from '../contracts/object-reader.js';
import type { FieldProblem } from '../schema/validate.js';

export interface StrategyContext {
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
  readonly objects: ObjectReader;
}

/**
 * What is particular to one kind on its way into the store. Objects handed in belong to the callee and may be changed in
 * place unless they are called `live`; what is returned is used from then on. Nothing here knows of users or requests.
 *
 * Order of a create, as in kube-apiserver: decode, setDefaults, managed fields, mutating admission, setDefaults,
 * prepareForCreate, validateCreate, validating admission, store. An update has the same order; so has a patch.
 * `metadata` (names, labels, generation, finalizers, …) is looked after by the verbs.
 */
export interface Strategy {
  /** What is wrong with a name, in Kubernetes' words; a prefix (`generateName`) may end in a hyphen or a dot. */
  nameProblems(name: string, isPrefix: boolean): string[];
  /** Fills in what clients may leave out. Also runs on what is read from the store, so it must be cheap and idempotent. */
  setDefaults(object: JsonObject): JsonObject;
  /** Removes what a client can't set (status), allocates, derives. */
  prepareForCreate(object: JsonObject, context: StrategyContext): JsonObject;
  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject;
  validateCreate(object: JsonObject, context: StrategyContext): FieldProblem[];
  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[];
  /** The same as `validateCreate` in steps, where an object and a schema together can be a lot of work. */
  createProblemSteps?(object: JsonObject): Generator<void, FieldProblem[]>;
  updateProblemSteps?(object: JsonObject, live: JsonObject): Generator<void, FieldProblem[]>;
  /** Texts for the `Warning` header. */
  warnings?(object: JsonObject, live: JsonObject | undefined): string[];
  /** What `prepareForCreate` returns has its defaults: setting them again would change nothing. */
  readonly preparesWithDefaults?: boolean;
  /** Objects of this kind count changes of what is wished for in `metadata.generation`. */
  readonly hasGeneration: boolean;
  /** `status` is written through its subresource only. */
  readonly hasStatus: boolean;
  /** A PUT of an object that does not exist creates it. */
  readonly createsOnUpdate: boolean;
  /** A PUT without resourceVersion overwrites whatever is there. */
  readonly updatesUnconditionally: boolean;
  /**
   * Seconds that a deletion waits for somebody (a kubelet) to end the object; undefined for at once. `requestedSeconds` is
   * undefined where the client did not say.
   */
  gracePeriodSeconds?(live: JsonObject, requestedSeconds: number | undefined): number | undefined;
  /** What the first request to delete makes of the object, before its finalizers are looked at. Must not change `live`. */
  whenDeleted?(live: JsonObject, now: string): JsonObject;
  /** Replaces the ordinary rule for a subresource that writes a part of the object (`status`, `resize`, …). */
  readonly parts: ReadonlyMap<string, PartStrategy>;
}

/** A subresource through which a part of the object is written: `status`, `ephemeralcontainers`, `resize`, … */
export interface PartStrategy {
  /** The object to store: `live` with what this subresource may change taken from `object`. */
  prepareForUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): JsonObject;
  validateUpdate(object: JsonObject, live: JsonObject, context: StrategyContext): FieldProblem[];
  /** The same as `validateUpdate` in steps, where an object and a schema together can be a lot of work. */
  updateProblemSteps?(object: JsonObject, live: JsonObject): Generator<void, FieldProblem[]>;
  /** Paths that this subresource cannot change (for managed fields), as `f:spec`; the rest is its own. */
  readonly ignoredPaths: readonly string[];
}
