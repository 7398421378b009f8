import { type JsonObject, jsonEqual } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { ApplyConflictError, type Conflict } from './apply-conflict.js';
import { AppliedObjectError, checkApplied } from './check-applied.js';
import { compareFields, type FieldChanges } from './compare-fields.js';
import type { FieldSet } from './field-set.js';
import { fieldSetOf } from './field-set-of.js';
import { clientSideFields, withLastApplied } from './last-applied.js';
import {
  type Manager,
  type Managers,
  managerKey,
  readManagers,
  withManagers,
  withoutManagers,
} from './managed-fields.js';
import { BEFORE_FIRST_APPLY, ownable, visible, withoutFields } from './manager-changes.js';
import { mergeApplied } from './merge-applied.js';
import { ItemError } from './path-element.js';
import { removeFields } from './remove-fields.js';
import { isNamedField, schemaAt, withConstantMembers, withoutAbsentMembers } from './structure.js';
import { updated, type Writer } from './track-update.js';

export { ApplyConflictError } from './apply-conflict.js';
export { AppliedObjectError } from './check-applied.js';

export interface ApplyRequest extends Writer {
  /** Takes fields from other managers instead of a conflict. */
  readonly force: boolean;
}

/**
 * Server-side apply: merges the applied configuration into the live object, removes the fields that this
 * manager applied before and no longer does unless another one owns them, and sets the managed fields.
 * `live` is undefined if the object does not exist yet. Changes neither argument, and yields between
 * passes over the whole object. Throws ApplyConflictError and AppliedObjectError.
 *
 * Managers of other versions are compared with the object in this version: the fields are the same.
 */
export function* applySteps(
  live: JsonObject | undefined,
  applied: JsonObject,
  request: ApplyRequest,
): Generator<void, JsonObject> {
  checkApplied(applied, request);
  yield;
  try {
    return yield* applyChecked(live, applied, request);
  } catch (error) {
    if (!(error instanceof ItemError)) throw error;
    throw new AppliedObjectError('InternalError', `failed to create typed live object: ${error.message}`);
  }
}

function* applyChecked(
  live: JsonObject | undefined,
  applied: JsonObject,
  request: ApplyRequest,
): Generator<void, JsonObject> {
  const { schema, isBuiltIn } = request;
  const before = withoutManagers(isBuiltIn ? withConstantMembers(live ?? {}, schema) : (live ?? {}));
  yield;
  const managers = yield* managersBefore(live, request);
  yield;
  const { manager: name, apiVersion, subresource } = request;
  const self = { name, operation: 'Apply', apiVersion, subresource } as const;
  const key = managerKey(self);
  const last = managers.get(key);
  // With the identity of the object: pruning must not take that for fields that are no longer applied.
  const owned = visible(fieldSetOf(applied, schema), request.ignored);
  yield;
  const claimed = new Map(managers).set(key, { ...self, fields: owned });
  const merged = mergeApplied(before, applied, schema);
  yield;
  const pruned = last === undefined ? merged : yield* prune(merged, last.fields, claimed, schema);
  yield;
  const allowed = clientSideFields(live, request);
  yield;
  const changes = compareFields(before, pruned, schema);
  yield;
  const remaining = yield* settle(changes, claimed, key, request, allowed);
  yield;
  const settled = (object: JsonObject): JsonObject => (isBuiltIn ? withoutAbsentMembers(object, schema) : object);
  const isSame = live !== undefined && jsonEqual(settled(before), settled(pruned));
  yield;
  const time = isSame ? last?.time : request.now;
  const fields = ownable(owned);
  if (fields.isEmpty) remaining.delete(key);
  else remaining.set(key, { ...self, fields, ...(time === undefined ? {} : { time }) });
  return withLastApplied(withManagers(isSame ? live : settled(pruned), remaining), applied, request);
}

function* managersBefore(live: JsonObject | undefined, request: ApplyRequest): Generator<void, Managers> {
  const managers = readManagers(live) ?? new Map<string, Manager>();
  if (live === undefined || managers.size > 0) return managers;
  return yield* updated(undefined, live, managers, { ...request, manager: BEFORE_FIRST_APPLY, subresource: '' });
}

/**
 * Removes changed fields (with `force`) and removed ones from all managers but that of `key`. Fields of
 * `allowed` need no force. Throws ApplyConflictError.
 */
function* settle(
  { added, modified, removed }: FieldChanges,
  managers: Managers,
  key: string,
  request: ApplyRequest,
  allowed: FieldSet | undefined,
): Generator<void, Map<string, Manager>> {
  const changed = visible(added.union(modified), request.ignored);
  const conflicts: Conflict[] = [];
  for (const [each, manager] of managers) {
    const fields = manager.fields.intersection(changed);
    const refused = allowed === undefined ? fields : fields.difference(allowed);
    if (each !== key && !refused.isEmpty) conflicts.push({ manager, fields: refused });
    yield;
  }
  if (conflicts.length > 0 && !request.force) throw new ApplyConflictError(conflicts);
  return withoutFields(managers, changed.union(visible(removed, request.ignored)), key);
}

/** Removes the fields of the last apply that no manager owns now. */
function* prune(merged: JsonObject, last: FieldSet, managers: Managers, schema: Schema): Generator<void, JsonObject> {
  if (last.isEmpty) return merged;
  const named = (set: FieldSet): FieldSet => set.withNamedMembers((path) => isNamedPath(schema, path));
  const mergedSet = named(fieldSetOf(merged, schema));
  yield;
  const remaining = removeFields(merged, named(last), schema);
  yield;
  const owned = named(fieldSetOf(remaining, schema));
  for (const { fields } of managers.values()) {
    owned.insertAll(named(fields));
    yield;
  }
  const withOwned = removeFields(merged, mergedSet.difference(owned), schema);
  yield;
  const prunedSet = named(fieldSetOf(withOwned, schema));
  yield;
  return removeFields(merged, mergedSet.difference(prunedSet).intersection(named(last)), schema);
}

function isNamedPath(root: Schema, path: readonly string[]): boolean {
  const element = path.at(-1)!;
  return element.startsWith('f:') && isNamedField(schemaAt(root, path.slice(0, -1)), element.slice(2));
}
