import { runAtOnce } from '../../base/work-slices.js';
import type { JsonObject } from '../../kube/json.js';
import type { Schema } from '../schema/schema.js';
import { compareFields } from './compare-fields.js';
import type { FieldSet } from './field-set.js';
import {
  isReset,
  type Manager,
  type Managers,
  managerKey,
  readManagers,
  withManagers,
  withoutManagers,
} from './managed-fields.js';
import { capUpdaters, ownable, visible, withoutFields } from './manager-changes.js';
import { ItemError } from './path-element.js';
import { constantMembers, withConstantMembers } from './structure.js';

/** The writer of a request, and the schema of the kind. */
export interface Writer {
  readonly manager: string;
  readonly apiVersion: string;
  /** Empty for the object itself. */
  readonly subresource: string;
  readonly schema: Schema;
  /** Built-in kinds always write some members (see `withConstantMembers`); custom resources do not. */
  readonly isBuiltIn: boolean;
  /** Fields that the request cannot change, with everything below them: `status` on the object itself. */
  readonly ignored?: FieldSet;
  /** RFC 3339, whole seconds, UTC. */
  readonly now: string;
}

/**
 * Returns the object of a create, update or patch with its managed fields: the writer owns the fields
 * that it added or changed, and nobody owns those that it removed. `live` is undefined for a create.
 */
export function trackUpdate(live: JsonObject | undefined, object: JsonObject, writer: Writer): JsonObject {
  return runAtOnce(trackUpdateSteps(live, object, writer));
}

/** Same, yielding between passes over the whole object. */
export function* trackUpdateSteps(
  live: JsonObject | undefined,
  object: JsonObject,
  writer: Writer,
): Generator<void, JsonObject> {
  const managers = managersFor(live, object, writer);
  // Tracking starts at the creation: an object without managers was excluded from it on purpose.
  if (managers.size === 0 && live !== undefined) return withManagers(object, new Map());
  try {
    const after = yield* updated(live, object, managers, writer);
    yield;
    return withManagers(object, capUpdaters(after));
  } catch (error) {
    // An item without its keys: validation refuses the object.
    if (error instanceof ItemError) return withManagers(object, new Map());
    throw error;
  }
}

/** Returns the managers after an update. Also used for objects that exist before the first apply. */
export function* updated(
  live: JsonObject | undefined,
  object: JsonObject,
  managers: Managers,
  writer: Writer,
): Generator<void, Map<string, Manager>> {
  const { schema, isBuiltIn } = writer;
  const whole = (value: JsonObject): JsonObject =>
    withoutManagers(isBuiltIn ? withConstantMembers(value, schema) : value);
  const before = live ? whole(live) : isBuiltIn ? constantMembers(schema) : {};
  yield;
  const after = whole(object);
  yield;
  const { added, modified, removed } = compareFields(before, after, schema);
  yield;
  const taken = added.union(modified);
  yield;
  // A new object has no managers that could lose fields.
  const remaining =
    managers.size === 0
      ? new Map<string, Manager>()
      : withoutFields(managers, visible(taken.union(removed), writer.ignored));
  yield;
  const owned = ownable(visible(taken, writer.ignored));
  if (owned.isEmpty) return remaining;
  const { manager: name, apiVersion, subresource, now: time } = writer;
  const operation = 'Update';
  const key = managerKey({ name, operation, apiVersion, subresource });
  const previous = remaining.get(key)?.fields;
  const fields = previous ? owned.union(previous) : owned;
  return remaining.set(key, { name, operation, apiVersion, subresource, time, fields });
}

/** A client may send changed managers; a request without any keeps those of the live object. */
function managersFor(live: JsonObject | undefined, object: JsonObject, { subresource }: Writer): Managers {
  if (subresource === '') {
    if (isReset(object)) return new Map();
    const sent = readManagers(object);
    if (sent !== undefined && sent.size > 0) return sent;
  }
  return readManagers(live) ?? new Map();
}
